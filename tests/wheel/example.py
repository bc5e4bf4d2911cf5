"""The README's example, as a user has it in a file."""

import random

from games import registry
from search import planner
from search.api import PlannerConfig, Position

game = registry.make("tic_tac_toe")
search = planner.make(game, PlannerConfig(algorithm="mcts", simulations=1000))
state = game.initial_state()
decision = search.choose(Position(0, [], state), random.Random(0))
print(decision.action)  # noqa: T201
