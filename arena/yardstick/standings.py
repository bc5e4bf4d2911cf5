"""Language models side by side: lines of the same version, those that lack games apart, and other versions apart."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any, Final

from arena.yardstick import tasks
from arena.yardstick.line import Totals, YardstickLine, read_lines
from arena.yardstick.tasks import YardstickTask

_SHIPPED: Final = "lines.jsonl"
_OTHER: Final = {
    "rule_book": "another rule book",
    "learn": "other games to learn from",
    "held_out": "other held-out games",
}


@dataclass(frozen=True)
class Placed:
    """One line in the standings.

    Attributes:
        line: what the language model came to.
        totals: of it.
        place: from 1 among the lines that hold every game; None where it is not ranked.
        apart: why it is not ranked; "" if it is.
        comparable: whether its games are those of this version.
    """

    line: YardstickLine
    totals: Totals
    place: int | None
    apart: str
    comparable: bool

    def to_json(self) -> dict[str, Any]:
        """Returns the line's figures as JSON."""
        line = self.line
        return {
            "place": self.place,
            "apart": self.apart,
            "row": line.row,
            "model": line.model,
            "date": line.date,
            "yardstick": line.yardstick,
            "totals": self.totals.to_json(),
        }


def shipped() -> list[YardstickLine]:
    """Returns the lines that ship."""
    return read_lines(Path(str(resources.files("arena.yardstick").joinpath(_SHIPPED))))


def standings(lines: Iterable[YardstickLine]) -> list[Placed]:
    """Returns all lines: the ranked ones first, by the share exact, then by accuracy, then by calls; equal ones once.

    Lines that lack games follow, and those of other games at the end: these are compared with nothing. A line of which
    nothing is known is left out.
    """
    every = {task.name: task for task in tasks.load()}
    distinct = {json.dumps(line.to_json(), sort_keys=True): line for line in lines}
    known = [line for line in distinct.values() if any(result.known for result in line.games)]
    found = [_judged(line, every) for line in known]
    ranked = sorted((one for one in found if not one.apart), key=_order)
    others = sorted((one for one in found if one.apart), key=lambda one: (not one.comparable, -one.line.yardstick))
    placed = [Placed(one.line, one.totals, _place(ranked, one), "", True) for one in ranked]
    return [*placed, *others]


def _place(ranked: Sequence[Placed], one: Placed) -> int:
    return 1 + next(number for number, other in enumerate(ranked) if _order(other) == _order(one))


def _order(one: Placed) -> tuple[float, ...]:
    totals = one.totals
    best = [0.0 if figure is None else figure.mean for figure in (totals.exact, totals.transition, totals.inference)]
    return (*(-value for value in best), 0.0 if totals.calls is None else totals.calls.mean)


def _judged(line: YardstickLine, every: dict[str, YardstickTask]) -> Placed:
    totals = Totals.of(line.games)
    strange = _strange(line, every)
    if strange:
        return Placed(line, totals, None, strange, False)
    missing = totals.missing or totals.games < len(every)
    lacking = f"{totals.games} of {len(every)} games" if missing else ""
    return Placed(line, totals, None, lacking, True)


def _strange(line: YardstickLine, every: dict[str, YardstickTask]) -> str:
    """Returns why a line cannot be compared with those of this version, "" if it can."""
    version = next(iter(every.values())).version
    if line.yardstick != version:
        return f"version {line.yardstick} of the yardstick, this is {version}"
    for result in line.games:
        task = every.get(result.game)
        if task is None:
            return f"{result.game} is no game of version {version}"
        for attempt in result.syntheses:
            if attempt.seed not in range(tasks.SEEDS):
                return f"seed {attempt.seed}, which version {version} does not fix"
            told = {"rule_book": result.rule_book, "learn": attempt.learn, "held_out": attempt.held_out}
            for name, value in task.fixed(attempt.seed).items():
                if value and told[name] and told[name] != value:
                    return f"{_OTHER[name]} in {result.game} than version {version} fixes"
    return ""
