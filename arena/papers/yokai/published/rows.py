"""What the Yōkai Learning Environment paper trained and found, row by row: its Tables 2 to 6."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from arena.training.recipes import Recipe, adapted, recipe
from search.learn.errors import LearnError

SOURCE: Final = "The Yōkai Learning Environment, Tables 2 to 6: mean ± standard error, SEE, EE and WEE in percent"
COLUMNS: Final = ("R", "SEE", "EE", "WEE", "LEN")
TABLES: Final = (2, 3, 4, 5, 6)


class TableError(LearnError):
    """There is no such table; the message says which there are."""


@dataclass(frozen=True)
class PaperRow:
    """One row.

    Attributes:
        label: as the paper names it.
        game: registry id.
        method: see `arena.training.recipes`.
        memory: perfect memory.
        level: of Off-Belief Learning.
        network: what the network has beyond the paper's default.
        ppo: what differs from the method's settings.
        self_play: the paper's figures, one a column.
        cross_play: the same in cross-play; () where the table has none.
    """

    label: str
    game: str
    method: str
    self_play: tuple[str, ...]
    cross_play: tuple[str, ...] = ()
    memory: bool = True
    level: int = 1
    network: Mapping[str, Any] = field(default_factory=dict)
    ppo: Mapping[str, Any] = field(default_factory=dict)

    @property
    def folder(self) -> str:
        """Name of the folder of its training; the same training in two tables has one folder."""
        parts = [self.game, f"obl{self.level}" if self.method == "obl" else self.method]
        parts += [] if self.memory else ["no-memory"]
        parts += [f"{name}-{value}" for name, value in sorted({**self.network, **self.ppo}.items())]
        return "_".join(parts)

    def recipe(self, scale: str = "paper", changed: Mapping[str, Any] | None = None) -> Recipe:
        """Returns how the row is trained.

        Args:
            scale: whose settings.
            changed: settings of PPO that differ from the row's.
        """
        made = recipe(self.game, self.method, scale, self.memory, self.level)
        return adapted(made, self.network, {**self.ppo, **(changed or {})})


def rows(table: int) -> tuple[PaperRow, ...]:
    """Returns the rows of a table.

    Raises:
        TableError: the paper has no such table of trained policies.
    """
    if table not in TABLES:
        raise TableError(f"The paper has the Tables 2 to 6 of trained policies, not {table}.")
    return _ROWS[table]


def _row(label: str, game: str, method: str, self_play: str, cross_play: str = "", **more: Any) -> PaperRow:
    return PaperRow(label, game, method, tuple(self_play.split()), tuple(cross_play.split()), **more)


_TWO, _THREE, _FOUR = "yokai-9c-2p", "yokai-9c-3p", "yokai-9c-4p"
_OP: Final = ("6.6±0.2 84±2 90±2 93±1 25.2±0.2", "4.8±0.1 63±2 75±2 83±1 26.7±0.3")
_OP_THREE: Final = ("3.0±0.8 27±0 38±11 37±11 36.2±1.1", "1.2±0.2 10±1 29±4 34±3 38.0±0.2")
_OP_FOUR: Final = "0.2±0.0 1±0 49±14 1±0 38.8±2.6"

_ROWS: Final[dict[int, tuple[PaperRow, ...]]] = {
    2: (
        _row("SP", _TWO, "sp", "7.5±0.3 89±7 89±8 92±8 25.0±0.6", "1.6±0.2 18±3 35±5 50±3 29.7±0.4"),
        _row("HE", _TWO, "he", "7.5±0.1 95±0 96±0 99±0 24.6±0.1", "4.1±0.8 50±1 68±10 69±7 27.2±0.7"),
        _row("OP", _TWO, "op-paper", *_OP),
        _row("OBL 1", _TWO, "obl", "4.0±0.2 68±7 76±8 83±7 28.0±0.4", "2.3±0.3 43±7 56±9 76±2 29.4±0.4", level=1),
        _row("OBL 2", _TWO, "obl", "4.3±0.2 69±7 79±7 81±7 27.7±0.4", "2.1±0.2 38±4 50±5 75±2 29.5±0.2", level=2),
        _row("OBL 3", _TWO, "obl", "4.4±0.4 73±7 82±7 81±8 27.3±0.4", "2.2±0.3 41±6 55±6 73±3 29.1±0.4", level=3),
        _row("OBL 4", _TWO, "obl", "4.5±0.2 77±3 87±3 89±2 27.2±0.2", "2.8±0.3 53±8 66±8 78±3 28.5±0.5", level=4),
        _row("OBL 5", _TWO, "obl", "4.8±0.2 80±3 89±2 90±2 27.0±0.2", "2.5±0.3 47±7 61±7 75±3 28.9±0.3", level=5),
        _row("SP", _THREE, "sp", "7.8±0.6 64±10 67±11 73±12 33.4±1.1", "0.2±0.1 0±0 6±1 17±1 39.5±0.1"),
        _row("HE", _THREE, "he", "0.9±0.0 3±0 100±0 3±0 1.0±0.0", "0.9±0.0 4±0 100±0 4±0 1.0±0.0"),
        _row("OP", _THREE, "op-paper", *_OP_THREE),
        _row("SP", _FOUR, "sp", "0.5±0.2 3±1 50±15 3±1 38.1±3.0", "0.1±0.0 1±0 64±20 1±0 36.6±3.7"),
        _row("HE", _FOUR, "he", "0.7±0.1 3±0 100±0 3±0 17.0±3.9", "0.7±0.0 2±0 100±0 2±0 6.6±2.1"),
        _row("OP", _FOUR, "op-paper", _OP_FOUR, "0.2±0.0 1±0 68±6 2±0 36.5±1.5"),
        _row("SP", "yokai-16c-2p", "sp", "0.0±0.0 0±0 25±12 0±0 52.6±1.8", "0.0±0.0 0±0 25±16 0±0 53.2±1.7"),
    ),
    3: (
        _row(
            "OP, α 0.01",
            _TWO,
            "op-paper",
            "3.3±0.3 32±8 41±10 46±11 29.3±0.6",
            "1.1±0.2 12±2 28±4 47±4 30.2±0.4",
            ppo={"entropy": 0.01},
        ),
        _row(
            "OP, α 0.03",
            _TWO,
            "op-paper",
            "6.2±0.1 85±1 92±1 92±1 25.6±0.2",
            "4.2±0.1 56±2 76±3 74±1 26.7±0.3",
            ppo={"entropy": 0.03},
        ),
        _row("OP, α 0.05", _TWO, "op-paper", *_OP),
        _row(
            "OP, α 0.08",
            _TWO,
            "op-paper",
            "0.1±0.0 0±0 0±0 0±0 32.0±0.0",
            "0.0±0.0 0±0 0±0 0±0 32.0±0.0",
            ppo={"entropy": 0.08},
        ),
        _row("OP, α 0.01", _THREE, "op-paper", *_OP_THREE),
        _row(
            "OP, α 0.03",
            _THREE,
            "op-paper",
            "1.0±0.1 8±4 62±13 11±6 19.5±5.3",
            "0.1±0.1 1±0 44±14 1±0 24.9±5.0",
            ppo={"entropy": 0.03},
        ),
        _row("OP, α 0.01", _FOUR, "op-paper", _OP_FOUR, "0.1±0.0 1±0 68±6 2±0 36.5±1.5"),
        _row(
            "OP, α 0.03",
            _FOUR,
            "op-paper",
            "0.1±0.1 1±0 17±11 1±0 42.5±3.9",
            "0.1±0.1 1±0 33±10 1±0 38.7±3.0",
            ppo={"entropy": 0.03},
        ),
    ),
    4: (
        _row("Φ", _TWO, "op-paper", *_OP),
        _row("Φ_col", _TWO, "op-col", "7.6±0.1 97±0 97±1 100±0 24.7±0.1", "2.1±0.6 24±8 39±9 55±5 29.5±0.7"),
        _row("Φ_rot", _TWO, "op-rot-paper", "6.4±0.3 77±7 82±7 86±8 27.0±0.5", "4.8±0.2 63±3 74±3 85±2 27.0±0.3"),
    ),
    5: (
        _row("SP", _TWO, "sp", "7.5±0.3 89±7 89±8 92±8 25.0±0.6"),
        _row("GATv2", _TWO, "sp", "6.9±0.1 87±1 87±1 100±0 26.0±0.3", network={"encoder": "gatv2"}),
        _row("GCN", _TWO, "sp", "4.0±0.2 9±8 9±0 25±21 31.4±0.5", network={"encoder": "gcn"}),
        _row("RM", _TWO, "sp", "3.0±1.6 25±22 25±22 25±22 29.9±1.8", network={"encoder": "relation"}),
        _row("+1HL", _TWO, "sp", "4.0±0.0 0±0 0±0 0±0 32.0±0.0", network={"extra_layers": 1}),
        _row("+2HL", _TWO, "sp", "4.0±0.0 0±0 0±0 0±0 32.0±0.0", network={"extra_layers": 2}),
    ),
    6: (
        _row("OP, perfect memory", _TWO, "op-paper", *_OP),
        _row("OP", _TWO, "op-paper", "0.0±0.0 0±0 0±0 0±0 32.0±0.0", "0.0±0.0 0±0 0±0 0±0 32.0±0.0", memory=False),
        _row(
            "OP TrXL",
            _TWO,
            "op-paper",
            "0.3±0.1 1±0 33±14 1±0 21.7±4.2",
            "0.3±0.1 1±0 50±17 1±0 17.8±4.5",
            memory=False,
            network={"core": "transformer_xl"},
        ),
    ),
}
