"""Trained policies with themselves under names of their own: `OtherPlay`'s games, by what the players' names share.

In self-play all players see the colours under the same names and the grid turned alike; Other-Play trains with names
and turns of each player's own. A policy that does worse where names agree leans on what tells the players apart.
"""

from collections.abc import Sequence

import jax
import numpy as np

from arena.checkpoints.on_game import LearnedPolicy
from arena.papers.yokai.play.name_figures import NameFigures, figures_of, name_figures
from arena.policy_play.cross_play import OnSeating, PolicyTable
from games.batched.keys import root_key
from games.batched.other_play import OtherPlay
from games.batched.yokai.environment import make
from games.yokai.symmetry import Symmetries
from search.learn.play.evaluation import PolicyEvaluator


def run(
    chosen: Sequence[LearnedPolicy],
    games: int,
    seed: int = 0,
    greedy: bool = False,
    on_policy: OnSeating | None = None,
) -> NameFigures:
    """Plays every policy with itself, each player through a symmetry that is drawn with the deal.

    Args:
        chosen: of one game, with distinct names, at least one.
        games: of each.
        seed: of the deals and symmetries, which are the same for all, and of what policies draw.
        greedy: take each policy's likeliest action.
        on_policy: told after each policy, with the number of all.
    """
    config = make(chosen[0].game).sizes.config
    symmetries = Symmetries(config)
    table = PolicyTable(chosen, symmetries)
    evaluator = PolicyEvaluator(OtherPlay(table.env, symmetries), table.steps, greedy)
    deals = table.deals(games, seed)
    drawn = np.asarray(jax.jit(evaluator.env.init)(deals).symmetry)
    seen = [[symmetries.elements[number] for number in players] for players in drawn.T]
    found = []
    for number, policy in enumerate(chosen, start=1):
        draws = jax.random.split(root_key("names", seed, policy.name), games)
        played = evaluator.play([table.seats[policy.name]] * config.players, deals, draws)
        score = np.asarray(played.outcome.figures["score_if_won"], np.float64)
        found.append(figures_of(policy.name, seen, score.tolist(), config.colours))
        if on_policy is not None:
            on_policy(number, len(chosen))
    return name_figures(found, config.colours, games)
