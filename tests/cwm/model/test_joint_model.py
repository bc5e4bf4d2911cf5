"""A program with a joint step, asked from the parent draw by draw, plays as the true rules do."""

from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from cwm.model.bundle import ModelBundle, ModelBundleError, describe
from cwm.model.joint_model import JointWorldModel
from cwm.model.world_model import WorldModel, WorldModelError
from cwm.sandbox.parent.host import Sandbox
from cwm.trajectories.recorded import collect
from games import registry
from games.api import Json
from games.posg.serialised import SerialisedPosg

PROGRAMS = Path(__file__).parents[2] / "data" / "joint_programs"


def bundle_of(game_id: str, source: str = "") -> ModelBundle:
    game = registry.make(game_id)
    assert isinstance(game, SerialisedPosg)
    text = source or (PROGRAMS / f"{game_id}.py").read_text(encoding="utf-8")
    return ModelBundle(text, None, None, describe(game.info, game.model.info), "rules")


def test_games_on_a_right_program_are_those_of_the_true_rules() -> None:
    true_games = collect(registry.make("tiger-2a"), 1, 0)
    with JointWorldModel(bundle_of("tiger-2a"), Sandbox()) as model:
        games = collect(SerialisedPosg(model), 1, 0)
    for game, true_game in zip(games, true_games, strict=True):
        assert [(step.player, step.action, step.observations, step.rewards) for step in game.steps] == [
            (step.player, step.action, step.observations, step.rewards) for step in true_game.steps
        ]


def test_what_is_fixed_about_the_game_is_kept_with_the_model(tmp_path: Path) -> None:
    bundle = bundle_of("cat-dog")
    bundle.save(tmp_path)
    loaded = ModelBundle.load(tmp_path)
    true_game = registry.make("cat-dog")
    assert isinstance(true_game, SerialisedPosg)
    assert (loaded.hash, loaded.joint, loaded.joint_info) == (bundle.hash, True, true_game.model.info)
    assert loaded.game_info == true_game.info


DAMAGED: list[Any] = [
    ({"actions": []}, "expected a list of actions for each of 2 agents, got \\(\\)"),
    ({"actions": [["listen"], []]}, "expected a list of actions for each of 2 agents"),
    ({"actions": [["listen"], [5]]}, "actions are .*, expected text"),
    ({"actions": None}, "TypeError"),
    ({"agent_names": []}, "agent_names are \\(\\), expected a list of names"),
    ({"speed": 1}, "TypeError: .*'speed'"),
    ({"max_step": 10**400}, "max_step is 1000"),
    ({"step_limit": 0}, "step_limit is 0, expected a whole number from 1, or null"),
    ({"utility": "all"}, "utility is 'all', expected win_loss_draw or"),
]


@pytest.mark.parametrize(("changes", "problem"), DAMAGED)
def test_what_is_said_of_a_joint_step_is_read_with_the_model(
    tmp_path: Path, changes: dict[str, Any], problem: str
) -> None:
    right = bundle_of("tiger-2a")
    replace(right, info={**right.info, "joint": right.info["joint"] | changes}).save(tmp_path)
    with pytest.raises(ModelBundleError, match=rf"model\.json: its `joint`, .* is damaged \({problem}.*: restore it"):
        ModelBundle.load(tmp_path)
    without = {name: value for name, value in right.info["joint"].items() if name != "actions"}
    replace(right, info={**right.info, "joint": without}).save(tmp_path)
    with pytest.raises(ModelBundleError, match="KeyError: 'actions'"):
        ModelBundle.load(tmp_path)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("def initial_state(choose):\n    return 1 / 0\n", "ZeroDivisionError in line 2"),
        ("def initial_state(choose):\n    return choose('pet', [('cat', 0.5)])\n", "they sum to 0.5"),
        ("def active(state):\n    return 7\n", "the program does not define initial_state"),
    ],
)
def test_a_wrong_program_is_named_in_a_sentence(source: str, message: str) -> None:
    model = JointWorldModel(bundle_of("cat-dog", source), Sandbox())
    with closing(model), pytest.raises(WorldModelError, match=message):
        SerialisedPosg(model).initial_state()


COUNTS = """
COUNT = 0

def initial_state(choose):
    global COUNT
    COUNT += 1
    return choose("pet", [("cat %d" % COUNT, 0.5), ("dog %d" % COUNT, 0.5)])
"""


def test_a_table_that_hangs_on_a_counter_ends_the_start_with_a_sentence() -> None:
    asked: list[Json] = []

    def first(label: str, outcomes: Sequence[tuple[Json, float]]) -> Json:
        asked.append(outcomes[0][0])
        assert len(asked) < 5, "the same draw is asked for without end"
        return outcomes[0][0]

    with (
        JointWorldModel(bundle_of("cat-dog", COUNTS), Sandbox()) as model,
        pytest.raises(WorldModelError, match=r"choose\('pet'\): equal draws before it were followed by other outcomes"),
    ):
        model.initial_state(first)
    assert asked == ["cat 1"]


REFUSED: list[Any] = [
    ("move", "lambda state, actions, choose: [state, [10**400, 0], [False, False]]", "in another form than it must"),
    ("move", "lambda state, actions, choose: [state, [True, 0], [False, False]]", "in another form than it must"),
    ("active", "lambda state: [1, 1]", "in another form than it must"),
    ("active", "lambda state: [True]", "in another form than it must"),
    ("legal_actions", "lambda state, agent: []", "gives agent 0 nothing to do, who is active"),
    ("legal_actions", "lambda state, agent: ['listen', 'listen']", "in another form than it must"),
    ("legal_actions", "lambda state, agent: ['knock']", "in another form than it must"),
]


@pytest.mark.parametrize(("function", "answer", "message"), REFUSED)
def test_an_answer_that_no_game_can_go_on_from_is_the_models_fault(function: str, answer: str, message: str) -> None:
    source = (PROGRAMS / "tiger-2a.py").read_text(encoding="utf-8") + f"\n\n{function} = {answer}\n"
    with JointWorldModel(bundle_of("tiger-2a", source), Sandbox()) as model:
        game = SerialisedPosg(model)
        with pytest.raises(WorldModelError, match=f"^{function} of the model of tiger-2a .*{message}"):
            game.playout(game.initial_state(), Random(0), 10)


def test_agents_who_are_not_active_may_have_nothing_to_do() -> None:
    source = (PROGRAMS / "tiger-2a.py").read_text(encoding="utf-8")
    waiting = "active = lambda state: [1]\nlegal_actions = lambda state, agent: ACTIONS * (agent == 1)\n"
    with JointWorldModel(bundle_of("tiger-2a", f"{source}\n\n{waiting}"), Sandbox()) as model:
        state = model.initial_state(lambda _, outcomes: outcomes[0][0])
        assert (model.legal_actions(state, 0), len(model.legal_actions(state, 1))) == ([], 3)


def test_a_program_with_a_joint_step_is_no_game_in_turns() -> None:
    with pytest.raises(WorldModelError, match="has a joint step"):
        WorldModel(bundle_of("cat-dog"), Sandbox())
