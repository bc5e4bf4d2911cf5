"""Games that see much: half of them at random, half with rare kinds of action as likely as common ones.

Uniformly random players seldom do what there is only one way to do, e.g. to end a hand, and never see what follows.
"""

import random
import re

from cwm.trajectories.recorded import Policy, Trajectory, game_seed, play, random_policy
from games.api import Action, Game, ObsActionHistory, State


def by_kind(game: Game, state: State, history: ObsActionHistory, player: int, rng: random.Random) -> Action:
    """Plays a random legal action of a random kind; actions that differ by numbers and marks alone are of one kind."""
    groups: dict[str, list[Action]] = {}
    for action in game.legal_actions(state):
        groups.setdefault(action_kind(action), []).append(action)
    return rng.choice(groups[rng.choice(sorted(groups))])


def varied_game(game: Game, seed: int, index: int) -> Trajectory:
    """Plays one game of a collection: those of even number at random, those of odd number by kind.

    Args:
        game: the game.
        seed: of the collection.
        index: number of the game.

    Raises:
        EndlessGameError: the game did not end.
    """
    policy: Policy = by_kind if index % 2 else random_policy
    return play(game, [policy] * game.info.num_players, game_seed(seed, index), index)


def action_kind(action: str) -> str:
    """Returns an action with everything but letters taken out, e.g. `move from to` for `move 3 from (0,1) to (2,2)`."""
    return " ".join(re.findall(r"[^\W\d_]+", action))
