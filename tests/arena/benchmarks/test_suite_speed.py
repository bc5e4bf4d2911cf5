"""The benchmark of unit tests times the suite of a synthesis, and models that pass it alone."""

from dataclasses import asdict, replace
from pathlib import Path

import pytest

from arena.benchmarks import suite_speed
from arena.runs.hidden_information import HiddenInformation
from arena.usage import UsageError
from cwm.model.bundle import ModelBundle
from games import registry
from games.api import state_to_json

PROGRAM = Path(__file__).parents[2] / "data" / "hidden_programs" / "kuhn_poker.py"


@pytest.fixture
def bundle() -> ModelBundle:
    game = registry.make("kuhn_poker")
    initial = state_to_json(game, game.initial_state())
    metadata = HiddenInformation("closed").metadata()
    return ModelBundle(PROGRAM.read_text("utf-8"), None, initial, asdict(game.info), "", metadata)


def test_a_game_gives_seconds_of_tests_and_contract_and_of_candidates_together(
    bundle: ModelBundle, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(suite_speed, "ROUNDS", 1)
    found = list(suite_speed.run([("kuhn_poker", bundle)], 2))
    assert [item.name for item in found] == [
        "suite/kuhn_poker/seconds",
        "suite/kuhn_poker/contract",
        "suite/kuhn_poker/together",
    ]
    assert {item.unit for item in found} == {"s"}
    assert all(item.value is not None and item.value > 0.0 for item in found)
    assert "one candidate, 5 games: " in found[0].note
    assert found[2].baseline is not None


def test_a_model_that_fails_its_tests_is_not_timed(bundle: ModelBundle) -> None:
    wrong = replace(bundle, source=bundle.source.replace("def get_rewards", "def no_rewards"))
    with pytest.raises(UsageError, match=r"The model of kuhn_poker passed \d+ of \d+ unit tests"):
        list(suite_speed.run([("kuhn_poker", wrong)], 1))
