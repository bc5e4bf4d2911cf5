import re
from collections.abc import Callable
from pathlib import Path

import pytest

from arena.agents.specs import parse
from arena.commands import report
from arena.language_players.models import CALLS_FILE
from arena.matches import tournament
from arena.matches.match import GameRecord
from arena.matches.plan import TournamentConfig
from arena.matches.verification import verify_games
from arena.pages import elo, tournament_page
from cwm.llm.api import Completion, Message, Request, Usage
from cwm.llm.journaled import StoredCall
from cwm.record.calls import RecordedCalls
from cwm.storage.journal import Journal

EVIL = "</pre><script>alert(1)</script>"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    agents = (parse("random"), parse("mcts:sims=2"))
    tournament.open_and_run(tmp_path, tournament.prepare(TournamentConfig("tic_tac_toe", agents, 2)))
    return tmp_path


def ask(folder: Path, number: int) -> None:
    """Stores an answered call as a player's journal has it."""
    journal = Journal(folder / CALLS_FILE)
    calls = RecordedCalls(journal)
    call = StoredCall("ab" * 31 + f"{number:02}", 0, "openai:x", Request((Message("user", EVIL),), "move"))
    calls.begin(call)
    calls.finish(call.key, 0, Completion(f"answer {number} {EVIL}", "ok", "x", Usage(5, 7)), 0)
    journal.close()


def test_the_page_of_a_tournament_shows_every_game_and_every_call(folder: Path) -> None:
    ask(folder, 1)
    ask(folder, 2)
    found = tournament_page.read(folder, verify_games(folder))
    assert found.watched is not None
    assert len(found.watched.games) == found.games.planned == 8
    page = tournament_page.render(found)
    assert re.search(r"In 8 games of tic_tac_toe .+ is the strongest of 2 agents\.", page)
    assert "Call 2: move, openai:x, answered, ok, 5 + 7 tokens" in page
    assert "<script>alert" not in page
    assert page.count("<script") == 2
    assert [name for name in ("ratings", "faults", "games", "calls", "settings") if f'id="{name}"' not in page] == []


def test_calls_beyond_what_a_page_holds_are_counted(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ask(folder, 1)
    ask(folder, 2)
    monkeypatch.setattr(tournament_page, "MOST_CALLS", 1)
    found = tournament_page.read(folder, verify_games(folder))
    assert (len(found.calls), found.left_out) == (1, 1)
    assert "1 more calls are in the folder" in tournament_page.render(found)


def test_report_of_a_tournament_writes_its_page_and_changes_nothing_else(folder: Path) -> None:
    before = {path.name: path.read_bytes() for path in folder.iterdir() if ".sqlite" not in path.name}
    report.command(folder)
    assert (folder / "report.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    after = {path.name: path.read_bytes() for path in folder.iterdir() if ".sqlite" not in path.name}
    assert {name: text for name, text in after.items() if name != "report.html"} == before


def test_ratings_are_those_of_the_wins_and_draws_count_half(record: Callable[..., GameRecord]) -> None:
    games = [record("a b", [1.0, -1.0], deal) for deal in range(9)] + [record("b a", [1.0, -1.0], 9)]
    first, second = elo.ratings(games)
    assert (first.agent, second.agent) == ("a", "b")
    # Nine wins and a loss, each with the half point that everybody is given.
    assert first.value - second.value == pytest.approx(400 * 0.80163, abs=0.1)
    assert first.value == pytest.approx(-second.value)
    assert first.low is not None
    assert first.low <= first.value
    drawn = elo.ratings([record("a b", [0.0, 0.0], 1)])
    assert [(rating.value, rating.low) for rating in drawn] == [(pytest.approx(0.0), None)] * 2
    assert elo.ratings([record("a a", [1.0, -1.0], 1)]) == []


def test_the_page_of_a_cooperative_game_draws_r_beside_the_published_figures(tmp_path: Path) -> None:
    agents = (parse("partner:end-at-once"),)
    tournament.open_and_run(tmp_path, tournament.prepare(TournamentConfig("yokai-9c-2p", agents, 2)))
    page = tournament_page.render(tournament_page.read(tmp_path, verify_games(tmp_path)))
    assert "<h4>R with itself</h4>" in page
    assert "Self-Play IPPO" in page
    # Nobody was asked: faults stand where calls would.
    assert "faults: forfeits, fallbacks, games that broke" in page
    assert 'id="calls"' not in page
