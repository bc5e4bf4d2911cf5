"""`cwm benchmark hanabi`: what it compares, on few games."""

from pathlib import Path
from typing import Any

import pytest

from arena.benchmarks import hanabi, hanabi_truth
from arena.benchmarks.hanabi import BANDS, Band, verdict
from arena.figures.intervals import Estimate, mean_estimate
from games.hanabi.knowledge import Known
from games.hanabi.partners import PARTNERS


def estimate(*values: float) -> Estimate:
    found = mean_estimate(list(values))
    assert found is not None
    return found


def test_knowledge_beliefs_and_resampled_histories_are_found_right() -> None:
    slots, right = hanabi_truth.knowledge("hanabi-tiny-2p", 4)
    assert slots == right > 20
    assert hanabi_truth.beliefs(10) == 10
    done, alike = hanabi_truth.resamples(21, lambda text: None)
    assert done == alike == 21


def test_knowledge_that_forgets_is_found_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Known, "hear", lambda self, value, touched: None)
    slots, right = hanabi_truth.knowledge("hanabi-tiny-2p", 4)
    assert right < slots


def test_points_of_a_bot_are_kept_and_stand_beside_the_published_ones(tmp_path: Path) -> None:
    said: list[str] = []
    band = next(band for band in BANDS if (band.bot, band.players) == ("blind", 2))
    (first,) = hanabi.points(band, tmp_path, 5, 1, said.append)
    assert (first.name, first.unit, first.baseline) == ("hanabi/blind/2p", "points", 1.25)
    assert "strict 0.00, bombed 100.0%, 5 games" in first.note
    assert said[-1] == "blind, 2 players: game 5 of 5"
    said.clear()
    assert list(hanabi.points(band, tmp_path, 5, 1, said.append)) == [first]
    assert said == []


def test_too_few_games_are_no_verdict() -> None:
    band = Band("simple", 2, 16.92, 16.67, 17.17)
    assert verdict(band, estimate(16.9, 17.0)) == "within 16.67 to 17.17"
    assert verdict(band, estimate(18.0, 16.8)) == "too few games to tell from 16.67 to 17.17"
    assert verdict(band, estimate(20.0, 20.1)) == "outside 16.67 to 17.17"
    assert verdict(band, estimate(*[17.0, 18.0] * 1000)) == "outside 16.67 to 17.17"


def test_every_bot_with_a_published_figure_is_measured_and_no_other() -> None:
    assert {band.bot for band in BANDS} == set(PARTNERS) - {"flawed"}
    assert [band.players for band in BANDS if band.bot == "hat"] == [3, 4, 5]


def test_kept_games_lie_apart_by_number_and_program(tmp_path: Path) -> None:
    assert hanabi.folder_in(tmp_path, 20) != hanabi.folder_in(tmp_path, 2000)
    assert hanabi.folder_in(tmp_path, 20).parents[1] == tmp_path / "hanabi"


def test_sizes_that_would_end_the_process_are_refused() -> None:
    assert hanabi_truth.is_refused("open_spiel:hanabi(random_start_player=true)")
    assert not hanabi_truth.is_refused("hanabi-2p")


def test_the_command_prints_the_figures_as_they_come(cwm: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hanabi, "BANDS", BANDS[:1])
    monkeypatch.setattr(hanabi.hanabi_truth, "run", lambda games, say: iter(()))
    monkeypatch.setattr(hanabi, "SECONDS", 0.0)
    monkeypatch.setattr(hanabi, "OBSERVED_GAMES", 1)
    found = cwm("benchmark", "hanabi", "--games", 2, "--workers", 1, "--run", tmp_path, "--json")
    assert found.code == 0, found.err
    names = [row["name"] for row in found.json]
    assert names[0] == "hanabi/blind/2p"
    assert names[1:] == [
        "hanabi/speed/random games",
        *(f"hanabi/speed/view {view}" for view in ("default", "possible", "counted", "bare")),
        "hanabi/speed/simple in the arena",
    ]
