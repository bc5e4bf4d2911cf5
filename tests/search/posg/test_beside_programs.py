"""Planners beside a program with a joint step use the functions that stand there: policy, values, inference."""

import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from cwm.sandbox.inside.joint_program import Contradiction, replayed
from cwm.sandbox.inside.program import LoadedCode
from cwm.synthesis.task import described
from games.posg.api import Choose, InfersPosg, PolicyOnHistory, PosgError, ValuesStates
from games.posg.serialised import SerialisedPosg
from games.posg.tiger.model import Tiger
from games.registry import make
from search.api import PlannerConfigError
from search.posg import planner, session
from search.posg.config import PosgPlannerConfig
from search.posg.told import moments

DATA = Path(__file__).parents[2] / "data"
PLACES = {"value": "value_source", "policy": "prior_source", "inference": "inference_source"}
SILENT = {"growl": None, "creak": None}
LEFT = {"growl": "left", "creak": "silence"}
LEGAL = ["open left", "open right", "listen"]


def loaded(game_id: str, *functions: str, **sources: str) -> Any:
    game = make(game_id)
    assert isinstance(game, SerialisedPosg)
    texts = {PLACES[name]: (DATA / "joint_functions" / f"{game_id}-{name}.py").read_text("utf-8") for name in functions}
    program = {
        "source": (DATA / "joint_programs" / f"{game_id}.py").read_text("utf-8"),
        "initial_state": None,
        "info": described(game.info, game.model.info),
    }
    return LoadedCode(program | texts | sources).instantiate()


TIGER = loaded("tiger-2a", "value", "policy", "inference")


def decided(program: Any, history: list[Any], **settings: Any) -> dict[str, Any]:
    config = PosgPlannerConfig(**settings).to_json()
    argument = {"config": config, "player": 0, "history": history, "legal": LEGAL}
    random.seed(0)  # as a worker does before each request
    return session.choose(program, argument, random.Random(0))


def test_what_stands_beside_a_program_is_all_that_its_game_can_do_more() -> None:
    plain = loaded("tiger-2a").posg
    for protocol in (PolicyOnHistory, ValuesStates, InfersPosg):
        assert isinstance(TIGER.posg, protocol)
        assert not isinstance(plain, protocol)


def test_a_new_leaf_is_worth_what_the_value_function_says() -> None:
    told = decided(TIGER, [[SILENT, None]], method="pomcp", simulations=2, leaf="value", discount=0.99, tables="always")
    # The first simulation opens the root; the second tries an action and values what it leads to, with 19 steps left.
    (action,) = [name for name, visits in told["visits"].items() if visits]
    paid = told["values"][action] - 0.99 * 0.5 * (1 - 0.99**19) / 0.01
    assert paid == pytest.approx(-1.0 if action == "listen" else min((10.0, -100.0), key=lambda one: abs(one - paid)))


def test_the_policy_beside_the_program_is_what_the_others_are_taken_to_do() -> None:
    model: Any = TIGER.posg
    config = PosgPlannerConfig(method="ipomcp", types=("prior",), belief="exact")
    made = planner.make(model, 0, config, session._policies(model))
    made.follow(moments([(SILENT, "listen"), (LEFT, "listen"), (LEFT, None)]), random.Random(0))
    chances = Counter[str]()
    for weight, particle in zip(made.belief.cloud.weights, made.belief.cloud.particles, strict=True):
        (mind,) = particle.minds
        for action, chance in zip(mind.actions, mind.chances, strict=True):
            chances[action] += weight * chance
    # The other agent was told of one growl or two, on the same side more often than not: it opens the other door.
    assert chances["open right"] > chances["open left"] > 0.02
    told = decided(TIGER, [[SILENT, None]], method="potmmcp", types=("prior",), episodes=1, simulations=50)
    assert told["fallback"] is None
    assert told["visits"]["listen"] > 25


def test_an_inference_draws_states_as_often_as_they_are_true() -> None:
    history = ((SILENT, "listen"), (LEFT, "listen"), (LEFT, None))
    random.seed(1)
    rng = random.Random(1)
    drawn = Counter(TIGER.posg.resample(history, 0, rng)[0] for _ in range(3000))
    config = PosgPlannerConfig(method="pomcp", belief="exact")
    made = planner.make(loaded("tiger-2a").posg, 0, config)
    made.follow(moments(list(history)), random.Random(0))
    cloud = made.belief.cloud
    states = [made.scope.steps.state(one.place) for one in cloud.particles]
    exact = sum(weight for weight, state in zip(cloud.weights, states, strict=True) if state == "left")
    assert drawn["left"] / 3000 == pytest.approx(exact, abs=0.03)


def test_an_inference_tells_what_the_others_saw_and_did() -> None:
    history = ((SILENT, "listen"), (LEFT, "open right"), ({"growl": "right", "creak": "right"}, None))
    random.seed(2)
    state, private = TIGER.posg.resample(history, 1, random.Random(2))
    assert state in ("left", "right")
    assert private[1] is None
    assert [action for _, action in private[0]][-1] is None
    assert {action for _, action in private[0][:-1]} <= set(LEGAL)
    assert next(told for told, _ in private[0]) == SILENT
    assert len(private[0]) == 3


