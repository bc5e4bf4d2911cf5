"""Recorded models as OpenSpiel games: complete action lists, and OpenSpiel's own checks and searches."""

import importlib.util
import json
import random
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pyspiel
import pytest
from open_spiel.python.algorithms import ismcts, mcts

from arena.exports.open_spiel import export
from arena.pipeline import recorded_models
from cwm.model.bundle import ModelBundle
from cwm.observations.vectors import ObservationVectors
from games import registry
from games.adapters import action_table, spiel_game
from games.adapters.action_table import collect_actions


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("cache")
        patch.setenv("XDG_CACHE_HOME", str(folder))
        yield folder


def imported(bundle: ModelBundle, folder: Path, name: str) -> ModuleType:
    """Exports a model and imports the file."""
    path = folder / f"{name}.py"
    path.write_text(export(bundle, name).text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def bot(game: Any, simulations: int) -> Any:
    rng = np.random.RandomState(0)
    evaluator = mcts.RandomRolloutEvaluator(1, rng)
    if game.get_type().information == pyspiel.GameType.Information.PERFECT_INFORMATION:
        return mcts.MCTSBot(game, 2.0, simulations, evaluator, random_state=rng)
    made = ismcts.ISMCTSBot(game=game, evaluator=evaluator, uct_c=2.0, max_simulations=simulations, random_state=rng)
    made.set_resampler(spiel_game.resampler(random.Random(0)))
    return made


def assert_tensors_tell_what_the_players_see(module: ModuleType, state: Any) -> None:
    vectors = ObservationVectors.from_json(json.loads(module.OBSERVATIONS))
    assert module.GAME.observation_tensor_shape() == [vectors.width]
    for player in range(module.GAME.num_players()):
        seen = state.node.tables.game.observations(state.node.state)[player]
        assert vectors.decode(state.observation_tensor(player)) == seen


@pytest.mark.parametrize(
    ("game_id", "simulations"),
    [
        ("tic_tac_toe", 10),
        ("connect_four", 3),
        ("leduc_poker", 10),
        pytest.param("yokai-9c-2p", 4, marks=pytest.mark.slow),
    ],
)
def test_an_exported_recorded_model_passes_open_spiels_checks_and_is_searched_by_its_bots(
    game_id: str, simulations: int, cache: Path, tmp_path: Path
) -> None:
    bundle = ModelBundle.load(recorded_models.folder_of(game_id))
    module = imported(bundle, tmp_path, f"cwm_test_{registry.describe(game_id).package.rsplit('.', 1)[-1]}")
    true = registry.make(game_id)
    assert true.all_actions() == module.ACTIONS
    assert module.GAME.num_distinct_actions() == len(true.all_actions())
    pyspiel.random_sim_test(module.GAME, num_sims=2, serialize=False, verbose=False)
    state = module.GAME.new_initial_state()
    rng = random.Random(1)
    while state.is_chance_node():
        state.apply_action(rng.choice(state.legal_actions()))
    assert_tensors_tell_what_the_players_see(module, state)
    assert bot(module.GAME, simulations).step(state) in state.legal_actions()


def test_actions_of_a_model_whose_game_is_not_registered_are_collected(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # More than enough for eleven actions.
    monkeypatch.setattr(action_table, "MAX_STATES", 200)
    monkeypatch.setattr(action_table, "PATIENCE", 500)
    bundle = ModelBundle.load(recorded_models.folder_of("leduc_poker"))
    own = ModelBundle(bundle.source, None, bundle.initial_state, bundle.info | {"id": "my_poker"}, "")
    module = imported(own, tmp_path, "cwm_test_my_poker")
    true = registry.make("leduc_poker")
    assert sorted(true.all_actions()) == module.ACTIONS
    assert sorted(true.all_chance_actions()) == module.CHANCE_ACTIONS


@pytest.mark.slow
def test_games_that_look_for_new_actions_meet_nearly_all_of_yokai() -> None:
    true = registry.make("yokai-9c-2p")
    own, chance = collect_actions(true)
    assert set(own) <= set(true.all_actions())
    assert len(own) >= 1_040
    assert sorted(true.all_chance_actions()) == chance
    assert collect_actions(true) == (own, chance)
