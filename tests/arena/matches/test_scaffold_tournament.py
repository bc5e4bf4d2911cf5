"""Tournaments with a scaffold: stored, verified, recorded and replayed; every call of the journal has its decision."""

import json
import random
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from arena.agents.llm_settings import LlmConfig
from arena.agents.specs import AgentSpecError, parse
from arena.language_players import models as player_models
from arena.language_players.models import CALLS_FILE, PlayerModels
from arena.language_players.turn_record import decisions
from arena.matches import tournament
from arena.matches.match import GameRecord
from arena.matches.plan import TournamentConfig
from arena.matches.store import GameStore, MemoryStore
from arena.matches.verification import verify_games
from cwm.llm.api import Request
from cwm.llm.journaled import StoredCall
from cwm.llm.providers.scripted import Scripted
from cwm.record.calls import RecordedCalls
from cwm.storage.journal import Journal

TINY = "hanabi-tiny-2p"
BEFORE_SCAFFOLDS = {
    "show_legal": False,
    "retries": 1,
    "votes": 1,
    "history": "json",
    "trajectories": 5,
    "trajectories_seed": 0,
    "max_output_tokens": 32_768,
    "temperature": None,
    "timeout": None,
    "send_seed": False,
    "base_url": None,
}
"""Options as games that are stored have them."""


def answer(request: Request) -> str:
    """Answers by the question alone; some answers are bad."""
    text = request.messages[-1].text
    rng = random.Random(f"{request.seed} {text}")
    legal = len(re.findall(r"^\d+\. `", text, re.MULTILINE)) or 3
    if rng.random() < 0.25:
        return "I do not know."
    if '"proposal": NUMBER' in text:
        return '{"proposal": 1}'
    return json.dumps({"ratings": {"0": 0.5}, "reason": "so", "action": rng.randrange(legal)})


@pytest.fixture
def talkative(monkeypatch: pytest.MonkeyPatch) -> list[Request]:
    """Puts a model that answers by the question in every provider's place, and returns what was asked."""
    made = Scripted(answer, name="openai:m")
    monkeypatch.setattr(player_models.factory, "make", lambda name, **settings: made)
    return made.requests


def prepared(*agents: str, game: str = TINY, deals: int = 2) -> TournamentConfig:
    return tournament.prepare(TournamentConfig(game, tuple(parse(agent) for agent in agents), deals, pairing="all"))


def calls(folder: Path) -> list[StoredCall]:
    journal = Journal(folder / CALLS_FILE, read_only=True)
    try:
        return list(RecordedCalls(journal).calls())
    finally:
        journal.close()


def timeless(records: Any) -> list[GameRecord]:
    return [replace(record, seconds=()) for record in records]


@pytest.mark.parametrize("how", ["sherlock,mixture=true", "mycroft,k=3", "sherlock,k=3,choose=search"])
def test_every_call_of_the_journal_belongs_to_one_decision_of_a_stored_game(
    talkative: list[Request], tmp_path: Path, how: str
) -> None:
    config = prepared(f"llm:openai:m,scaffold={how},name=m,retries=9", "partner:simple", deals=1)
    assert config.agents[0].view == ("bare" if "mycroft" in how else "possible")
    with GameStore(tmp_path, config.to_json()) as kept, PlayerModels(config.agents, tmp_path) as models:
        result = tournament.run(config, kept, workers=4, models=models)
        used = models.used()
    assert result.missing == {}
    assert verify_games(tmp_path).problems == ()
    told = [
        (call.key, call.purpose, call.input_tokens, call.output_tokens)
        for record in result.records
        for decision in decisions(record.actions, record.accounts)
        for call in decision.turn.calls
    ]
    stored = [
        (call.key, call.request.purpose, call.completion.usage.input_tokens, call.completion.usage.output_tokens)
        for call in calls(tmp_path)
        if call.completion is not None
    ]
    assert Counter(told) == Counter(stored)
    assert max(Counter(stored).values()) == 1
    accounts = [account for record in result.records for account in record.accounts.values()]
    assert sum(account["calls"] for account in accounts) == used.calls == len(stored)
    assert sum(account["input_tokens"] for account in accounts) == used.input_tokens
    bad = Counter(
        call.bad
        for record in result.records
        for one in decisions(record.actions, record.accounts)
        for call in one.turn.calls
    )
    assert bad["no_move"] == sum(account["bad"].get("no_move", 0) for account in accounts) > 0
    alone = tournament.run(config, MemoryStore())  # side by side or one after the other
    assert timeless(alone.records) == timeless(result.records)


