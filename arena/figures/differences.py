"""What differs between two texts, as HTML: lines of programs, and words of what was expected and what came."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Final

from markupsafe import Markup, escape

MOST_LINES: Final = 3000
MOST_WORDS: Final = 3000
"""Above it two texts are shown as they are: comparing takes the square of their lengths."""
NEAR: Final = 3
"""Lines around a change."""
_WORD: Final = re.compile(r"[^\W_]+|\s+|.", re.DOTALL)


@dataclass(frozen=True)
class ChangedLine:
    """One line of a comparison.

    Attributes:
        kind: `same`, `out` (of the old text alone), `in` (of the new one alone) or `gap` (lines are left out).
        old: its number in the old text, None if it is not there.
        new: likewise.
        text: as it is.
    """

    kind: str
    old: int | None
    new: int | None
    text: str


def changed_lines(old: str, new: str) -> list[ChangedLine]:
    """Returns what changed from one program to another with some lines around; [] if they are equal or too long."""
    before, after = old.split("\n"), new.split("\n")
    if old == new or max(len(before), len(after)) > MOST_LINES:
        return []
    found: list[ChangedLine] = []
    for group in SequenceMatcher(None, before, after, autojunk=False).get_grouped_opcodes(NEAR):
        if found or group[0][1] or group[0][3]:
            found.append(ChangedLine("gap", None, None, ""))
        for kind, a, b, c, d in group:
            if kind == "equal":
                found += [ChangedLine("same", i + 1, c + i - a + 1, before[i]) for i in range(a, b)]
            else:
                found += [ChangedLine("out", i + 1, None, before[i]) for i in range(a, b)]
                found += [ChangedLine("in", None, i + 1, after[i]) for i in range(c, d)]
    return found


def marked(expected: str, got: str) -> tuple[Markup, Markup]:
    """Returns both texts, escaped, with the words that differ in `mark`; as they are if they are equal or too long."""
    left, right = _WORD.findall(expected), _WORD.findall(got)
    if expected == got or max(len(left), len(right)) > MOST_WORDS:
        return escape(expected), escape(got)
    blocks = SequenceMatcher(None, left, right, autojunk=False).get_opcodes()
    return (
        Markup("").join(_shown(left[a:b], kind != "equal") for kind, a, b, _, _ in blocks),
        Markup("").join(_shown(right[c:d], kind != "equal") for kind, _, _, c, d in blocks),
    )


def _shown(words: Sequence[str], differs: bool) -> Markup:
    text = "".join(words)
    return Markup("<mark>{}</mark>").format(text) if differs and text else escape(text)
