"""Total variation of inference samples: of exact samplers, of biased ones, of those that draw what cannot be."""

import functools
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from arena.evaluation import posterior_quality
from arena.evaluation.posterior_quality import HISTORIES, PARTS, sampling_error, total_variation
from arena.usage import UsageError
from cwm.interface.answers import programs
from cwm.interface.program import TRANSITION_FUNCTIONS
from cwm.llm import recordings
from cwm.model.bundle import ModelBundle, describe
from games import registry
from games.api import state_to_json

BIASED = """

fair_resample_history = resample_history


def resample_history(history, player_id):
    return min(fair_resample_history(history, player_id) for _ in range(3))
"""
EMPTY = "\n\ndef resample_history(history, player_id):\n    return []\n"
FAILING = "\n\ndef resample_history(history, player_id):\n    raise ValueError('no')\n"
WRONG_TYPE = "\n\ndef resample_history(history, player_id):\n    return [1, 2]\n"
FIXED = """

several_resample_history = resample_history


def resample_history(history, player_id):
    random.seed(0)
    return several_resample_history(history, player_id)
"""


@pytest.fixture(scope="module")
def recorded() -> Callable[[str], ModelBundle]:
    """Returns the first program of a game's recording, which is a right one, as a model."""

    @functools.cache
    def load(name: str) -> ModelBundle:
        answer = recordings.load(name).records[0].completion.text
        source = programs(answer, TRANSITION_FUNCTIONS, 1)[0]
        game = registry.make(name)
        return ModelBundle(source, None, state_to_json(game, game.initial_state()), describe(game.info), "")

    return load


def measured(bundle: ModelBundle, samples: int = 120) -> dict[str, Any]:
    return posterior_quality.measure(bundle, registry.make(bundle.game_info.id), samples, 4)


def test_total_variation_is_half_the_absolute_difference() -> None:
    assert total_variation({"a": 0.5, "b": 0.5}, {"a": 3, "b": 1}) == 0.25
    assert total_variation({"a": 1.0}, {"b": 7}) == 1.0
    assert total_variation({"a": 0.25, "b": 0.75}, Counter({"a": 1, "b": 3})) == 0.0
    with pytest.raises(ValueError, match="no samples"):
        total_variation({"a": 1.0}, {})


def test_the_sampling_error_falls_with_the_root_of_the_samples() -> None:
    exact = dict.fromkeys("abcde", 0.2)
    few, many = (sampling_error(exact, samples, random.Random(1)) for samples in (100, 10_000))
    assert 5 < few / many < 20
    assert sampling_error({"a": 1.0}, 5, random.Random(0)) == 0.0


YOKAI = "yokai-9c-2p"
HANABI = "hanabi-2p"


@pytest.mark.parametrize(("game", "method"), [("leduc_poker", HISTORIES), (YOKAI, PARTS), (HANABI, PARTS)])
def test_the_recorded_models_draw_from_the_posterior(
    recorded: Callable[[str], ModelBundle], game: str, method: str
) -> None:
    found = measured(recorded(game))
    assert found["method"] == method
    assert found["within"]
    assert abs(found["excess"]) < 0.02
    assert found["impossible"] == 0.0
    assert found == measured(recorded(game))


@pytest.mark.parametrize("added", [BIASED, FIXED])
def test_a_biased_sampler_is_far_from_the_posterior(recorded: Callable[[str], ModelBundle], added: str) -> None:
    bundle = recorded("leduc_poker")
    found = measured(replace(bundle, source=bundle.source + added))
    assert not found["within"]
    assert found["impossible"] == 0.0
    assert found["worst"]["excess"] >= found["excess"] > 0.2


def test_a_sampler_of_hanabi_that_favours_some_hands_is_far_from_the_exact_belief(
    recorded: Callable[[str], ModelBundle],
) -> None:
    bundle = recorded(HANABI)
    found = measured(replace(bundle, source=bundle.source + BIASED), 100)
    assert (found["method"], found["impossible"], found["within"]) == (PARTS, 0.0, False)


@pytest.mark.parametrize("game", ["leduc_poker", YOKAI, HANABI])
@pytest.mark.parametrize("added", [EMPTY, FAILING, WRONG_TYPE])
def test_a_sampler_that_draws_what_cannot_be_is_as_far_as_can_be(
    recorded: Callable[[str], ModelBundle], game: str, added: str
) -> None:
    bundle = recorded(game)
    found = measured(replace(bundle, source=bundle.source + added), 5)
    assert (found["distance"], found["impossible"], found["within"]) == (1.0, 1.0, False)


def test_games_without_a_posterior_are_refused(recorded: Callable[[str], ModelBundle]) -> None:
    with pytest.raises(UsageError, match="a game that hides nothing"):
        measured(recorded("tic_tac_toe"))
    leduc = recorded("leduc_poker")
    with pytest.raises(UsageError, match="it draws no histories"):
        measured(replace(leduc, source=leduc.source + "\n\ndel resample_history\n"))
    with pytest.raises(UsageError, match="made with a closed deck"):
        measured(replace(leduc, metadata={"deck": "closed"}))
    with pytest.raises(UsageError, match="no registered game"):
        posterior_quality.measure(recorded("leduc_poker"), None, 5, 0)
    with pytest.raises(UsageError, match="more than 500 nodes"):
        posterior_quality.questions(registry.make("leduc_poker"), 0, 500)


def test_the_command_line_prints_the_distance_beside_the_sampling_error(
    cwm: Any, recorded: Callable[[str], ModelBundle], tmp_path: Any
) -> None:
    recorded("leduc_poker").save(tmp_path / "model")
    words = ("evaluate", tmp_path / "model", "--transitions", 20, "--workers", 1, "--contract-games", 0)
    ran = cwm(*words, "--posterior", 50)
    assert ran.code == 0
    assert "100 decision points, 50 samples each: total variation 0." in ran.out
    assert cwm(*words, "--json").json["posterior"] is None
