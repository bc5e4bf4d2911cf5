"""Readings of `choose` that take nothing for granted of what a program asks of them.

Loaded into workers: standard library alone. A program may catch what is raised here, and go on: so the first fault is
kept, and whoever made the reading looks for it afterwards.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from json import dumps
from math import fsum
from random import Random
from typing import Any, Final

from cwm.sandbox.inside.comparisons import TOLERANCE, Mismatch
from cwm.sandbox.wire.plain_json import NotJsonError, first_difference, is_finite, normalise

CHANCE: Final = "chance"
"""The field of a test's result that draws answer for."""
MOST_DRAWS: Final = 1_000
"""In one start or step."""
MOST_OUTCOMES: Final = 10_000
"""Of one draw."""
LONGEST_LABEL: Final = 200
"""Characters."""
OTHER_OUTCOMES: Final = "equal draws before it were followed by other outcomes"
"""What is wrong with a program whose chance hangs on more than its arguments and draws."""

Table = list[list[Any]]
"""Outcomes of one draw with their probabilities: [outcome, probability] each."""


class DrawError(Exception):
    """A program asked for something that `choose` cannot give."""


class CarefulDraws(ABC):
    """A reading of `choose`: checks every draw, then takes one of its outcomes.

    Attributes:
        drawn: the draws so far, by label.
        fault: the first thing that was wrong with one, None if nothing was.
    """

    def __init__(self) -> None:
        self.drawn: dict[str, Table] = {}
        self.fault: Mismatch | None = None

    def __call__(self, label: Any, outcomes: Any) -> Any:
        if self.fault is not None:
            raise DrawError(self.fault.message)
        try:
            table = self._checked(label, outcomes)
            self.drawn[label] = table
            return outcomes[self._taken(label, table)][0]
        except Mismatch as fault:
            self.fault = fault
            raise DrawError(fault.message) from None

    def for_program(self) -> Callable[[Any, Any], Any]:
        """Returns what a program is passed: a function without the attributes that hold what was recorded, what this
        way is worth and what is told of it, which a program may look at or set by mistake."""
        return lambda label, outcomes: self(label, outcomes)

    def check(self, where: str = "") -> None:
        """Raises what was wrong with a draw.

        Args:
            where: in words, e.g. ` in step 2`; "" for the start or step that is tested.

        Raises:
            Mismatch: something was.
        """
        if self.fault is not None:
            fault = self.fault
            raise Mismatch(fault.field, f"{fault.message}{where}", fault.path, fault.expected, fault.got)

    @abstractmethod
    def _taken(self, label: str, table: Table) -> int:
        """Returns which outcome is taken."""

    def _checked(self, label: Any, outcomes: Any) -> Table:
        if type(label) is not str or len(label) > LONGEST_LABEL:
            got = f"{len(label):,} characters" if type(label) is str else f"a {type(label).__name__}"
            raise Mismatch(CHANCE, f"choose: a label is text of at most {LONGEST_LABEL} characters, got {got}")
        if label in self.drawn:
            raise Mismatch(CHANCE, f"choose: {label!r} is drawn twice in one start or step", f"[{label!r}]")
        if len(self.drawn) >= MOST_DRAWS:
            raise Mismatch(CHANCE, f"choose: more than {MOST_DRAWS:,} draws in one start or step")
        if type(outcomes) not in (list, tuple) or not 0 < len(outcomes) <= MOST_OUTCOMES:
            many = f"{len(outcomes):,} of them" if type(outcomes) in (list, tuple) else f"a {type(outcomes).__name__}"
            problem = f"expected a list of 1 to {MOST_OUTCOMES:,} (outcome, probability) pairs, got {many}"
            raise Mismatch(CHANCE, f"choose({label!r}): {problem}", f"[{label!r}]")
        table = [self._pair(label, pair) for pair in outcomes]
        problem = _problem(table)
        if problem:
            raise Mismatch(CHANCE, f"choose({label!r}): {problem}", f"[{label!r}]", got=_shown(table))
        return table

    def _pair(self, label: str, pair: Any) -> list[Any]:
        if type(pair) not in (list, tuple) or len(pair) != 2:
            raise Mismatch(CHANCE, f"choose({label!r}): expected (outcome, probability) pairs", f"[{label!r}]")
        if not is_finite(pair[1]) or not pair[1] > 0:
            problem = f"expected a probability above 0, got {_short(pair[1])}"
            raise Mismatch(CHANCE, f"choose({label!r}): {problem}", f"[{label!r}]")
        try:
            return [normalise(pair[0]), float(pair[1])]
        except NotJsonError as error:
            raise Mismatch(CHANCE, f"choose({label!r}): an outcome is no JSON: {error}", f"[{label!r}]") from error


