"""Exact steps, beliefs and best responses of small games."""

import math
import random
from collections.abc import Sequence

import pytest

from games.api import Action
from games.posg import registry
from games.posg.api import PosgError
from games.posg.best_response import AtRandom, BestResponse, Memory, OnHistory, best_team_value
from games.posg.chance import drawing
from games.posg.exact import ExactModel

NOTHING = (None, None)


@pytest.mark.parametrize(("horizon", "value"), [(1, 1.0), (2, 2.0), (3, 2.99)])
def test_the_best_team_of_the_broadcast_channel_gets_what_is_published(horizon: int, value: float) -> None:
    assert best_team_value(registry.make("mabc"), horizon) == pytest.approx(value)


def test_lost_messages_are_worth_less_to_the_team() -> None:
    kept, lost = registry.make("mabc"), registry.make("mabc", variant="posggym")
    both = ("send", "send")
    assert {step.state for step in ExactModel(kept).steps((1, 1), both)} == {(1, 1)}
    chances = [step.probability for step in ExactModel(lost).steps((1, 1), both) if step.state == (1, 1)]
    assert math.fsum(chances) == pytest.approx(0.9 * 0.1)


def test_steps_are_remembered_and_sum_to_one() -> None:
    exact = ExactModel(registry.make("tiger-2a"))
    steps = exact.steps("left", ("listen", "open right"))
    assert exact.steps("left", ("listen", "open right")) is steps
    assert math.fsum(step.probability for step in steps) == pytest.approx(1.0)
    assert {tuple(step.rewards) for step in steps} == {(-1.0, 10.0)}
    assert len(exact.starts()) == 2


class Always(AtRandom):
    """Always does the same."""

    def __init__(self, action: Action) -> None:
        self.action = action

    def probabilities(self, memory: Memory, legal: Sequence[Action], agent: int) -> Sequence[float]:
        return [float(one == self.action) for one in legal]


def test_the_tiger_is_believed_where_it_growls() -> None:
    response = BestResponse(registry.make("tiger-2a"), 0, (None, Always("listen")), 3)
    once = [(NOTHING, "listen"), (("left", "silence"), None)]
    assert response.states(once) == pytest.approx({"left": 0.85, "right": 0.15})
    twice = [(NOTHING, "listen"), (("left", "silence"), "listen"), (("left", "left"), None)]
    assert response.states(twice)["left"] == pytest.approx(0.85**2 / (0.85**2 + 0.15**2))


def test_a_door_is_opened_after_two_growls_and_not_after_one() -> None:
    response = BestResponse(registry.make("tiger-2a"), 0, (None, Always("listen")), 3)
    once = [(NOTHING, "listen"), (("left", "silence"), None)]
    twice = [(NOTHING, "listen"), (("left", "silence"), "listen"), (("left", "silence"), None)]
    assert response.values(once)["open right"] == pytest.approx(0.85 * 10 - 0.15 * 100 - 1)  # then there is one listen
    assert (response.choice(once), response.choice(twice)) == ("listen", "open right")
    agreed = 0.85**2 + 0.15**2
    right = 0.85**2 / agreed
    assert response.value() == pytest.approx(-2 + agreed * (10 * right - 100 * (1 - right)) - (1 - agreed))


def test_memories_of_the_others_change_nothing_where_they_act_at_random() -> None:
    forgetful = BestResponse(registry.make("mabc"), 1, (AtRandom(), None), 3)
    mindful = BestResponse(registry.make("mabc"), 1, (OnHistory(lambda history, legal, agent: [0.5, 0.5]), None), 3)
    history = [("clear", "send"), ("collision", None)]
    assert mindful.value() == pytest.approx(forgetful.value())
    assert mindful.states(history) == pytest.approx(forgetful.states(history))
    assert len(mindful.belief(history)) > len(forgetful.belief(history))


def test_a_best_response_is_worth_what_playing_it_pays() -> None:
    model, rng = registry.make("mabc"), random.Random(0)
    response = BestResponse(model, 0, (None, AtRandom()), 2)
    total = 0.0
    for _ in range(4000):
        draw = drawing(rng)
        state = model.initial_state(draw)
        history: list[tuple[str, Action | None]] = [(model.observe(state, None, draw)[0], None)]
        for _ in range(2):
            action = response.choice(history)
            joint = (action, rng.choice(["send", "wait"]))
            state, rewards, _ = model.move(state, joint, draw)
            history[-1] = (history[-1][0], action)
            history.append((model.observe(state, joint, draw)[0], None))
            total += rewards[0]
    assert total / 4000 == pytest.approx(response.value(), abs=0.04)


def test_what_cannot_be_seen_is_refused() -> None:
    response = BestResponse(registry.make("mabc"), 0, (None, Always("wait")), 2)
    with pytest.raises(PosgError, match=r"agent 0 cannot see 'noise' after \[\]"):
        response.values([("noise", None)])
    with pytest.raises(PosgError, match="give one way to act for every agent but agent 0"):
        BestResponse(registry.make("mabc"), 0, (None, None), 2)


def test_a_team_value_is_one_of_games_that_pay_alike() -> None:
    with pytest.raises(PosgError, match="tiger-2a is no game of two agents who are paid alike"):
        best_team_value(registry.make("tiger-2a"), 1)
