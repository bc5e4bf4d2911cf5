"""Exact sampling of the histories of Quadranto that one player cannot tell from the real one.

The opponent is in one of 16 cells, so all its paths are counted cell by cell (forward), and one is drawn back from the
end, each path with the same probability.
"""

import random
from functools import lru_cache
from itertools import pairwise, zip_longest
from typing import NamedTuple

from games.api import Action, GameError, ObsActionHistory
from games.quadranto.matrix import CELLS, MOVES, QUADRANTS, STARTS, TARGETS, number


class Sight(NamedTuple):
    """What a player saw at one own decision point: the cell it was on, and the opponent's quadrant."""

    cell: int
    quadrant: str


def place(player: int, cell: int) -> Action:
    """Returns chance's action that puts `player` on `cell`."""
    row, column = CELLS[cell]
    return f"place player {player} at {row},{column}"


def resample_history(history: ObsActionHistory, player: int, rng: random.Random) -> list[Action]:
    """Returns a whole history, chance first, drawn from all that fit `history`, each equally likely.

    Uniform over histories means: every start of the opponent together with every sequence of its actions counts once.
    (An opponent that plays uniformly at random has a few more ways in the middle of the matrix than at its walls, so
    under it the probabilities would differ a little.)

    Args:
        history: the player's own decision points.
        player: whose history it is.
        rng: source of all randomness.

    Raises:
        GameError: the history is empty, of another player, or fits no game.
    """
    if not history or any(shown["player"] != player or shown["current_player"] != player for shown, _ in history):
        raise GameError(f"quadranto: expected at least one decision point, all of player {player}; got {history!r}.")
    sights = tuple(Sight(number(*shown["position"]), shown["opponent_quadrant"]) for shown, _ in history)
    counts = count_paths(sights, player)
    if not counts[-1]:
        raise GameError(f"quadranto: no game fits what player {player} saw: {history!r}.")
    path = _draw_path(counts, rng)
    starts = (sights[0].cell, path[0]) if player == 0 else (path[0], sights[0].cell)
    own = [action for _, action in history if action is not None]
    others = [_step(cell, target) for cell, target in pairwise(path)]
    turns = zip_longest(own, others) if player == 0 else zip_longest(others, own)
    moves = [action for turn in turns for action in turn if action is not None]
    return [*(place(seat, cell) for seat, cell in enumerate(starts)), *moves]


@lru_cache(maxsize=4096)
def count_paths(sights: tuple[Sight, ...], player: int) -> tuple[dict[int, int], ...]:
    """Counts the opponent's paths that fit.

    Args:
        sights: what the player saw at its own decision points, oldest first.
        player: who saw it.

    Returns:
        By step, then by cell of the opponent: how many paths lead there. Step 0 is the opponent's start; the last step
        is where it is now. Player 1 sees the opponent for the first time after its first move.
    """
    if player == 1:
        return _extended((dict.fromkeys(STARTS[0], 1),), sights)
    return _extended((dict.fromkeys(STARTS[1], 1),), sights[1:])


def _extended(counts: tuple[dict[int, int], ...], sights: tuple[Sight, ...]) -> tuple[dict[int, int], ...]:
    """Appends one step of the opponent for each of `sights`, which says where the player was meanwhile."""
    for own, quadrant in sights:
        # From the player's own cell no path goes on: it would have caught the opponent there, and the game ended.
        alive = {cell: paths for cell, paths in counts[-1].items() if cell != own}
        following: dict[int, int] = {}
        for cell, paths in alive.items():
            for target in TARGETS[cell]:
                if target != own and QUADRANTS[target] == quadrant:
                    following[target] = following.get(target, 0) + paths
        counts = (*counts[:-1], alive, following)
    return counts


def _draw_path(counts: tuple[dict[int, int], ...], rng: random.Random) -> list[int]:
    """Draws one of the counted paths, each equally likely."""
    path: list[int] = []
    for step in reversed(counts):
        # A step can be undone: the cells that lead to a cell are those that it leads to.
        before = [cell for cell in step if not path or cell in TARGETS[path[-1]]]
        path.append(rng.choices(before, [step[cell] for cell in before])[0])
    return path[::-1]


def _step(cell: int, target: int) -> Action:
    return next(action for action, reached in MOVES[cell].items() if reached == target)