class RecordedDraws(CarefulDraws):
    """Takes what was recorded. A draw with one outcome need not have been."""

    def __init__(self, log: Mapping[str, Any], tables: Mapping[str, Any] | None = None) -> None:
        """Args:
        log: the recorded outcomes, by label.
        tables: what they were drawn from, by label; None to compare nothing.
        """
        super().__init__()
        self._log, self._tables = log, tables

    def _taken(self, label: str, table: Table) -> int:
        if label not in self._log:
            if len(table) == 1:
                return 0
            recorded = ", ".join(map(repr, self._log)) or "no draws"
            message = f"choose({label!r}): nothing is recorded for this draw; recorded here: {recorded}"
            raise Mismatch(CHANCE, message, f"[{label!r}]", {"draws": list(self._log)}, {label: _shown(table)})
        if self._tables is not None:
            self._compare(label, table, self._tables[label])
        for number, (outcome, _) in enumerate(table):
            if first_difference(self._log[label], outcome) is None:
                return number
        message = f"choose({label!r}): {self._log[label]!r}, which was drawn, is not among the outcomes"
        raise Mismatch(CHANCE, message, f"[{label!r}]", self._log[label], _shown(table))

    def check_all_made(self) -> None:
        """Checks that every recorded draw was made that had more than one outcome.

        Raises:
            Mismatch: one was not.
        """
        for label, table in (self._tables or {}).items():
            if label not in self.drawn and len(table) > 1:
                message = f"the draw {label!r} is recorded here, and the program did not make it"
                raise Mismatch(CHANCE, message, f"[{label!r}]", {label: table}, {"draws": list(self.drawn)})

    def _compare(self, label: str, table: Table, recorded: Table) -> None:
        wanted = {_key(outcome): (outcome, chance) for outcome, chance in recorded}
        given = {_key(outcome): (outcome, chance) for outcome, chance in table}
        missing = [outcome for key, (outcome, _) in wanted.items() if key not in given]
        surplus = [outcome for key, (outcome, _) in given.items() if key not in wanted]
        wrong = [key for key in wanted if key in given and abs(wanted[key][1] - given[key][1]) > TOLERANCE]
        problem = ""
        if missing or surplus:
            problem = f"missing outcomes {_shown(missing)!r}, impossible outcomes {_shown(surplus)!r}"
        elif wrong:
            outcome, chance = wanted[wrong[0]]
            problem = f"expected probability {chance!r} of {outcome!r}, got {given[wrong[0]][1]!r}"
        if problem:
            message = f"choose({label!r}): {problem}"
            raise Mismatch(CHANCE, message, f"[{label!r}]", {label: _shown(recorded)}, {label: _shown(table)})


class RandomDraws(CarefulDraws):
    """Draws by chance."""

    def __init__(self, rng: Random) -> None:
        super().__init__()
        self._rng = rng

    def _taken(self, label: str, table: Table) -> int:
        return self._rng.choices(range(len(table)), [chance for _, chance in table])[0]


class OpenDraws(CarefulDraws):
    """Repeats the draws that are given, and stops at the first that is not.

    Attributes:
        open: label and table of that draw, None while there was none.
    """

    def __init__(self, given: Mapping[str, Any]) -> None:
        super().__init__()
        self.open: list[Any] | None = None
        self._given = given

    def _taken(self, label: str, table: Table) -> int:
        if label in self._given:
            for number, (outcome, _) in enumerate(table):
                if first_difference(self._given[label], outcome) is None:
                    return number
            raise Mismatch(CHANCE, f"choose({label!r}): {OTHER_OUTCOMES}", f"[{label!r}]")
        self.open = self.open or [label, table]
        raise DrawError(f"{label!r} is still to be drawn")


class WayOfDraws(CarefulDraws):
    """Takes the given outcome at each draw, the first one at every later draw.

    Attributes:
        probability: of this way, the product of those of its draws.
    """

    def __init__(self, path: list[int]) -> None:
        super().__init__()
        self.probability = 1.0
        self._path = list(path)

    def _taken(self, label: str, table: Table) -> int:
        depth = len(self.drawn) - 1
        if depth == len(self._path):
            self._path.append(0)
        if self._path[depth] >= len(table):
            raise Mismatch(CHANCE, f"choose({label!r}): {OTHER_OUTCOMES}")
        self.probability *= table[self._path[depth]][1]
        return self._path[depth]

    def next_path(self) -> list[int]:
        """Returns the choices of the next way, none after the last."""
        path, sizes = self._path[: len(self.drawn)], [len(table) for table in self.drawn.values()]
        while path and path[-1] + 1 == sizes[len(path) - 1]:
            path.pop()
        if path:
            path[-1] += 1
        return path


def _problem(table: Table) -> str:
    """Returns what is wrong with a draw as a whole, "" if nothing is."""
    if len({_key(outcome) for outcome, _ in table}) != len(table):
        return "an outcome is given more than once"
    total = fsum(chance for _, chance in table)
    return f"probabilities must sum to 1, they sum to {total!r}" if abs(total - 1.0) > TOLERANCE else ""


def _key(outcome: Any) -> str:
    # Equal numbers count as one outcome, whether they are written 1 or 1.0.
    return dumps(_whole(outcome), sort_keys=True)


def _whole(value: Any) -> Any:
    if isinstance(value, list):
        return [_whole(item) for item in value]
    if isinstance(value, dict):
        return {name: _whole(item) for name, item in value.items()}
    return int(value) if type(value) is float and value.is_integer() else value


def _shown(items: list[Any], most: int = 20) -> list[Any]:
    return items if len(items) <= most else [*items[:most], f"and {len(items) - most} more"]


def _short(value: Any) -> str:
    """Returns a number as text, or what else it is: a number may be long."""
    if type(value) is float:
        return repr(value)
    return repr(value) if type(value) is int and abs(value) < 1e300 else f"a {type(value).__name__}"
