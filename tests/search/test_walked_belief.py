"""A belief over a game that walks along histories is the belief that its pure functions give, and so is the search."""

import random
from typing import Any

import pytest

from cwm.trajectories.recorded import collect
from games import registry
from search import planner
from search.api import Decision, PlannerConfig, Position


class Pure:
    """A game without its walk."""

    def __init__(self, game: Any) -> None:
        self.info = game.info
        for name in ("initial_state", "current_player", "legal_actions", "chance_outcomes", "apply_action", "rewards"):
            setattr(self, name, getattr(game, name))
        self.observations = game.observations
        self.resample_history = game.resample_history
        self.playout = game.playout


@pytest.mark.parametrize("game_id", ["leduc_poker", "kuhn_poker", "bargaining", "gin_rummy"])
def test_a_search_is_the_same_with_and_without_the_walk(game_id: str) -> None:
    game = registry.make(game_id)
    config = PlannerConfig(algorithm="ismcts", simulations=40, rollouts=1, belief_size=15, widening_coefficient=2.0)
    for number, trajectory in enumerate(collect(game, 2, 3)):
        points = [i for i, step in enumerate(trajectory.steps) if step.player >= 0 and len(step.legal_actions) > 1]
        point = points[len(points) // 2]
        player = trajectory.steps[point].player
        position = Position(player, trajectory.history(player, point))
        walked, pure = (search(each, config, position, number) for each in (game, Pure(game)))
        assert walked == pure
        assert walked.simulations == 40


def search(game: Any, config: PlannerConfig, position: Position, seed: int) -> Decision:
    return planner.make(game, config).choose(position, random.Random(seed))
