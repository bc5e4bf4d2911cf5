import gc
import random
from collections import Counter
from typing import Any

import pytest

from search.api import PlannerConfig, Position
from search.belief import Belief
from search.errors import ErrorCount, NoHistoryError
from search.info_tree import Scene
from search.ismcts import Ismcts
from search.particles import HistoryKeys, Particle


def believe(game: Any, history: Any, player: int, **settings: Any) -> Belief:
    config = PlannerConfig(algorithm="ismcts", **settings)
    return Belief(game, game, Position(player, history), config, random.Random(0), ErrorCount())


HIGH_BID = [({"sees": "high"}, None)]


def test_particles_follow_the_inference_function(pennies_game: Any) -> None:
    belief = believe(pennies_game, HIGH_BID, 1, belief_size=2000)
    coins = Counter(belief.next().state[0] for _ in range(2000))
    assert coins["heads"] / 2000 == pytest.approx(0.75, abs=0.03)
    assert belief.counts.to_json() == {"tries": 2000, "accepted": 2000, "distinct": 2, "loose": 0}


def test_pool_is_filled_as_asked_and_then_shared_in_turn(pennies_game: Any) -> None:
    belief = believe(pennies_game, HIGH_BID, 1, belief_size=5)
    first = [belief.next() for _ in range(3)]
    assert belief.counts.tries == 3
    rest = [belief.next() for _ in range(7)]
    assert belief.counts.tries == 5
    assert rest[2:] == first + rest[:2]


def test_equal_histories_are_replayed_once(pennies_game: Any) -> None:
    belief = believe(pennies_game, HIGH_BID, 1, belief_size=50)
    assert len({id(belief.next()) for _ in range(50)}) == 2


def test_history_that_shows_the_player_something_else_is_refused(pennies_game: Any) -> None:
    class Wrong(type(pennies_game)):  # type: ignore[misc]
        def resample_history(self, history: Any, player: int, rng: random.Random) -> list[str]:
            return ["heads", "low"]

    belief = believe(Wrong(pennies_game.root, 2, "zero_sum", -1.0, 1.0, perfect=False), HIGH_BID, 1)
    with pytest.raises(NoHistoryError, match="none of 10 sampled histories"):
        belief.next()
    assert belief.any_state() == ["heads", "low"]


def test_ten_tries_are_made_by_default_and_a_late_fit_is_taken(pennies_game: Any) -> None:
    class Late(type(pennies_game)):  # type: ignore[misc]
        asked = 0

        def resample_history(self, history: Any, player: int, rng: random.Random) -> list[str]:
            self.asked += 1
            if self.asked == 10:
                return ["tails", "high"]
            if self.asked % 2:
                raise RuntimeError("not now")
            return ["tails", "low"]

    errors = ErrorCount()
    game = Late(pennies_game.root, 2, "zero_sum", -1.0, 1.0, perfect=False)
    belief = Belief(game, game, Position(1, HIGH_BID), PlannerConfig("ismcts"), random.Random(0), errors)
    assert belief.next().state == ["tails", "high"]
    assert errors.to_json() == {"RuntimeError: not now": 5}


def test_inference_function_that_spoils_its_input_spoils_nothing_else(pennies_game: Any) -> None:
    class Spoiler(type(pennies_game)):  # type: ignore[misc]
        def resample_history(self, history: Any, player: int, rng: random.Random) -> list[str]:
            drawn = super().resample_history(history, player, rng)
            history[0][0].clear()
            history.clear()
            return drawn

    history = [({"sees": "high"}, None)]
    belief = believe(Spoiler(pennies_game.root, 2, "zero_sum", -1.0, 1.0, perfect=False), history, 1)
    assert {belief.next().state[1] for _ in range(20)} == {"high"}
    assert history == HIGH_BID


def test_history_with_another_past_is_taken_only_for_lack_of_better() -> None:
    game = TwoLooks()
    history = [({"now": "a"}, "on"), ({"now": "end"}, None)]
    wrong_past, right_past = ["b", "on"], ["a", "on"]
    game.offers = [wrong_past] * 3 + [right_past] + [wrong_past] * 10
    belief = believe(game, history, 0, belief_size=2)
    assert belief.next().actions == ("a", "on")
    assert belief.counts.loose == 0
    assert belief.next().actions == ("b", "on")
    assert belief.counts.to_json() == {"tries": 14, "accepted": 2, "distinct": 1, "loose": 1}


class TwoLooks:
    """Chance draws a letter, the player sees it and goes on, and then no longer sees it."""

    offers: list[list[str]]

    def __init__(self) -> None:
        self.info = type("Info", (), {"num_players": 1})()

    def initial_state(self) -> list[str]:
        return []

    def current_player(self, state: list[str]) -> int:
        return 0 if state else -1

    def apply_action(self, state: list[str], action: str) -> list[str]:
        return [*state, action]

    def observations(self, state: list[str]) -> list[dict[str, Any]]:
        return [{"now": state[0] if len(state) == 1 else "end"}]

    def resample_history(self, history: Any, player: int, rng: random.Random) -> list[str]:
        return self.offers.pop(0)


def test_key_ignores_the_order_of_keys_and_tells_apart_all_else() -> None:
    keys = HistoryKeys()
    start = keys.start(0)
    assert keys.seen(start, {"a": 1, "b": [2]}) == keys.seen(start, {"b": [2], "a": 1})
    different = {
        start,
        keys.start(1),
        keys.seen(start, {"a": 1}),
        keys.seen(start, {"a": 2}),
        keys.seen(keys.start(1), {"a": 1}),
        keys.done(keys.seen(start, {"a": 1}), "go"),
        keys.done(keys.seen(start, {"a": 1}), "stay"),
    }
    assert len(different) == 7


def test_opponents_with_different_private_histories_have_different_keys(pennies_game: Any) -> None:
    belief = believe(pennies_game, HIGH_BID, 1, belief_size=40)
    keys = {p.actions[0]: p.key(0, pennies_game, belief.keys) for p in (belief.next() for _ in range(40))}
    assert len(set(keys.values())) == 2


def test_key_of_a_history_is_the_key_of_its_replay(pennies_game: Any) -> None:
    belief = believe(pennies_game, HIGH_BID, 1)
    particle = belief.next()
    assert particle.key(0, pennies_game, belief.keys) == belief.keys.of([({"sees": particle.actions[0]}, "high")], 0)


def test_states_of_the_others_decisions_go_once_their_keys_are_known(pennies_game: Any) -> None:
    belief = believe(pennies_game, HIGH_BID, 1)
    particle = belief.next()
    assert [(mover, action) for mover, _, action in particle.trail] == [(0, "high")]
    first = belief.key(particle, 0)
    assert particle.trail == []
    assert belief.key(particle, 0) == first


def test_a_search_leaves_nothing_for_the_garbage_collector(pennies_game: Any) -> None:
    planner = Ismcts(pennies_game, pennies_game, PlannerConfig(algorithm="ismcts", simulations=20, rollouts=1))
    gc.collect()
    # Those of searches that other tests of the process still hold.
    others = states_of_searches()
    gc.disable()
    try:
        planner.choose(Position(1, HIGH_BID), random.Random(0))
        left = len(states_of_searches())
    finally:
        gc.enable()
    assert left == len(others)


def states_of_searches() -> list[object]:
    return [item for item in gc.get_objects() if isinstance(item, Particle | Scene)]
