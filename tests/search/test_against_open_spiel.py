"""The same algorithms at the same simulations as OpenSpiel's Python bots: same statistics, same strength."""

import math
import random
import statistics
from typing import Any

import numpy as np
import pytest
from open_spiel.python.algorithms.ismcts import ISMCTSBot
from open_spiel.python.algorithms.mcts import MCTSBot, RandomRolloutEvaluator

from games import registry
from search import planner
from search.api import Decision, PlannerConfig, Position

HALF_RANGE = 13.0
"""Leduc's returns lie in [-13, 13]."""
CONSTANT = 6.5
"""UCB constant in chips."""

POSITIONS = {
    "first to act with a jack": ["0", "3"],
    "facing a raise with a queen": ["2", "0", "Raise"],
    "after a call with a queen": ["2", "5", "Call"],
    "second round with a jack": ["0", "2", "Raise", "Call", "4"],
    "second round with a pair, facing a raise": ["0", "2", "Call", "Raise", "Call", "3", "Raise"],
}


class Seen:
    """A game of Leduc under way, with what each player saw."""

    def __init__(self, game: Any) -> None:
        self.game = game
        self.state = game.initial_state()
        self.histories: list[list[Any]] = [[], []]

    def position(self) -> Position:
        player = self.game.current_player(self.state)
        return Position(player, [*self.histories[player], (self.game.observations(self.state)[player], None)])

    def act(self, action: str) -> None:
        player = self.game.current_player(self.state)
        if player >= 0:
            self.histories[player].append((self.game.observations(self.state)[player], action))
        self.state = self.game.apply_action(self.state, action)

    def deal(self, card: str) -> None:
        self.act(f"Chance outcome:{card}")


@pytest.fixture(scope="module")
def leduc() -> Any:
    return registry.make("leduc_poker")


def their_bot(leduc: Any, simulations: int, seed: int) -> ISMCTSBot:
    """Returns OpenSpiel's bot; it spends one simulation on opening the root, which it gets on top here."""
    source = np.random.RandomState(seed)
    return ISMCTSBot(leduc.native, RandomRolloutEvaluator(1, source), CONSTANT, simulations + 1, random_state=source)


def our_config(simulations: int) -> PlannerConfig:
    # A belief as large as the search draws every history anew, as OpenSpiel's bot does.
    return PlannerConfig("ismcts", simulations, CONSTANT / HALF_RANGE, rollouts=1, belief_size=simulations)


@pytest.mark.parametrize("moves", POSITIONS.values(), ids=POSITIONS)
def test_share_of_visits_and_values_at_the_root_are_those_of_open_spiel(leduc: Any, moves: list[str]) -> None:
    repeats, simulations = 60, 100
    seen = Seen(leduc)
    for move in moves:
        seen.deal(move) if move.isdigit() else seen.act(move)
    ours: list[Decision] = [
        planner.make(leduc, our_config(simulations)).choose(seen.position(), random.Random(seed))
        for seed in range(repeats)
    ]
    theirs: list[dict[str, Any]] = []
    for seed in range(repeats):
        bot = their_bot(leduc, simulations, seed)
        bot.run_search(seen.state)
        children = bot._root_node.child_info
        theirs.append({seen.state.action_to_string(number): child for number, child in children.items()})
    assert set(ours[0].visits) == set(theirs[0])
    for action in theirs[0]:
        assert_same_mean([d.visits[action] for d in ours], [edges[action].visits for edges in theirs])
        assert_same_mean([d.values[action] for d in ours], [edges[action].value() for edges in theirs])


def assert_same_mean(left: list[float], right: list[float]) -> None:
    error = math.sqrt(statistics.variance(left) / len(left) + statistics.variance(right) / len(right))
    assert abs(statistics.mean(left) - statistics.mean(right)) <= 4.0 * error + 1e-6


def test_tic_tac_toe_root_values_are_those_of_open_spiel() -> None:
    game = registry.make("tic_tac_toe")
    chooser = planner.make(game, PlannerConfig(simulations=200, exploration=2.0, rollouts=1))
    state = game.initial_state()
    ours = [chooser.choose(Position(0, [], state), random.Random(seed)) for seed in range(40)]
    theirs = []
    for seed in range(40):
        source = np.random.RandomState(seed)
        bot = MCTSBot(game.native, 2.0, 200, RandomRolloutEvaluator(1, source), solve=False, random_state=source)
        children = bot.mcts_search(state).children
        theirs.append({state.action_to_string(0, child.action): child for child in children})
    for action in ours[0].visits:
        assert_same_mean([d.visits[action] for d in ours], [edges[action].explore_count for edges in theirs])
        assert_same_mean(
            [d.values[action] for d in ours],
            [edges[action].total_reward / edges[action].explore_count for edges in theirs],
        )


def head_to_head(leduc: Any, deals: int, simulations: int) -> list[float]:
    """Returns for each deal, played in both seats, the chips that our bot won a game."""
    chooser = planner.make(leduc, our_config(simulations))
    won = []
    for deal in range(deals):
        source = random.Random(f"leduc deal {deal}")
        cards = source.sample("012345", 3)
        bot = their_bot(leduc, simulations, deal)
        total = 0.0
        for our_seat in (0, 1):
            seen = Seen(leduc)
            left = list(cards)
            while (player := leduc.current_player(seen.state)) != -4:
                if player == -1:
                    seen.deal(left.pop(0))
                elif player == our_seat:
                    seen.act(chooser.choose(seen.position(), source).action)
                else:
                    seen.act(seen.state.action_to_string(bot.step(seen.state)))
            total += seen.state.returns()[our_seat]
        won.append(total / 2.0)
    return won


@pytest.mark.slow
def test_leduc_poker_is_played_as_well_as_by_open_spiel(leduc: Any) -> None:
    """On common deals in both seats, the 95 % interval of our chips less theirs a game is at most ±0.1 and holds 0."""
    ahead = [2.0 * chips for chips in head_to_head(leduc, deals=5000, simulations=100)]
    mean, half_width = statistics.mean(ahead), 1.96 * statistics.stdev(ahead) / math.sqrt(len(ahead))
    print(f"chips a game, ours less those of OpenSpiel's ISMCTSBot: {mean:+.3f} ± {half_width:.3f}")  # noqa: T201
    assert half_width <= 0.1
    assert abs(mean) <= half_width
