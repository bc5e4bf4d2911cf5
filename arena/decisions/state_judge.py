"""A language model's opinion of deductions, given the truth, beside the exact figures."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, Final

from arena.decisions.state_tracking import FOUR, Checked, one
from arena.decisions.tracking_causes import Claims
from cwm.interface import templates
from cwm.llm.api import LanguageModel, Message, Request
from cwm.llm.json_answers import NoJsonAnswerError, last_object
from cwm.storage.keys import derive
from games.tracking import Tracked, TrackedEvent

PURPOSE: Final = "state judge"
TOKENS: Final = 4096
"""Of an answer, reasoning included."""
_SEEDS: Final = 2**31


@dataclass(frozen=True)
class Judged:
    """One deduction, judged.

    Attributes:
        item: which.
        exact: its four numbers as exact ones, None where there is nothing to count.
        said: the language model's, None where its answer could not be read.
        problem: what was wrong with the answer.
    """

    item: Checked
    exact: tuple[float | None, ...]
    said: tuple[float, ...] | None
    problem: str | None = None


def judge(
    found: Iterable[Checked], model: LanguageModel, on_done: Callable[[int], None] = lambda done: None
) -> list[Judged]:
    """Asks a language model for its opinion of every deduction that could be read.

    Args:
        found: the decisions.
        model: whom to ask; what it has answered before is best kept by it.
        on_done: told how many are judged.

    Raises:
        LanguageModelError: the model could not be asked.
    """
    judged = []
    for item in found:
        if item.claimed is None:
            continue
        judged.append(_asked(item, model))
        on_done(len(judged))
    return judged


def prompt(item: Checked) -> str:
    """Returns the question about a deduction; the same one for equal deductions."""
    truth = item.truth
    before = {player: [frozenset(slot.possible) for slot in hand] for player, hand in enumerate(truth.before) if hand}
    now = {player: [frozenset(slot.possible) for slot in hand] for player, hand in enumerate(truth.hands) if hand}
    return templates.render(
        "state_judge",
        colours=truth.colours,
        ranks=truth.ranks,
        before=_hands(truth, before),
        events="\n".join(map(_event, truth.events)) or "nothing",
        truth=_hands(truth, now),
        previous="nothing was said" if item.previous is None else _hands(truth, item.previous),
        claimed=_hands(truth, item.claimed or {}),
    )


def summary(judged: Sequence[Judged]) -> dict[str, Any]:
    """Returns, for each of the four numbers, both means, their correlation and their n; and the unread by problem.

    The correlation is Pearson's over deductions; None where one of the two never differs.
    """
    rows: dict[str, Any] = {}
    for place, name in enumerate(FOUR):
        pairs = [
            (item.said[place], exact)
            for item in judged
            if item.said is not None and (exact := item.exact[place]) is not None
        ]
        rows[name] = {
            "said": fmean(said for said, _ in pairs) if pairs else None,
            "exact": fmean(exact for _, exact in pairs) if pairs else None,
            "correlation": correlation(pairs),
            "n": len(pairs),
        }
    return {"numbers": rows, "unread": dict(Counter(item.problem for item in judged if item.problem is not None))}


def correlation(pairs: Sequence[tuple[float, float]]) -> float | None:
    """Returns Pearson's correlation, None for fewer than two pairs or where one side never differs."""
    if len(pairs) < 2:
        return None
    first, second = (fmean(side) for side in zip(*pairs, strict=True))
    products = math.fsum((a - first) * (b - second) for a, b in pairs)
    spread = math.fsum((a - first) ** 2 for a, _ in pairs) * math.fsum((b - second) ** 2 for _, b in pairs)
    return products / math.sqrt(spread) if spread > 0 else None


def _asked(item: Checked, model: LanguageModel) -> Judged:
    question = prompt(item)
    request = Request(
        messages=(Message("user", question),),
        purpose=PURPOSE,
        max_output_tokens=TOKENS,
        seed=derive(PURPOSE, question) % _SEEDS,
        occurrence=0,
    )
    completion = model.complete(request)
    exact = one(item).four
    if completion.outcome != "ok":
        return Judged(item, exact, None, completion.outcome)
    try:
        answer = last_object(completion.text, FOUR)
    except NoJsonAnswerError:
        return Judged(item, exact, None, "unparsable")
    numbers = [answer[name] for name in FOUR]
    if not all(type(number) in (int, float) and 0 <= number <= 1 for number in numbers):
        return Judged(item, exact, None, "no number from 0 to 1")
    return Judged(item, exact, tuple(map(float, numbers)))


def _hands(truth: Tracked, hands: Claims) -> str:
    lines = []
    for player, hand in sorted(hands.items()):
        who = "the player itself" if player == truth.player else f"player {player}"
        slots = [f"{slot}: {_values(truth, values)}" for slot, values in enumerate(hand)]
        lines.append(f"{who}: {'; '.join(slots) or 'no card'}")
    return "\n".join(lines) or "nothing"


def _values(truth: Tracked, values: frozenset[str]) -> str:
    colours = "".join(value for value in truth.colours if value in values) or "no colour"
    ranks = "".join(value for value in truth.ranks if value in values) or "no rank"
    return f"{colours} {ranks}" if truth.ranks else colours


def _event(event: TrackedEvent) -> str:
    if event.value:
        return f"player {event.player} was told of {event.value}: slots {', '.join(map(str, event.slots)) or 'none'}"
    came = ", and a new card came last" if event.dealt else ", and no new card came"
    return f"player {event.player} played or discarded slot {event.slots[0]}{came}"
