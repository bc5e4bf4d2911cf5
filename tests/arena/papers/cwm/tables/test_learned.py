"""Tables of agents that are trained on a synthesis's model."""

import shutil
from pathlib import Path

import pytest

from arena import cli
from arena.checkpoints.places import read_about
from arena.commands.exit_codes import EXIT_USAGE
from arena.papers.cwm.published.layout import TABLE_BY_NUMBER
from arena.papers.cwm.tables import learned, settings, sheets
from arena.papers.cwm.tables.experiments import Rebuilding
from arena.papers.cwm.tables.measuring import Stored
from arena.papers.cwm.tables.places import PUPILS, Place
from arena.papers.cwm.tables.settings import PaperSelection, PaperWishes
from cwm.twins.stored import StoredTwin

SMALL = ("--games", "tic_tac_toe", "--tables", "18", "--workers", "1")


@pytest.fixture(scope="module")
def taught(rebuilt: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns a rebuilding in which agents were trained for one update, and played."""
    folder = tmp_path_factory.mktemp("taught") / "run"
    shutil.copytree(rebuilt, folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        words = [*SMALL, "--learned", "5000", "--learned-seeds", "1"]
        assert cli.run(["paper", *words, "--run", str(folder)]) == 0
    return folder


def place(folder: Path) -> Place:
    return Place(folder, "tic_tac_toe", "tree", 0)


@pytest.mark.slow
def test_table_is_filled_and_says_for_how_long_was_trained(taught: Path) -> None:
    stored = Stored(taught, settings.read(taught))
    sheet = sheets.table(stored, TABLE_BY_NUMBER[18])
    states = {cell.column.key.partition(".")[0]: cell.measured.state for row in sheet.rows for cell in row.cells}
    assert states == {"planner": "measured", "true": "measured", "random": "measured", "llm": "not played"}
    assert (
        "Tic-tac-toe: trained for 5,000 decisions each, one a seat, on the model of the synthesis with the seed 0 (the "
        "paper's for 10,000,000, best of 5)."
    ) in sheet.notes


@pytest.mark.slow
def test_agents_are_trained_on_the_twin_that_ships(taught: Path) -> None:
    twin = StoredTwin.load(place(taught).folder / "model")
    assert all(read_about(place(taught).part(PUPILS), seat)["trained_on"]["twin"] == twin.hash for seat in (0, 1))


@pytest.mark.slow
def test_every_seat_is_played_on_each_deal(taught: Path) -> None:
    played = learned.games(place(taught))
    seats = [record.seats for record in played]
    for other in ("cwm", "true game", "random"):
        assert seats.count(("learned", other)) == seats.count((other, "learned")) == 2
    assert all(record.forfeit is None for record in played)


@pytest.mark.slow
def test_second_call_trains_and_plays_nothing(taught: Path) -> None:
    policy = place(taught).part(PUPILS) / "seat0" / "policy.safetensors"
    before, games = policy.stat().st_mtime_ns, len(learned.games(place(taught)))
    seed = place(taught).part(PUPILS) / "seat0" / "seed0" / "policy.safetensors"
    trained = seed.stat().st_mtime_ns
    asked = settings.read(taught)
    Rebuilding(taught, asked, PaperSelection((18,), (), learned=True), workers=1).run()
    assert seed.stat().st_mtime_ns == trained
    assert policy.stat().st_mtime_ns >= before
    assert len(learned.games(place(taught))) == games


@pytest.mark.slow
def test_other_steps_in_the_same_folder_are_refused(taught: Path, capsys: pytest.CaptureFixture[str]) -> None:
    copy = taught.parent / "other"
    shutil.copytree(taught, copy)
    assert cli.run(["paper", *SMALL, "--learned", "10000", "--run", str(copy)]) == EXIT_USAGE
    assert "was begun with other settings" in " ".join(capsys.readouterr().err.split())


def test_folder_without_training_says_how_to_train(rebuilt: Path) -> None:
    assert learned.words(place(rebuilt)) is None
    stored = Stored(rebuilt, PaperWishes(("tic_tac_toe",), seeds=(0,)))
    sheet = sheets.table(stored, TABLE_BY_NUMBER[18])
    assert {cell.measured.state for row in sheet.rows for cell in row.cells} == {"not trained"}
    assert sheets.LEARNED_NOTE in sheet.notes


def test_syntheses_of_trained_agents_are_made_only_if_these_are_asked_for() -> None:
    assert PaperSelection((24,), ()).variants("leduc_poker") == []
    assert PaperSelection((24,), (), learned=True).variants("leduc_poker") == ["closed"]
    assert PaperSelection((24,), (), learned=True).trains("leduc_poker", "closed")
    assert not PaperSelection((24,), (), learned=True).trains("leduc_poker", "tree")
    assert not PaperSelection((24,), ()).trains("leduc_poker", "closed")


def test_training_may_be_asked_for_later(tmp_path: Path) -> None:
    settings.keep(tmp_path, {"games": ("tic_tac_toe",), "seeds": (0,)})
    assert settings.keep(tmp_path, {"learned": 50_000}).learned == 50_000
    assert settings.read(tmp_path).learned == 50_000
    assert settings.keep(tmp_path, {}).learned == 50_000
