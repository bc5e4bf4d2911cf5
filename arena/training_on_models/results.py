"""How a learner fares at one seat: wins where there are any, and the mean return."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from games.api import GameInfo


@dataclass(frozen=True)
class Results:
    """Finished games at one seat.

    Attributes:
        games: how many.
        wins: share in which the seat was paid more than any other.
        losses: share in which another was paid more than the seat.
        mean_return: of the seat.
    """

    games: int
    wins: float
    losses: float
    mean_return: float

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    def rank(self, info: GameInfo) -> float:
        """Returns what the best agent has most of: wins, or where games are not won the mean return."""
        return self.wins if info.utility == "win_loss_draw" else self.mean_return


def of_games(returns: Sequence[Sequence[float]], seat: int) -> Results:
    """Returns the results of a seat.

    Args:
        returns: of all players, one list a game.
        seat: whose results.
    """
    if not returns:
        return Results(0, 0.0, 0.0, 0.0)
    rivals = [max((paid for place, paid in enumerate(row) if place != seat), default=0.0) for row in returns]
    wins = sum(row[seat] > rival for row, rival in zip(returns, rivals, strict=True))
    losses = sum(row[seat] < rival for row, rival in zip(returns, rivals, strict=True))
    count = len(returns)
    return Results(count, wins / count, losses / count, sum(row[seat] for row in returns) / count)
