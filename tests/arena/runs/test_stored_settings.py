"""What settings are stored as: keys of runs and requests are hashes of it, so that not a byte may change."""

import hashlib
import json
from typing import Any

import pytest

from arena.machine.runtime import Runtime
from arena.runs.settings import MatchSettings, RunSettings
from arena.training_on_models.settings import PpoSettings
from cwm.functions.prior import PriorConfig
from cwm.functions.vectors import VectorConfig
from cwm.llm.budget import Tally
from cwm.speed.task import SpeedConfig
from cwm.synthesis.config import SynthesisConfig

OLD: dict[str, Any] = {"level": "process", "rules_detail": "specification"}
"""As before there were rule books."""
STORED: list[tuple[Any, str]] = [
    (SynthesisConfig(), "fe1f7a5604c61c7d"),
    (SynthesisConfig(method="conversation", num_tests_on_init=3, temperature=0.5, seed=7), "1d156c775b4e81cd"),
    (SpeedConfig(), "07762ba24743b4bf"),
    (SpeedConfig(num_candidates=3, pairs=5, min_gain=0.5), "9a0209b72d9eeb96"),
    (RunSettings("tic_tac_toe", True, **OLD), "2c26dc8558901eb2"),
    (
        RunSettings("tic_tac_toe", True, **OLD, further_games=0, further_rounds=9),
        "d41237284165a172",
    ),
    (
        RunSettings("leduc_poker", True, **OLD, deck="closed"),
        "ec1a4f1b41450f4c",
    ),
    (
        RunSettings("leduc_poker", True, **OLD, inference="state", told=False),
        "1a81d29539eb25af",
    ),
    (
        RunSettings(
            "mine",
            False,
            **OLD,
            prior=PriorConfig(),
            tournament_deals=2,
            vectors=VectorConfig(),
            matches=MatchSettings(3),
            faster=SpeedConfig(),
            further_games=1,
        ),
        "9cae55823eefdce2",
    ),
    (PpoSettings(steps=5000, stored_vectors=True), "0c493676eb48cfe3"),
    (Runtime("process", 1.5), "dac316d6bd6f2336"),
    (Tally(calls=3, money=None), "143ea23c6b5b02de"),
]


def digest(settings: Any) -> str:
    return hashlib.sha256(json.dumps(settings.to_json()).encode()).hexdigest()[:16]


@pytest.mark.parametrize(("settings", "stored"), STORED)
def test_settings_are_stored_as_they_always_were(settings: Any, stored: str) -> None:
    assert digest(settings) == stored
