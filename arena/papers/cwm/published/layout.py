"""The tables and figures of the CWM paper: their rows and columns, without any number."""

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from arena.papers.cwm.published.games import (
    GAMES,
    HIDDEN,
    LEARNED_PAYOFFS,
    PERFECT,
    WITH_OUTCOMES,
    WITH_PAYOFFS,
    WITH_VALUE_FUNCTION,
    Variant,
)

TableKind: TypeAlias = Literal["details", "accuracy", "outcomes", "payoffs", "forfeits"]
Opponent: TypeAlias = Literal["planner", "llm", "true", "random"]

OPPONENT_WORDS: Final[dict[Opponent, str]] = {
    "planner": "CWM planner",
    "llm": "language model",
    "true": "planner on the true game",
    "random": "random",
}
AGAINST_PLANNER: Final[tuple[Opponent, ...]] = ("llm", "true", "random")
AGAINST_LEARNED: Final[tuple[Opponent, ...]] = ("planner", "llm", "true", "random")


@dataclass(frozen=True)
class Column:
    """One column.

    Attributes:
        group: what stands above several columns: `transition accuracy`, or an opponent in words.
        name: the column's own heading.
        key: what is in it, e.g. `transition.test`, `calls`, `random.win`, `llm.win_forfeits`, `true.us`.
        digits: decimals to show.
    """

    group: str
    name: str
    key: str
    digits: int = 2

    @property
    def heading(self) -> str:
        return f"{self.group}: {self.name}" if self.group else self.name


@dataclass(frozen=True)
class TableLayout:
    """One table.

    Attributes:
        number: the paper's.
        title: in our words.
        kind: what its columns hold.
        variant: which syntheses it is about.
        games: its rows, our ids in the paper's order.
        columns: without those that name the row.
        learned: whether it is about agents that were trained on the model, not planners.
    """

    number: int
    title: str
    kind: TableKind
    variant: Variant
    games: tuple[str, ...]
    columns: tuple[Column, ...]
    learned: bool = False

    @property
    def seated(self) -> bool:
        """Whether each game has a row for either seat."""
        return self.kind in ("outcomes", "payoffs", "forfeits")

    def rows(self) -> list[tuple[str, int | None]]:
        """Returns (game, our agent's seat) of each row; the seat is None where it makes no difference."""
        return [(game, seat) for game in self.games for seat in ((0, 1) if self.seated else (None,))]


@dataclass(frozen=True)
class FigureLayout:
    """One figure.

    Attributes:
        number: the paper's.
        title: in our words.
        kind: `curves` of accuracy by call, `results` of matches, or the `ablation` of value functions.
        variant: which syntheses it is about.
        games: in the paper's order.
        tables: those whose runs it needs.
    """

    number: int
    title: str
    kind: Literal["curves", "results", "ablation"]
    variant: Variant
    games: tuple[str, ...]
    tables: tuple[int, ...]


def _splits(kind: str, digits: int) -> tuple[Column, ...]:
    return tuple(Column(f"{kind} accuracy", split, f"{kind}.{split}", digits) for split in ("train", "test", "online"))


def _calls() -> Column:
    return Column("", "LLM calls", "calls", 1)


def _outcomes(opponent: Opponent) -> tuple[Column, ...]:
    words = OPPONENT_WORDS[opponent]
    plain = {name: Column(words, name, f"{opponent}.{name}") for name in ("win", "loss", "draw")}
    if opponent in ("true", "random"):
        return tuple(plain.values())
    counts = {
        "win": Column(words, "won by forfeit", f"{opponent}.win_forfeits", 0),
        "loss": Column(words, "lost by forfeit", f"{opponent}.loss_forfeits", 0),
        "draw": Column(words, "drawn", f"{opponent}.draws", 0),
    }
    return tuple(column for name in plain for column in (plain[name], counts[name]))


def _sides(opponent: Opponent) -> tuple[Column, ...]:
    return tuple(Column(OPPONENT_WORDS[opponent], side, f"{opponent}.{side}") for side in ("us", "them"))


_BOTH = (*_splits("transition", 4), *_splits("inference", 4), _calls())
_DETAILS = (
    Column("", "OOD", "novel"),
    Column("", "observability", "observability"),
    Column("", "payoff", "payoff"),
    Column("", "actions", "actions", 0),
    Column("", "observation size", "observation", 0),
    Column("", "information state size", "information", 0),
)
_OUTCOMES = tuple(column for opponent in AGAINST_PLANNER for column in _outcomes(opponent))
_SIDES = tuple(column for opponent in AGAINST_PLANNER for column in _sides(opponent))
_LEARNED_OUTCOMES = tuple(column for opponent in AGAINST_LEARNED for column in _outcomes(opponent))
_LEARNED_SIDES = tuple(column for opponent in AGAINST_LEARNED for column in _sides(opponent))