def test_a_sample_names_no_draw_of_probability_zero() -> None:
    class Certain(Tiger):
        def initial_state(self, choose: Choose) -> str:
            return str(choose("tiger", [("left", 1.0), ("right", 0.0)]))

    history = [((None, None), None)]
    assert replayed(Certain(), [(None, {"tiger": "left"})], history, 0, random.Random(0))[0] == "left"
    with pytest.raises(Contradiction, match="'tiger' cannot be drawn as 'right' in the start"):
        replayed(Certain(), [(None, {"tiger": "right"})], history, 0, random.Random(0))


def test_a_policy_whose_answer_is_none_makes_a_move_random_or_spoils_the_planner() -> None:
    program = loaded(
        "tiger-2a", prior_source="def policy_prior(history, legal, agent):\n    return [3.0, -1.0, -1.0]\n"
    )
    told = decided(program, [[SILENT, None]], method="ipomcp", types=("prior",), simulations=2, particles=2)
    assert told["action"] in LEGAL
    assert told["fallback"].startswith("the policy 'prior' gives [3.0, -1.0, -1.0] for open left, open right, listen;")
    with pytest.raises(PosgError, match="the policy 'prior' gives"):
        decided(program, [[SILENT, None]], method="potmmcp", types=("prior",), simulations=2, episodes=1)


NARROW = """
ACTIONS = ["open left", "open right", "listen"]
def initial_state(choose): return 0
def active(state): return [0, 1] if state < 4 else []
def legal_actions(state, agent): return ACTIONS[state % 2 :][:2] if state < 4 else []
def move(state, actions, choose): return state + 1, [0.0, 0.0], [state == 3] * 2
def observe(state, actions, choose): return [state, state]
"""
PLAYED = """
import random
def resample_history(history, agent):
    joints = [[action, random.choice([["open left", "open right"], ["open right", "listen"]][number % 2])]
              for number, (_, action) in enumerate(history[:-1])]
    return [(None, {}), *((joint, {}) for joint in joints)]
"""
STRICT = """
def policy_prior(history, legal, agent):
    assert len(legal) == 2, legal
    return [0.9, 0.1]
"""


def test_under_an_inferred_belief_policies_are_asked_about_what_was_legal_then() -> None:
    program = loaded("tiger-2a", source=NARROW, inference_source=PLAYED, prior_source=STRICT)
    history = [(0, "open left"), (1, "listen"), (2, None)]
    config = PosgPlannerConfig(method="ipomcp", types=("prior", "uniform"), belief="inferred", particles=50)
    for length in (2, 3):
        made = planner.make(program.posg, 0, config, session._policies(program.posg))
        seen = [*history[: length - 1], (history[length - 1][0], None)]
        made.follow(moments(seen), random.Random(0))
        minds = [mind for particle in made.belief.cloud.particles for mind in particle.minds]
        assert {len(mind.legal) for mind in minds} == {2}


def test_where_the_inference_fails_the_belief_is_carried_on_without_it() -> None:
    wrong = "def resample_history(history, agent):\n    return []\n"
    program = loaded("tiger-2a", inference_source=wrong)
    history = [[SILENT, "listen"], [LEFT, None]]
    told = decided(program, history, method="pomcp", belief="inferred", simulations=50, particles=50)
    assert told["fallback"] is None
    assert told["simulations"] == 50
    (problem,) = told["errors"]
    assert "resample_history gave no game that fits in 20 calls: expected 1 entries" in problem


ASKED: list[tuple[dict[str, Any], str]] = [
    ({"method": "pomcp", "leaf": "value"}, "value"),
    ({"method": "potmmcp", "types": ("prior", "uniform")}, "prior"),
    ({"method": "ipomcp", "types": ("uniform",), "unknown": 0.1, "unknown_as": "softened:prior"}, "prior"),
    ({"method": "pomcp", "belief": "inferred"}, "resample"),
]


@pytest.mark.parametrize(("settings", "kind"), ASKED)
def test_settings_that_need_a_function_are_refused_where_none_stands_beside(
    settings: dict[str, Any], kind: str
) -> None:
    config = PosgPlannerConfig(**settings)
    session.check_types(config, [kind])
    with pytest.raises(PlannerConfigError, match=r"no value function|no policy stands beside|without an inference"):
        session.check_types(config, {"value", "prior", "resample"} - {kind})


def test_a_value_that_is_no_number_is_an_error_of_the_search_and_no_value() -> None:
    program = loaded("tiger-2a", value_source="def value_function(state, agent, steps):\n    return None\n")
    with pytest.raises(PosgError, match="value_function answers None, expected a finite number"):
        program.posg.state_value("left", 0, 3)
