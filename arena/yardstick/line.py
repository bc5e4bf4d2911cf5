"""What a language model came to: one line of JSON, with all that decides whether it may be compared."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Final, Literal, TypeAlias, get_args, get_origin

from arena.figures.intervals import Estimate, clustered_mean, clustered_rate, mean_estimate, rate_estimate
from arena.usage import UsageError
from cwm.storage.keys import canonical_json

SCHEMA: Final = 1
State: TypeAlias = Literal["exact", "not exact", "capped", "no program", "error", "not recorded", "unfinished"]
MISSING: Final[tuple[State, ...]] = ("not recorded", "unfinished")
"""Nothing is known of these: they are no failure, and a line that holds some is not ranked."""


@dataclass(frozen=True)
class Attempt:
    """One synthesis of one game.

    Attributes:
        seed: of the synthesis.
        state: `exact`: every training test and every held-out transition and inference is right; `capped`: its calls
            ended before its tests passed; `error`: the sandbox or this package was at fault.
        reason: why it is not exact, in a few words; "" if it is.
        transition: share of the held-out transitions that are right; None if no program was tested.
        inference: the same of what players infer; None as well where nothing is hidden.
        transitions: tests of them that count: one for each step of a game, its end included.
        calls: answered, and those that may have been billed without an answer.
        input_tokens: in all.
        output_tokens: in all.
        estimated: whether some of the tokens are our estimate.
        cost: in the currency of the prices; None if none were given.
        seconds: spent waiting for answers; 0 on replay.
        learn: hash of the games to learn from.
        held_out: hash of the held-out games; None if they were not played.
    """

    seed: int
    state: State
    reason: str = ""
    transition: float | None = None
    inference: float | None = None
    transitions: int = 0
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    estimated: bool = False
    cost: float | None = None
    seconds: float = 0.0
    learn: str = ""
    held_out: str | None = None

    @property
    def known(self) -> bool:
        """Whether it came to an end."""
        return self.state not in MISSING


@dataclass(frozen=True)
class GameResult:
    """All syntheses of one game.

    Attributes:
        game: its name.
        group: `paper` or `unprepared`.
        hidden: whether something is hidden from players, so that inference is tested.
        rule_book: hash of the text that was told.
        syntheses: by seed.
    """

    game: str
    group: str
    hidden: bool
    rule_book: str
    syntheses: tuple[Attempt, ...]

    @property
    def known(self) -> tuple[Attempt, ...]:
        """The syntheses that came to an end."""
        return tuple(attempt for attempt in self.syntheses if attempt.known)


@dataclass(frozen=True)
class YardstickLine:
    """What a language model came to.

    Attributes:
        yardstick: version of the games.
        open_spiel: version that plays them.
        row: label of the settings, e.g. `careful`; "" for none.
        model: names that its answers say.
        date: of the last answer, or of the run; ISO 8601, a day.
        asked: with which settings, by name.
        games: in the order of tables.
        schema: of the line.
    """

    yardstick: int
    open_spiel: str
    row: str
    model: str
    date: str
    asked: Mapping[str, Any]
    games: tuple[GameResult, ...]
    schema: int = SCHEMA
    totals: Mapping[str, Any] = field(default_factory=dict, compare=False)

    def to_json(self) -> dict[str, Any]:
        """Returns the line, its totals made anew."""
        return asdict(self) | {"totals": Totals.of(self.games).to_json()}

    def text(self) -> str:
        """Returns the line as it is written, with its end."""
        return canonical_json(self.to_json()) + "\n"

    @classmethod
    def from_json(cls, data: Any) -> "YardstickLine":
        """Builds what `to_json` gave.

        Raises:
            ValueError: it is no such line.
        """
        if not isinstance(data, dict) or not isinstance(data.get("schema"), int):
            raise ValueError("it is no JSON object with a number `schema`")
        if data["schema"] != SCHEMA:
            raise ValueError(f"its schema is {data['schema']}, and this version of cwm reads {SCHEMA}")
        _check(cls, data)
        games = []
        for row in data["games"]:
            _check(GameResult, row)
            for attempt in row["syntheses"]:
                _check(Attempt, attempt)
            games.append(GameResult(**row | {"syntheses": tuple(Attempt(**one) for one in row["syntheses"])}))
        return cls(**data | {"games": tuple(games)})


def _check(cls: type, data: Any) -> None:
    """Checks that an object has the fields of a class, each of its kind.

    Raises:
        ValueError: it has not.
    """
    if not isinstance(data, dict):
        raise ValueError(f"{json.dumps(data)[:40]} is no JSON object")
    named = {item.name: item.type for item in fields(cls)}
    wrong = [name for name in named if name not in data] or [name for name in data if name not in named]
    if wrong:
        raise ValueError(f"it {'has' if wrong[0] in data else 'lacks'} `{wrong[0]}`")
    for name, kind in named.items():
        if not any(_fits(data[name], one) for one in (get_args(kind) if isinstance(kind, UnionType) else (kind,))):
            raise ValueError(f"its `{name}` is {json.dumps(data[name])[:40]}")


def _fits(value: Any, kind: Any) -> bool:
    origin = get_origin(kind)
    if origin is tuple:
        return isinstance(value, list)
    if origin is Literal:
        return value in get_args(kind)
    if kind is float:
        return type(value) in (int, float) and math.isfinite(value)
    if kind in (int, bool, str, NoneType):
        return type(value) is kind
    return isinstance(value, dict)


@dataclass(frozen=True)
class Totals:
    """Figures over all games of a line.

    Syntheses of one game are alike, so intervals take games for the independent units; with one synthesis of each they
    are Wilson's for the share and Student's for means.

    Attributes:
        games: of which a synthesis came to an end.
        syntheses: that came to an end.
        missing: syntheses that did not, or were not recorded.
        exact: share of the syntheses.
        transition: mean share of right held-out transitions; 0 without a program.
        inference: the same of what players infer, over games in which something is hidden.
        calls: mean of a synthesis.
        sums: calls, tokens, cost (None if one is unknown) and seconds, in all.
    """

    games: int
    syntheses: int
    missing: int
    exact: Estimate | None
    transition: Estimate | None
    inference: Estimate | None
    calls: Estimate | None
    sums: Mapping[str, Any]

    @classmethod
    def of(cls, games: Sequence[GameResult]) -> "Totals":
        """Returns the totals of some games."""
        groups = [game.known for game in games]
        every = [attempt for game in games for attempt in game.syntheses]
        known = [attempt for group in groups for attempt in group]
        costs = [attempt.cost for attempt in known if attempt.cost is not None]
        sums: dict[str, Any] = {
            name: sum(getattr(attempt, name) for attempt in every)
            for name in ("calls", "input_tokens", "output_tokens")
        }
        sums |= {
            "estimated": any(attempt.estimated for attempt in every),
            "cost": math.fsum(costs) if known and len(costs) == len(known) else None,
            "seconds": math.fsum(attempt.seconds for attempt in every),
        }
        return cls(
            games=sum(map(bool, groups)),
            syntheses=len(known),
            missing=len(every) - len(known),
            exact=share([[float(attempt.state == "exact") for attempt in group] for group in groups]),
            transition=_bounded(mean([accuracies(group, "transition") for group in groups])),
            inference=_bounded(mean([accuracies(game.known, "inference") for game in games if game.hidden])),
            calls=mean([[float(attempt.calls) for attempt in group] for group in groups], least=0.0),
            sums=sums,
        )

    def to_json(self) -> dict[str, Any]:
        """Returns the totals as JSON."""
        return asdict(self)


def share(groups: Sequence[Sequence[float]]) -> Estimate | None:
    """Returns a share over games, each a group of syntheses; Wilson's interval."""
    filled = [group for group in groups if group]
    if all(len(group) == 1 for group in filled):
        return rate_estimate([group[0] for group in filled])
    return clustered_rate(filled)