def _arena(kind: TableKind, number: int, title: str, variant: Variant, games: tuple[str, ...]) -> TableLayout:
    return TableLayout(number, title, kind, variant, games, _OUTCOMES if kind == "outcomes" else _SIDES)


def _learned(number: int, variant: Variant, games: tuple[str, ...]) -> TableLayout:
    wins = number in (18, 19, 21, 23)
    words = {"tree": "open deck, histories inferred", "state": "states inferred", "closed": "closed deck"}
    about = "perfect information" if number == 18 else words[variant]
    return TableLayout(
        number,
        f"PPO on the model: {'results' if wins else 'payoffs'}, {about}",
        "outcomes" if wins else "payoffs",
        variant,
        games,
        _LEARNED_OUTCOMES if wins else _LEARNED_SIDES,
        learned=True,
    )


TABLES: Final = (
    TableLayout(1, "Accuracy, hidden information, open deck, histories inferred", "accuracy", "tree", HIDDEN, _BOTH),
    TableLayout(2, "Accuracy, closed deck", "accuracy", "closed", HIDDEN, (*_splits("inference", 5), _calls())),
    TableLayout(3, "The games", "details", "tree", tuple(game.id for game in GAMES), _DETAILS),
    TableLayout(
        4,
        "Accuracy, perfect information, tree search",
        "accuracy",
        "tree",
        PERFECT,
        (*_splits("transition", 5), _calls()),
    ),
    TableLayout(
        5,
        "Accuracy, perfect information, conversation",
        "accuracy",
        "conversation",
        PERFECT,
        (*_splits("transition", 5), _calls()),
    ),
    TableLayout(6, "Accuracy, hidden information, open deck, states inferred", "accuracy", "state", HIDDEN, _BOTH),
    _arena("outcomes", 7, "Results of matches, perfect information", "tree", PERFECT),
    _arena("payoffs", 8, "Payoffs of matches, open deck, histories inferred", "tree", WITH_PAYOFFS),
    _arena("outcomes", 9, "Results of matches, open deck, histories inferred", "tree", WITH_OUTCOMES),
    _arena("payoffs", 10, "Payoffs of matches, open deck, states inferred", "state", WITH_PAYOFFS),
    _arena("outcomes", 11, "Results of matches, open deck, states inferred", "state", WITH_OUTCOMES),
    _arena("payoffs", 12, "Payoffs of matches, closed deck", "closed", WITH_PAYOFFS),
    _arena("outcomes", 13, "Results of matches, closed deck", "closed", WITH_OUTCOMES),
    _arena("forfeits", 14, "Share of forfeits, open deck, histories inferred", "tree", WITH_PAYOFFS),
    _arena("forfeits", 15, "Share of forfeits, open deck, states inferred", "state", WITH_PAYOFFS),
    _arena("forfeits", 16, "Share of forfeits, closed deck", "closed", WITH_PAYOFFS),
    _learned(18, "tree", PERFECT),
    _learned(19, "tree", WITH_OUTCOMES),
    _learned(20, "tree", LEARNED_PAYOFFS),
    _learned(21, "state", WITH_OUTCOMES),
    _learned(22, "state", LEARNED_PAYOFFS),
    _learned(23, "closed", WITH_OUTCOMES),
    _learned(24, "closed", LEARNED_PAYOFFS),
)
TABLE_BY_NUMBER: Final = {table.number: table for table in TABLES}

FIGURES: Final = (
    FigureLayout(1, "Accuracy by call, open deck, histories inferred", "curves", "tree", HIDDEN, (1,)),
    FigureLayout(2, "Results of matches, perfect information", "results", "tree", PERFECT, (7,)),
    FigureLayout(3, "Results of matches, open deck, histories inferred", "results", "tree", HIDDEN, (8, 9)),
    FigureLayout(4, "Results of matches, closed deck", "results", "closed", HIDDEN, (12, 13)),
    FigureLayout(6, "Accuracy by call, perfect information", "curves", "tree", PERFECT, (4,)),
    FigureLayout(7, "Accuracy by call, open deck, states inferred", "curves", "state", HIDDEN, (6,)),
    FigureLayout(8, "Accuracy by call, closed deck", "curves", "closed", HIDDEN, (2,)),
    FigureLayout(9, "Matches with and without a value function", "ablation", "tree", WITH_VALUE_FUNCTION, (7, 8)),
)
FIGURE_BY_NUMBER: Final = {figure.number: figure for figure in FIGURES}
