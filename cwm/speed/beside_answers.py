"""What the functions beside a model answer on given states. Loaded into workers: standard library alone."""

import random
from typing import Any

from games.api import EstimatesPolicy, EstimatesValue, Game


def answers(game: Game, argument: dict[str, Any], rng: random.Random) -> list[dict[str, Any]]:
    """Asks the value function and the policy prior, where the model has them.

    Args:
        game: a model.
        argument: `states`: a list of `{state, player, legal}`; `player` is negative where nobody is to move.
        rng: not used.

    Returns:
        For each state `values`, one a player, and `policy`, one a legal action; each [] where there is none.
    """
    found = []
    for asked in argument["states"]:
        state, player = asked["state"], asked["player"]
        values = (
            [game.value(state, who) for who in range(game.info.num_players)] if isinstance(game, EstimatesValue) else []
        )
        policy = (
            list(game.policy(state, asked["legal"], player))
            if player >= 0 and isinstance(game, EstimatesPolicy)
            else []
        )
        found.append({"values": values, "policy": policy})
    return found