def mean(groups: Sequence[Sequence[float]], least: float = -math.inf) -> Estimate | None:
    """Returns a mean over games, each a group of syntheses; Student's interval, which ends at `least`.

    Where all are equal there is none: that nothing differed among a few games does not make the mean sure.
    """
    filled = [group for group in groups if group]
    alone = all(len(group) == 1 for group in filled)
    found = mean_estimate([group[0] for group in filled]) if alone else clustered_mean(filled)
    if found is not None and found.standard_error == 0:
        return Estimate(found.mean, None, None, None, found.n)
    return _bounded(found, least, math.inf)


def _bounded(value: Estimate | None, least: float = 0.0, most: float = 1.0) -> Estimate | None:
    if value is None or value.low is None or value.high is None:
        return value
    low, high = max(least, value.low), min(most, value.high)
    return Estimate(value.mean, value.standard_error, low, high, value.n)


def accuracies(group: Sequence[Attempt], name: str) -> list[float]:
    """Returns the accuracies of a game's syntheses; 0 without a program, none where the fault was ours."""
    return [getattr(attempt, name) or 0.0 for attempt in group if attempt.state != "error"]


def read_lines(file: Path) -> list[YardstickLine]:
    """Reads lines, one language model each.

    Raises:
        UsageError: the file cannot be read, or a line of it is none.
    """
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no text in UTF-8"
        raise UsageError(f"The lines {file} cannot be read ({reason}); give a file of JSON lines.") from error
    found = []
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                found.append(YardstickLine.from_json(json.loads(line)))
            except (ValueError, RecursionError) as error:
                raise UsageError(
                    f"Line {number} of {file} is no result of the yardstick ({error}); give lines as "
                    "`cwm benchmark models` writes them."
                ) from error
    return found
