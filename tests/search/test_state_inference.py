"""ISMCTS on games whose inference function samples the state alone."""

import random
from collections import Counter
from typing import Any

import pytest

from games.api import ResamplesHistory, ResamplesState
from search import planner
from search.api import Decision, PlannerConfig, PlannerConfigError, Position
from search.belief import Belief
from search.errors import ErrorCount, NoHistoryError

HIGH_BID = [({"sees": "high"}, None)]


class StateOnly:
    """Another game, whose inference function gives the state at the end of the sampled history."""

    def __init__(self, game: Any) -> None:
        for name in (
            "info",
            "initial_state",
            "current_player",
            "legal_actions",
            "chance_outcomes",
            "apply_action",
            "rewards",
            "observations",
        ):
            setattr(self, name, getattr(game, name))
        self._game = game

    def resample_state(self, history: Any, player: int, rng: random.Random) -> Any:
        drawn = self._game.resample_history(history, player, rng)
        history.clear()
        return drawn


def believe(game: Any, errors: ErrorCount | None = None, **settings: Any) -> Belief:
    config = PlannerConfig(algorithm="ismcts", **settings)
    return Belief(game, game, Position(1, HIGH_BID), config, random.Random(0), errors or ErrorCount())


def decide(game: Any, history: Any, player: int, simulations: int, **settings: Any) -> Decision:
    config = PlannerConfig(algorithm="ismcts", simulations=simulations, rollouts=1, **settings)
    return planner.make(game, config).choose(Position(player, history), random.Random(0))


def test_a_game_says_which_inference_it_offers(pennies_game: Any) -> None:
    game = StateOnly(pennies_game)
    assert isinstance(game, ResamplesState)
    assert not isinstance(game, ResamplesHistory)
    assert not isinstance(pennies_game, ResamplesState)


def test_particles_follow_the_state_sampler(pennies_game: Any) -> None:
    belief = believe(StateOnly(pennies_game), belief_size=2000)
    coins = Counter(belief.next().state[0] for _ in range(2000))
    assert coins["heads"] / 2000 == pytest.approx(0.75, abs=0.03)
    assert belief.counts.to_json() == {"tries": 2000, "accepted": 2000, "distinct": 2, "loose": 0}


def test_state_that_shows_the_player_something_else_is_refused(pennies_game: Any) -> None:
    game: Any = StateOnly(pennies_game)
    game.resample_state = lambda history, player, rng: ["heads", "low"]
    belief = believe(game)
    with pytest.raises(NoHistoryError, match="none of 10 sampled histories"):
        belief.next()
    assert belief.any_state() == ["heads", "low"]


def test_state_in_which_another_player_is_to_move_is_an_error_of_the_model(pennies_game: Any) -> None:
    game: Any = StateOnly(pennies_game)
    game.resample_state = lambda history, player, rng: ["heads"]
    errors = ErrorCount()
    belief = believe(game, errors)
    with pytest.raises(NoHistoryError):
        belief.next()
    assert belief.any_state() is None
    assert errors.to_json() == {
        "BrokenModelError: a sampled state is one in which player 1 is not to move": 10,
    }


def test_caller_calls_the_likelier_coin(pennies_game: Any) -> None:
    decision = decide(StateOnly(pennies_game), HIGH_BID, 1, 2000, exploration=4.0)
    assert decision.action == "heads"
    assert decision.values["heads"] == pytest.approx(0.5, abs=0.1)
    assert decision.values["tails"] == pytest.approx(-0.5, abs=0.1)


def test_opponent_who_does_not_see_the_coin_calls_it_blindly(blind_call: Any) -> None:
    """The sampled states hold the coin; the opponent's plan must be one for both."""
    decision = decide(StateOnly(blind_call(seen=False)), [({"sees": None}, None)], 0, 4000)
    assert decision.action == "bet"
    assert decision.values["bet"] == pytest.approx(0.0, abs=0.15)


def test_a_belief_that_reads_the_past_is_refused_where_there_is_none(pennies_game: Any) -> None:
    game: Any = StateOnly(pennies_game)
    game.policy = lambda state, actions, player: [1.0 / len(actions)] * len(actions)
    with pytest.raises(PlannerConfigError, match="infers states without their past: use belief_temper=0"):
        planner.make(game, PlannerConfig(algorithm="ismcts", belief_temper=1.0))
