"""Models of the closed deck, whose chance has words of its own, as OpenSpiel games."""

import ast
import importlib.util
import random
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pyspiel
import pytest
from open_spiel.python.algorithms import ismcts, mcts

from arena.exports.open_spiel import export
from cwm.model.bundle import ModelBundle
from cwm.model.world_model import WorldModel
from cwm.sandbox.parent.host import Sandbox
from games import registry
from games.adapters import spiel_game
from games.api import ResamplesHistory, ResamplesState, state_to_json

PROGRAMS = Path(__file__).resolve().parents[2] / "data" / "hidden_programs"


@pytest.fixture
def bundle() -> ModelBundle:
    """Returns a right model of Kuhn poker that was made from what one player saw of each game."""
    game = registry.make("kuhn_poker")
    source = (PROGRAMS / "kuhn_poker.py").read_text("utf-8").replace("Deal:", "gets:")
    initial = state_to_json(game, game.initial_state())
    return ModelBundle(source, None, initial, asdict(game.info), "", {"deck": "closed", "inference": "history"})


def test_the_model_answers_in_the_parent_as_a_game(bundle: ModelBundle) -> None:
    with WorldModel(bundle, Sandbox()) as model:
        assert isinstance(model, ResamplesHistory)
        assert isinstance(model, ResamplesState)
        history = [({"player": 1, "private_card": 2, "betting": ["Bet"], "contributions": [2, 1]}, None)]
        drawn = {tuple(model.resample_history(history, 1, random.Random(seed))) for seed in range(30)}
        assert drawn == {("gets:0", "gets:2", "Bet"), ("gets:1", "gets:2", "Bet")}
        seen = {**history[0][0], "current_player": 1}
        states = [model.resample_state([(seen, None)], 1, random.Random(seed)) for seed in range(30)]
        assert {tuple(state["private_cards"]) for state in states} == {(0, 2), (1, 2)}


@pytest.mark.parametrize("in_process", [False, True])
def test_the_exported_model_is_a_game_that_open_spiel_searches(
    bundle: ModelBundle, in_process: bool, tmp_path: Path
) -> None:
    name = f"closed_kuhn_{in_process}"
    path = tmp_path / f"{name}.py"
    path.write_text(export(bundle, name, in_process).text, encoding="utf-8")
    spec: Any = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    game = pyspiel.load_game(name)
    pyspiel.random_sim_test(game, 3, False, False)
    state = game.new_initial_state()
    assert sorted(state.action_to_string(-1, action) for action in state.legal_actions()) == [
        "gets:0",
        "gets:1",
        "gets:2",
    ]
    for _ in range(2):
        state.apply_action(state.legal_actions()[0])
    rng = np.random.RandomState(0)
    evaluator = mcts.RandomRolloutEvaluator(1, rng)
    bot = ismcts.ISMCTSBot(game=game, evaluator=evaluator, uct_c=2.0, max_simulations=20, random_state=rng)
    bot.set_resampler(spiel_game.resampler(random.Random(0)))
    assert bot.step(state) in state.legal_actions()


@pytest.mark.parametrize("in_process", [False, True])
def test_an_exported_file_imports_nothing_of_ours_but_what_is_promised(bundle: ModelBundle, in_process: bool) -> None:
    tree = ast.parse(export(bundle, "closed_kuhn", in_process).text)
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    assert [ast.unparse(node) for node in imports] == ["import json", "from cwm.exported import register"]
