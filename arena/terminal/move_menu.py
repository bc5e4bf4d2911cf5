"""Legal moves in few lines: by verb and card, targets in columns, never with numbers that could be taken for cards."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from games.api import Action

_SLOT = re.compile(r"(?<![^\W\d_]-)\d+(?:\s?,\s?\d+)*")
"""A number, or a cell: numbers between commas."""


@dataclass
class _Row:
    """Moves that differ in their last slot alone."""

    verb: str
    subject: str
    label: str
    targets: list[str] = field(default_factory=list)


def menu(actions: Sequence[Action], width: int, lines: int) -> list[str]:
    """Returns the moves as lines.

    Args:
        actions: legal moves.
        width: columns of the terminal.
        lines: as many as fit beside the board; where the moves need more, each verb has one line that names its
            subjects, and `moves SUBJECT` lists the rest.
    """
    rows = _rows(actions)
    long = [line for row in rows for line in _wrapped(f"  {row.label}  ", row.targets, width)]
    if len(long) <= lines:
        return long
    short = []
    for verb in dict.fromkeys(row.verb for row in rows):
        own = [row for row in rows if row.verb == verb]
        subjects = [row.subject for row in own]
        if len(own) == 1 or not all(subjects):
            short += [line for row in own for line in _wrapped(f"  {row.label}  ", row.targets, width)]
            continue
        count = sum(len(row.targets) for row in own)
        short += _wrapped(f"  {verb}  ", subjects, width)
        example = f"{own[0].label} {own[0].targets[0]}"
        short.append(f"    {count} moves, e.g. `{example}`; `moves {subjects[0]}` lists those of {subjects[0]}")
    return short


def chosen_rows(actions: Sequence[Action], subject: str, width: int) -> list[str]:
    """Returns the moves of one subject (a card, a hint), [] if it has none."""
    rows = [row for row in _rows(actions) if row.subject == subject]
    return [line for row in rows for line in _wrapped(f"  {row.label}  ", row.targets, width)]


def numbered(actions: Sequence[Action], width: int) -> list[str]:
    """Returns every move with its id, `#1` and on, in columns."""
    return _wrapped("  ", [f"#{number} {action}" for number, action in enumerate(actions, 1)], width)


def _rows(actions: Sequence[Action]) -> list[_Row]:
    found: dict[tuple[str, str], _Row] = {}
    for action in actions:
        slots = list(_SLOT.finditer(action))
        if not slots:
            found.setdefault(("", ""), _Row("", "", "", [])).targets.append(action)
            continue
        last = slots[-1] if len(slots) <= 2 else slots[1]
        label = action[: last.start()].rstrip(" (")
        verb = action[: slots[0].start()].rstrip(" (")
        subject = slots[0][0] if len(slots) > 1 else ""
        target = action[last.start() :].rstrip(")") if "(" in action else action[last.start() :]
        found.setdefault((verb, subject), _Row(verb, subject, label)).targets.append(target)
    return list(found.values())


def _wrapped(head: str, items: Sequence[str], width: int) -> list[str]:
    """Returns items in columns behind a head, further lines indented as far."""
    indent = " " * len(head) if len(head) < width // 2 else "    "
    cell = max(map(len, items), default=0)
    a_line = max(1, (width - len(indent) - 1) // (cell + 2))
    lines = ["  ".join(f"{item:<{cell}}" for item in items[at : at + a_line]) for at in range(0, len(items), a_line)]
    return [f"{head if number == 0 else indent}{line}".rstrip() for number, line in enumerate(lines)]
