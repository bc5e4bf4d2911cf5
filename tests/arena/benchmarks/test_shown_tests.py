"""The benchmark of shown tests: the share of the mutants missed by the usual choice that the other choice catches."""

import re
from dataclasses import asdict
from pathlib import Path

import pytest

from arena.benchmarks import shown_tests
from cwm.model.bundle import ModelBundle
from games import registry
from games.api import state_to_json

PROGRAM = Path(__file__).parents[2] / "data" / "programs" / "registered_tic_tac_toe.py"
NOTE = re.compile(
    r"12 mutants: all \d+ tests catch (\d+), \d+ usual ones (\d+), \d+ telling ones \d+; of (\d+) missed (\d+); "
    r"([\d,]+) and ([\d,]+) characters"
)


def test_a_game_gives_the_share_of_the_missed_mutants_and_the_mean_is_over_games(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    game = registry.make("tic_tac_toe")
    initial = state_to_json(game, game.initial_state())
    bundle = ModelBundle(PROGRAM.read_text("utf-8"), None, initial, asdict(game.info), "", {})
    monkeypatch.setattr(shown_tests, "MUTANTS", 12)
    one, mean = shown_tests.run([("tic_tac_toe", bundle)], 0, 1)
    found = NOTE.fullmatch(one.note)
    assert found is not None, one.note
    caught, usual, missed, regained, length, other = (int(text.replace(",", "")) for text in found.groups())
    assert caught - usual == missed > 0
    assert one.value == pytest.approx(regained / missed)
    assert other == pytest.approx(length, rel=0.05)
    assert (mean.name, mean.value, mean.note) == ("shown-tests/mean", one.value, "1 of 1 games")


def test_without_models_there_is_no_mean() -> None:
    (mean,) = shown_tests.run([], 0, 1)
    assert mean.value is None