def test_recorded_games_with_roles_are_replayed(
    talkative: list[Request], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recording = tmp_path / "games.jsonl"
    how = "scaffold=watson,mixture=true,retries=3,name=m"
    config = prepared(f"llm:openai:m,{how}", deals=1)
    with PlayerModels(config.agents, recording=recording, game=TINY) as models:
        played = tournament.run(config, MemoryStore(), models=models)
    monkeypatch.undo()
    again = tournament.run(prepared(f"llm:replay:{recording},{how}", deals=1), MemoryStore())
    assert (again.missing, len(again.records)) == ({}, len(played.records))
    assert [record.actions for record in again.records] == [record.actions for record in played.records]


def test_options_that_are_not_given_are_in_no_key() -> None:
    assert LlmConfig().to_json() == BEFORE_SCAFFOLDS
    assert prepared("llm:openai:m,trajectories=0", game="kuhn_poker").agents[0].llm == {
        **BEFORE_SCAFFOLDS,
        "trajectories": 0,
    }


def test_a_wording_is_kept_whole_and_is_part_of_the_key(talkative: list[Request], tmp_path: Path) -> None:
    (tmp_path / "words").mkdir()
    template = tmp_path / "words" / "watson.j2"
    template.write_text("Go, {{ player }}.", encoding="utf-8")
    agent = f"llm:openai:m,scaffold=watson,name=m,wording={template.parent}"
    first = prepared(agent, deals=1)
    assert first.agents[0].llm["wording"] == {"name": "words", "templates": {"watson": "Go, {{ player }}."}}
    tournament.run(first, MemoryStore())
    assert talkative[0].messages[-1].text.startswith("Go, 0.\n\n## The situation")
    template.write_text("Go on, {{ player }}.", encoding="utf-8")
    assert {game.key for game in tournament.plan(prepared(agent, deals=1))}.isdisjoint(
        game.key for game in tournament.plan(first)
    )


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("watson", "{{ mood }}", "The prompt watson cannot be written in this wording: 'mood' is undefined."),
        ("watson", "{% if %}", "The template watson.j2 of the wording words cannot be read, line 1"),
        ("holmes", "Go.", "has a template holmes.j2, which no prompt uses; known: "),
        ("role_analyst", "{{ 1 / 0 }}", "division by zero"),
    ],
)
def test_a_wording_that_cannot_be_used_is_refused_before_anybody_plays(
    tmp_path: Path, name: str, text: str, said: str
) -> None:
    (tmp_path / "words").mkdir()
    (tmp_path / "words" / f"{name}.j2").write_text(text, encoding="utf-8")
    with pytest.raises(AgentSpecError) as caught:
        prepared(f"llm:openai:m,scaffold=watson,name=m,wording={tmp_path / 'words'}")
    assert said in str(caught.value)


def test_a_wording_that_is_not_there_is_named() -> None:
    with pytest.raises(AgentSpecError, match="There is no wording '/no/such'"):
        parse("llm:openai:m,wording=/no/such")


def test_the_plain_player_is_asked_in_other_words_too(talkative: list[Request], tmp_path: Path) -> None:
    (tmp_path / "player.j2").write_text("Seat {{ player }}.", encoding="utf-8")
    tournament.run(prepared(f"llm:openai:m,wording={tmp_path},name=m", game="kuhn_poker", deals=1), MemoryStore())
    assert talkative[0].messages[0].text == "Seat 0."
