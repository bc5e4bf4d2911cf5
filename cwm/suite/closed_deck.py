"""Unit tests from what one player alone saw of each recorded game (the CWM paper, 4.4 and G.5).

Each game is seen from one seat. Two seats of the same game, laid side by side, would show what was hidden from both.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from cwm.suite.types import UnitTest
from cwm.trajectories.recorded import ClosedDeckTrajectory, Trajectory, view
from games.api import TERMINAL, Action, Observation


def inference_tests(
    trajectories: Sequence[Trajectory], samples: int, several_draws: int, return_draws: int
) -> Iterator[UnitTest]:
    """Yields a test for each decision of the player whose view a game is, and one for the whole game.

    Args:
        trajectories: recorded games; of each only `view` is read. One that did not end gives no test of the whole game;
            if it stopped where the player was to move, that decision is asked for too.
        samples: histories drawn and replayed in each test.
        several_draws: where several fit, at most so many are drawn until two differ.
        return_draws: at most so many are drawn until one pays what the player was paid.
    """
    draws = {"samples": samples, "draws": several_draws, "return_draws": return_draws}
    for trajectory in trajectories:
        seen = view(trajectory)
        for number, data in enumerate(_questions(seen, trajectory.steps[-1].player)):
            yield UnitTest(f"inference-{seen.index}-{number}", "inference", data | draws, seen.index, number)


def count(trajectory: Trajectory) -> int:
    """Returns how many tests `inference_tests` makes of a game."""
    seen = view(trajectory)
    return len(seen.decisions) + (trajectory.steps[-1].player in (TERMINAL, seen.player))


def evidence(seen: ClosedDeckTrajectory, decisions: int) -> list[list[Any]]:
    """Returns the first `decisions` of a player and what it saw next, as [observation, action or None] each."""
    shown: list[tuple[Observation, Action | None]] = [*seen.decisions, (seen.final_observation, None)]
    return [*(list(pair) for pair in shown[:decisions]), [shown[decisions][0], None]]


def _questions(seen: ClosedDeckTrajectory, mover: int) -> list[dict[str, Any]]:
    """Returns what is asked of a game at whose last step `mover` moves."""
    last, ended = len(seen.decisions), mover == TERMINAL
    return [
        {
            "player": seen.player,
            "history": evidence(seen, number),
            "last_is_terminal": ended and number == last,
            "return": seen.total_reward if ended and number == last else None,
        }
        for number in range(last + (mover in (TERMINAL, seen.player)))
    ]
