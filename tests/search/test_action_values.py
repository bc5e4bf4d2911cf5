"""Values of actions by play-outs: exact where a game is written out by hand, paired, and with a true error."""

import math
import random
from collections.abc import Sequence
from typing import Any

import pytest

from search.action_values import HistoryPlayouts, PolicyPlayouts, ValueConfig, action_values, ratings
from search.api import PlannerConfigError
from search.errors import SearchFailedError
from search.priors import uniform


def always(choice: str) -> Any:
    """Returns a policy that takes `choice` wherever it is legal."""

    def policy(state: Any, actions: Sequence[str], player: int) -> list[float]:
        return [float(action == choice) if choice in actions else 1.0 / len(actions) for action in actions]

    return policy


def test_values_are_what_the_player_gets_in_the_whole_game(paid_on_the_way: Any) -> None:
    found = action_values(
        paid_on_the_way,
        [({"sees": None}, None)],
        0,
        ValueConfig(4),
        random.Random(0),
        playouts=PolicyPlayouts(paid_on_the_way, uniform),
        truth=[],
    )
    assert [tuple(value) for value in found] == [("late", 2.0, 0.0, 4), ("early", 3.0, 0.0, 4)]


def test_a_player_who_knows_the_coin_values_its_calls_by_it_and_one_who_does_not_by_both(blind_call: Any) -> None:
    game = blind_call(seen=False)
    rng, config = random.Random(3), ValueConfig(400)
    blind = action_values(
        game, [({"sees": None}, None)], 0, config, rng, playouts=PolicyPlayouts(game, always("heads"))
    )
    values = {value.action: value for value in blind}
    assert values["pass"].mean == -0.5
    assert values["pass"].se == 0.0
    assert abs(values["bet"].mean) < 4 * values["bet"].se
    assert values["bet"].se == pytest.approx(1 / math.sqrt(400), rel=0.05)
    oracle = action_values(
        game, [({"sees": None}, None)], 0, config, rng, playouts=PolicyPlayouts(game, always("heads")), truth=["tails"]
    )
    assert {value.action: value.mean for value in oracle} == {"bet": 1.0, "pass": -0.5}


def test_all_actions_meet_the_same_luck(two_doors: Any) -> None:
    found = action_values(
        two_doors,
        [({"sees": None}, None)],
        0,
        ValueConfig(500),
        random.Random(5),
        playouts=PolicyPlayouts(two_doors, uniform),
        truth=[],
    )
    left, right = (value for value in found)
    assert left.mean == right.mean
    assert left.se == right.se > 0


def test_bots_that_look_at_what_they_saw_play_on_by_their_own_view(meet: Any) -> None:
    seen = []

    def guess(history: Any, legal: Sequence[str], rng: random.Random) -> str:
        seen.append(list(history))
        return "sun"

    found = action_values(
        meet, [({"sees": "moon"}, None)], 0, ValueConfig(2), random.Random(1), playouts=HistoryPlayouts(meet, guess)
    )
    assert {value.action: value.mean for value in found} == {"near": 0.0, "far": -1.0}
    assert seen[:2] == [[({"sees": "near"}, None)], [({"sees": "far"}, None)]]


def test_the_games_own_policy_plays_on_where_nobody_else_is_named(late_coin: Any, meet: Any) -> None:
    found = action_values(late_coin, [({"sees": "start"}, None)], 0, ValueConfig(2), random.Random(1))
    assert [tuple(value) for value in found] == [("wait", 0.0, 0.0, 2)]
    with pytest.raises(PlannerConfigError, match="written has no policy prior to play on by: name a player that does"):
        action_values(meet, [({"sees": "moon"}, None)], 0, ValueConfig(2), random.Random(1))


def test_what_cannot_be_valued_is_said_in_a_sentence(meet: Any, paid_on_the_way: Any) -> None:
    playouts, rng = PolicyPlayouts(meet, uniform), random.Random(1)
    with pytest.raises(PlannerConfigError, match="worlds is 1, expected a whole number of at least 2"):
        ValueConfig(1)
    with pytest.raises(SearchFailedError, match="its last action None"):
        action_values(meet, [], 0, ValueConfig(2), rng, playouts=playouts)
    with pytest.raises(PlannerConfigError, match="no inference function that samples histories: give the true one"):
        action_values(paid_on_the_way, [({"sees": None}, None)], 0, ValueConfig(2), rng, playouts=playouts)

    def broken(state: Any, actions: Sequence[str], player: int) -> list[float]:
        raise KeyError("board")

    with pytest.raises(SearchFailedError, match=r"games failed in 6 of 6 worlds, last KeyError: 'board'\."):
        action_values(meet, [({"sees": "moon"}, None)], 0, ValueConfig(10), rng, playouts=PolicyPlayouts(meet, broken))


def test_ratings_go_from_minus_one_to_one_and_do_not_blow_up_small_differences() -> None:
    assert ratings([3.0, 5.0, 1.0]) == [0.0, 1.0, -1.0]
    assert ratings([2.0, 1.9]) == pytest.approx([1.0, 0.8])
    assert ratings([2.0]) == [1.0]
