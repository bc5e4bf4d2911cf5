"""A trained policy against random players on the model, greedily."""

import numpy as np

from arena.training_on_models import results
from arena.training_on_models.results import Results
from cwm.model.environment import ModelEnvironment
from search.learn.api import Params
from search.learn.ppo.host_play import HostPolicy

MOST_STEPS = 1_000_000
"""A policy whose games do not end is judged by those that did."""


def evaluate(policy: HostPolicy, params: Params, environment: ModelEnvironment, games: int) -> Results:
    """Plays games side by side, equally many at each place, so that short ones count no more than long ones.

    Args:
        policy: plays the likeliest action.
        params: of its network.
        environment: whose games are begun.
        games: at least so many, unless the model cuts them.
    """
    places = environment.config.games
    quota = -(-games // places)
    found: list[list[list[float]]] = [[] for _ in range(places)]
    cut = np.zeros(places, np.int64)
    arrived = environment.begin()
    memory, starts = policy.network.initial_memory(places), np.ones(places, np.bool_)
    for _ in range(MOST_STEPS):
        for place, returns in arrived.finished:
            found[place].append(returns)
        if all(len(rows) + gone >= quota for rows, gone in zip(found, cut, strict=True)):
            break
        choice = policy.greedy(params, memory, arrived.observations, starts, arrived.legal)
        memory = choice.memory
        arrived = environment.step(np.asarray(choice.action))
        starts = arrived.ended
        cut += arrived.cut
    return results.of_games([returns for rows in found for returns in rows[:quota]], environment.config.seat)
