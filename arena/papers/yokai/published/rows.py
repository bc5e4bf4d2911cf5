"""What the Yōkai Learning Environment paper trained and found, row by row: its Tables 2 to 6."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from arena.papers.yokai.published import results
from arena.papers.yokai.published.results import TABLES
from arena.training.recipes import Recipe, adapted, recipe
from search.learn.errors import LearnError

COLUMNS: Final = ("R", "SEE", "EE", "WEE", "LEN")
_TRAINED: Final = ("label", "game", "method", "memory", "level", "network", "ppo")


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
    return tuple(_row(row) for row in results.of_table(table))


def _row(data: Mapping[str, Any]) -> PaperRow:
    known = {name: data[name] for name in _TRAINED if name in data}
    return PaperRow(self_play=tuple(data["self_play"].split()), cross_play=tuple(data["cross_play"].split()), **known)
