"""What a comparison of a batched game with its reference found."""

from dataclasses import dataclass, field
from typing import Final

MAX_REPORTED: Final = 20


@dataclass
class DifferentialReport:
    """What a comparison found.

    Attributes:
        games: games played to the end.
        steps: actions compared.
        wins: games that were won; where none can be, games that paid something.
        differences: the first ones found, in words; empty if the two agree.
    """

    games: int = 0
    steps: int = 0
    wins: int = 0
    differences: list[str] = field(default_factory=list)

    def add(self, difference: str) -> None:
        """Keeps a difference, unless there are many."""
        if len(self.differences) < MAX_REPORTED:
            self.differences.append(difference)
