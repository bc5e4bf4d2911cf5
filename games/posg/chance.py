"""Three readings of the same rules: draw their chance, go through all of it, or write it down and play it again.

Standard library alone: planners use it beside a model in a sandboxed worker.
"""

import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple, TypeAlias, TypeVar

from games.api import Json
from games.posg.api import Choose, PosgError

TOLERANCE: Final = 1e-9
"""Probabilities of one draw sum to 1 within this."""
MAX_BRANCHES: Final = 1_000_000
"""So many ways through one step are gone through at most."""

Log: TypeAlias = Mapping[str, Json]
"""What chance did in one start or step: outcomes by label."""

Result = TypeVar("Result")


class Branch(NamedTuple):
    """One way that chance can take.

    Attributes:
        probability: of this way, the product of those of its draws.
        log: its outcomes by label.
    """

    probability: float
    log: dict[str, Json]


def drawing(rng: random.Random) -> Choose:
    """Returns the reading that draws: one call of `rng.random()` a draw, none where there is one outcome."""
    uniform = rng.random

    def choose(_: str, outcomes: Sequence[tuple[Json, float]]) -> Json:
        if len(outcomes) == 1:
            return outcomes[0][0]
        left = uniform()
        for outcome, probability in outcomes:
            left -= probability
            if left < 0.0:
                return outcome
        return outcomes[-1][0]

    return choose


def enumerating(run: Callable[[Choose], Result], limit: int = MAX_BRANCHES) -> Iterator[tuple[Branch, Result]]:
    """Runs `run` once for every way that chance can take, in the order of the outcomes, and yields what it returns.

    Args:
        run: pure but for the chance that it is passed, e.g. `lambda choose: model.move(state, actions, choose)`.
        limit: of ways.

    Raises:
        PosgError: there are more ways; or a draw breaks the rules of `Choose`.
    """
    path: list[int] = []
    for _ in range(limit):
        way = _Way(path)
        result = run(way)
        yield Branch(way.probability, way.log), result
        path = way.next_path()
        if not path:
            return
    raise PosgError(
        f"chance can take more than {limit:,} ways in one step, too many to go through; use sampling for this game."
    )


class _Way:
    """Takes the given outcome at each draw, the first one at every later draw."""

    def __init__(self, path: Sequence[int]) -> None:
        self.probability = 1.0
        self.log: dict[str, Json] = {}
        self._path = list(path)
        self._sizes: list[int] = []

    def __call__(self, label: str, outcomes: Sequence[tuple[Json, float]]) -> Json:
        check_draw(label, outcomes, self.log)
        depth = len(self._sizes)
        if depth == len(self._path):
            self._path.append(0)
        outcome, probability = outcomes[self._path[depth]]
        self._sizes.append(len(outcomes))
        self.probability *= probability
        self.log[label] = outcome
        return outcome

    def next_path(self) -> list[int]:
        """Returns the choices of the next way, none after the last."""
        path = self._path[: len(self._sizes)]
        while path and path[-1] + 1 == self._sizes[len(path) - 1]:
            path.pop()
        if path:
            path[-1] += 1
        return path


def recording(choose: Choose, log: dict[str, Json]) -> Choose:
    """Returns `choose`, which now writes what it returns into `log`, and refuses draws that break the rules."""

    def recorded(label: str, outcomes: Sequence[tuple[Json, float]]) -> Json:
        check_draw(label, outcomes, log)
        outcome = choose(label, outcomes)
        log[label] = outcome
        return outcome

    return recorded


def replaying(log: Log) -> Choose:
    """Returns the reading that repeats a log; the order of its draws does not matter.

    The returned function raises `PosgError` for a draw that the log lacks, or whose outcome is not offered.
    """

    def choose(label: str, outcomes: Sequence[tuple[Json, float]]) -> Json:
        if label not in log:
            raise PosgError(f"nothing is recorded for the draw {label!r}; recorded are {_named(log)}.")
        told = log[label]
        for outcome, _ in outcomes:
            if outcome == told:
                return outcome
        raise PosgError(f"the draw {label!r} cannot give {told!r}, which is recorded; it offers {_offered(outcomes)}.")

    return choose


def check_draw(label: str, outcomes: Sequence[tuple[Json, float]], log: Log) -> None:
    """Checks one draw.

    Args:
        label: what is drawn.
        outcomes: that it offers.
        log: of the draws before it in the same start or step.

    Raises:
        PosgError: the label was used before, there is no outcome, or the probabilities are not positive and sum to 1.
    """
    if label in log:
        raise PosgError(f"the label {label!r} is drawn twice in one step; labels are unique within a step.")
    if not outcomes:
        raise PosgError(f"the draw {label!r} offers no outcome.")
    probabilities = [probability for _, probability in outcomes]
    if not all(probability > 0.0 for probability in probabilities):
        raise PosgError(f"the draw {label!r} offers an outcome of probability 0 or less: {_offered(outcomes)}.")
    total = math.fsum(probabilities)
    if abs(total - 1.0) > TOLERANCE:
        raise PosgError(f"the probabilities of the draw {label!r} sum to {total:.12g}, not to 1: {_offered(outcomes)}.")


def uniform_over(outcomes: Sequence[Json]) -> list[tuple[Json, float]]:
    """Returns equally likely outcomes as `Choose` takes them."""
    return [(outcome, 1.0 / len(outcomes)) for outcome in outcomes]


def _named(log: Log) -> str:
    return ", ".join(map(repr, log)) or "no draws"


def _offered(outcomes: Sequence[tuple[Json, float]], most: int = 6) -> str:
    said = ", ".join(f"{outcome!r} ({probability:.6g})" for outcome, probability in outcomes[:most])
    return said + (f" and {len(outcomes) - most} more" if len(outcomes) > most else "")
