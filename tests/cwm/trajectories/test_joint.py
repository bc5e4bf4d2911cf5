"""Joint steps are read out of games that were recorded in turns."""

import pytest

from cwm.trajectories.joint import JointStep, joint_steps
from cwm.trajectories.recorded import collect
from games import registry
from games.posg.api import observation_to_json
from games.posg.chance import replaying
from games.posg.registry import ids
from games.posg.registry import make as rules_of
from games.posg.serialised import name_of, outcome_of


def test_a_step_holds_what_was_done_drawn_paid_and_told() -> None:
    start, step = joint_steps(collect(registry.make("cat-dog"), 1, 0)[0])
    acts = ("lamp on", "lamp off", "open door", "give up")
    told = ({"pet": "dog", "done": None}, {"pet": None, "done": None})
    chance = {"pet": (("cat", 0.5), ("dog", 0.5))}
    expected = JointStep(None, {"pet": "dog"}, chance, told, (0.0, 0.0), (False, False), (0,), (acts, ()))
    assert start == expected
    done = ({"pet": "dog", "done": "give up"}, {"pet": None, "done": "give up"})
    assert step == JointStep(("give up", None), {}, {}, done, (1.0, 1.0), (True, True), (), ((), ()))


def test_who_acts_next_is_unknown_where_a_game_was_broken_off() -> None:
    *_, before, last = joint_steps(collect(registry.make("rps-repeated"), 1, 0)[0])
    assert (before.active, last.active, last.over) == ((0, 1), None, (False, False))


@pytest.mark.parametrize("game", ids())
def test_the_true_rules_make_the_same_of_the_recorded_draws(game: str) -> None:
    model = rules_of(game)
    state = None
    for step in joint_steps(collect(registry.make(game), 1, 3)[0]):
        draws = replaying(step.log)
        if step.joint is None:
            joint, state = None, model.initial_state(draws)
        else:
            joint = tuple(action or model.info.actions[agent][0] for agent, action in enumerate(step.joint))
            state, rewards, over = model.move(state, joint, draws)
            assert (tuple(rewards), tuple(over)) == (step.rewards, step.over)
        told = model.observe(state, joint, draws)
        assert [observation_to_json(model, agent, one) for agent, one in enumerate(told)] == list(step.observations)
        if step.active is not None:
            assert tuple(model.active(state)) == step.active
            legal = [tuple(model.legal_actions(state, agent)) for agent in range(model.info.num_agents)]
            assert tuple(legal) == step.legal


@pytest.mark.parametrize("outcome", ["left", "", "a: b", 3, 2.5, None, True, [1, 2], {"a": [1]}])
def test_an_outcome_is_read_back_from_its_action(outcome: object) -> None:
    assert outcome_of("draw: 2", name_of("draw: 2", outcome)) == outcome
