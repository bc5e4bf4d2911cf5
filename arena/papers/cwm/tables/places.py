"""Where a rebuilding keeps what: one folder a game, in it one a synthesis, in that its evaluations and matches."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from arena.papers.cwm.published.games import Variant

HELD_OUT: Final = "held-out.jsonl"
TEST: Final = "test"
ONLINE: Final = "online"
CURVE: Final = "curve"
MATCHES: Final = "matches"
PLAYER: Final = "player"
WITHOUT_VALUE: Final = "without-value"
LEARNED: Final = "learned"
LEARNED_PLAYER: Final = "learned-player"
PUPILS: Final = "ppo"


@dataclass(frozen=True)
class Place:
    """One synthesis of one game.

    Attributes:
        root: folder of the rebuilding.
        game: our id.
        variant: how it was done.
        seed: of the synthesis.
    """

    root: Path
    game: str
    variant: Variant
    seed: int

    @property
    def name(self) -> str:
        """The synthesis's folder within the root."""
        return f"{self.game}/{self.variant}-s{self.seed}"

    @property
    def folder(self) -> Path:
        return self.root / self.name

    @property
    def held_out(self) -> Path:
        """The game's held-out games, the same for every synthesis."""
        return self.root / self.game / HELD_OUT

    def part(self, name: str) -> Path:
        """Returns the folder of an evaluation or of matches."""
        return self.folder / name

    def source(self, name: str) -> str:
        """Returns how a cell names something within this synthesis as where it comes from."""
        return f"{self.name}/{name}"
