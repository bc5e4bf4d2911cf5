"""Tournaments with a language model: kept, resumed, capped, recorded, replayed; what broke is never scored."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from arena.agents.specs import AgentSpecError, parse
from arena.language_players import models as player_models
from arena.language_players.models import CALLS_FILE, PlayerModels
from arena.matches import store, tournament
from arena.matches.match import GameRecord
from arena.matches.plan import TournamentConfig
from arena.matches.store import GameStore, MemoryStore
from cwm.llm.api import ConfigurationError, LanguageModelError, Request
from cwm.llm.caps import Caps
from cwm.llm.journaled import StoredCall
from cwm.llm.providers.scripted import Answer, Scripted
from cwm.record.calls import RecordedCalls
from cwm.storage.journal import Journal

ROOT = Path(__file__).resolve().parents[3]
CALLS = [json.dumps({"move": "Call"})] * 40
"""Enough for any few games of Leduc poker, where calling is always legal."""
CELLS = [json.dumps({"move": [row, column]}) for row in range(3) for column in range(3)] * 4


def script(path: Path, answers: list[Any]) -> str:
    path.write_text("".join(json.dumps(answer) + "\n" for answer in answers), encoding="utf-8")
    return f"llm:scripted:{path}"


def timeless(records: Any) -> list[GameRecord]:
    return [replace(record, seconds=()) for record in records]


def games(folder: Path) -> list[GameRecord]:
    return timeless(found for _, found in sorted(store.read(folder).games.items()))


def calls(folder: Path) -> list[StoredCall]:
    journal = Journal(folder / CALLS_FILE, read_only=True)
    try:
        return list(RecordedCalls(journal).calls())
    finally:
        journal.close()


def cup(model: str, folder: Path, *more: object, game: str = "leduc_poker", deals: int = 2) -> list[object]:
    agents = ["--agent", f"{model},trajectories=1", "--agent", "random", "--pairing", "cross"]
    return ["arena", game, *agents, "--deals", deals, "--run", folder, *more]


def test_a_scripted_model_plays_from_the_command_line(cwm: Any, tmp_path: Path) -> None:
    model = script(tmp_path / "s.jsonl", CELLS)
    ran = cwm("arena", "tic_tac_toe", "--agent", f"{model},retries=9", "--agent", "random", "--deals", 1)
    assert ran.code == 0, ran.err
    assert "language models:" in ran.err
    assert "bad answers" in ran.out
    shown = cwm(*cup(f"{model},retries=9", tmp_path / "cup", "--json", game="tic_tac_toe", deals=1)).json
    llm = shown["standings"]["agents"][0]
    assert (llm["agent"], llm["forfeits"], list(llm["bad_answers"])) == ("llm", {}, ["illegal"])
    assert shown["config"]["agents"][0]["llm"]["retries"] == 9
    assert [game.accounts["0" if game.seats[0] == "llm" else "1"]["options"] for game in games(tmp_path / "cup")] == [
        shown["config"]["agents"][0]["llm"]
    ] * 2


@pytest.mark.parametrize(
    ("agent", "code", "named"),
    [
        ("llm", 2, "names no language model: write llm:PROVIDER:MODEL"),
        ("llm:gpt", 2, "Unknown language model 'gpt': write one of openai:MODEL"),
        ("llm:openai:", 2, "lacks what comes after the colon"),
        ("llm:scripted:/no/such.jsonl", 3, "The script /no/such.jsonl cannot be read"),
        ("llm:openai:gpt-x", 3, "No key for openai:gpt-x: set OPENAI_API_KEY"),
        ("llm:spool:x,votes=0", 2, "votes is a whole number from 1 to 99, not '0'."),
        ("llm:spool:x,sims=5", 2, "a language model takes no 'sims'; known: show_legal, "),
        ("llm:spool:x,base_url=http://h/v1", 2, "base_url goes with openai:MODEL, not with spool:."),
    ],
)
def test_a_wrong_description_is_told_in_one_sentence(
    refused: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, agent: str, code: int, named: str
) -> None:
    monkeypatch.chdir(tmp_path)
    ran = refused("arena", "tic_tac_toe", "--agent", agent, "--agent", "random", "--deals", 1)
    assert ran.code == code
    assert named in ran.err


def test_a_game_without_a_rules_text_is_not_for_language_models(refused: Any) -> None:
    ran = refused("arena", "open_spiel:tic_tac_toe", "--agent", "llm:spool:x", "--agent", "random")
    assert "a language model plays by a rules text, but open_spiel:tic_tac_toe has no rules text" in ran.err


@pytest.mark.parametrize("words", [["--max-calls", 3], ["--record", "r.jsonl"]])
def test_caps_and_recordings_go_with_language_models_alone(refused: Any, words: list[object]) -> None:
    assert "No language model plays" in refused("arena", "tic_tac_toe", "--agent", "random", *words).err


def test_a_killed_tournament_repeats_no_call(cwm: Any, tmp_path: Path) -> None:
    model = script(tmp_path / "s.jsonl", CALLS)
    words = [str(word) for word in cup(model, tmp_path / "killed")]
    program = (
        "import os, signal\n"
        "from arena import cli\n"
        "from cwm.llm.providers.scripted import Scripted\n"
        "whole = Scripted.complete\n"
        "def complete(self, request):\n"
        "    if len(self.requests) == 4:\n"
        "        os.kill(os.getpid(), signal.SIGKILL)\n"
        "    return whole(self, request)\n"
        "Scripted.complete = complete\n"
        f"cli.run({words!r})\n"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, timeout=120)
    assert done.returncode == -9, done.stderr
    before = calls(tmp_path / "killed")
    assert [call.status for call in before] == ["answered"] * 4 + ["sent"]
    assert cwm("resume", tmp_path / "killed").code == 0
    assert cwm(*cup(model, tmp_path / "whole")).code == 0
    after = calls(tmp_path / "killed")
    assert games(tmp_path / "killed") == games(tmp_path / "whole")
    assert [call.key for call in after] == [call.key for call in calls(tmp_path / "whole")]
    assert {(call.status, call.lost) for call in after} == {("answered", 0)}
    assert after[:4] == before[:4]


def test_a_finished_tournament_asks_nothing_again(cwm: Any, tmp_path: Path) -> None:
    model = script(tmp_path / "s.jsonl", CALLS)
    assert cwm(*cup(model, tmp_path / "cup")).code == 0
    script(tmp_path / "s.jsonl", [])
    assert cwm(*cup(model, tmp_path / "cup")).code == 0
    assert cwm("resume", tmp_path / "cup").code == 0


def test_a_cap_makes_games_void_and_a_higher_one_plays_them(cwm: Any, tmp_path: Path) -> None:
    model = script(tmp_path / "s.jsonl", CALLS)
    assert cwm(*cup(model, tmp_path / "whole")).code == 0
    needed = len(calls(tmp_path / "whole"))
    stopped = cwm(*cup(model, tmp_path / "cup", "--max-calls", needed - 1, "--json"))
    assert stopped.code == 3
    assert f"The cap of {needed - 1} on calls would be passed" in stopped.err
    assert (stopped.json["standings"]["games"], len(stopped.json["missing"])) == (3, 1)
    assert stopped.json["standings_without_forfeits"] is None
    assert cwm("resume", tmp_path / "cup").code == 3
    assert cwm("resume", tmp_path / "cup", "--max-calls", needed).code == 0
    assert games(tmp_path / "cup") == games(tmp_path / "whole")
    assert len(calls(tmp_path / "cup")) == needed


def test_a_recorded_tournament_is_replayed_move_by_move(cwm: Any, tmp_path: Path) -> None:
    model, recording = script(tmp_path / "s.jsonl", CELLS), tmp_path / "games.jsonl"
    words = ["--record", recording]
    assert cwm(*cup(f"{model},retries=9", tmp_path / "live", *words, game="tic_tac_toe", deals=1)).code == 0
    replay = f"llm:replay:{recording},retries=9"
    assert cwm(*cup(replay, tmp_path / "again", game="tic_tac_toe", deals=1)).code == 0
    live, again = games(tmp_path / "live"), games(tmp_path / "again")
    played = {record.seats: record.actions for record in live}
    assert {record.seats: record.actions for record in again} == played
    assert len(played) == 2
    other = cwm(*cup(replay, tmp_path / "other", "--seed", 5, game="tic_tac_toe", deals=1))
    assert other.code == 3
    assert "games.jsonl holds no answer" in other.err.replace("replay:games", "games.jsonl")


def test_a_provider_that_is_down_makes_games_void(cwm: Any, tmp_path: Path) -> None:
    ran = cwm(*cup(script(tmp_path / "s.jsonl", CALLS[:3]), tmp_path / "cup", "--json", deals=1))
    assert ran.code == 3
    assert len(ran.json["missing"]) == 2 - ran.json["standings"]["games"] >= 1
    assert "x scripted:" in ran.err
    assert all(record.forfeit is None for record in games(tmp_path / "cup"))


def test_standings_are_shown_with_and_without_forfeits(cwm: Any, tmp_path: Path) -> None:
    answers: list[Any] = [CALLS[0]] * 3 + ["I fold.", {"text": "", "outcome": "refused"}] + CALLS
    shown = cwm(*cup(f"{script(tmp_path / 's.jsonl', answers)},retries=0", tmp_path / "cup", "--json")).json
    llm = shown["standings"]["agents"][0]
    lost = sum(llm["forfeits"].values())
    assert llm["forfeits"] == llm["bad_answers"]
    assert set(llm["forfeits"]) == {"refused", "unparsable"}
    assert shown["standings"]["games"] == 4
    assert shown["standings_without_forfeits"]["games"] == 4 - lost
    assert shown["standings_without_forfeits"]["agents"][0]["forfeits"] == {}


def prepared(*agents: str, deals: int = 3) -> TournamentConfig:
    specs = tuple(parse(agent) for agent in agents)
    return tournament.prepare(TournamentConfig("leduc_poker", specs, deals))


def answer(request: Request) -> Answer:
    """Answers by the seed alone: calls, raises (not always legal), or says nothing."""
    seed = request.seed or 0
    return "" if seed % 11 == 0 else json.dumps({"move": ["Call", "Raise"][seed % 2]})


@pytest.fixture
def talkative(monkeypatch: pytest.MonkeyPatch) -> list[Request]:
    """Puts a model that answers by the seed in every provider's place, and returns what was asked."""
    made = Scripted(answer, name="openai:m")
    monkeypatch.setattr(player_models.factory, "make", lambda name, **settings: made)
    return made.requests


def test_games_side_by_side_come_out_as_one_after_the_other(talkative: list[Request], tmp_path: Path) -> None:
    config = prepared("llm:openai:m,votes=2,send_seed=true,name=m,trajectories=0", "random")
    alone = tournament.run(config, MemoryStore())
    asked = len(talkative)
    with GameStore(tmp_path, config.to_json()) as kept, PlayerModels(config.agents, tmp_path) as models:
        together = tournament.run(config, kept, workers=4, models=models)
        assert models.used().calls == asked
    assert timeless(together.records) == timeless(alone.records)
    assert len(together.records) == 12
    assert len(calls(tmp_path)) == asked == len({call.key for call in calls(tmp_path)})
    assert {call.status for call in calls(tmp_path)} == {"answered"}


def test_a_provider_is_sent_seeds_only_if_asked_for(talkative: list[Request]) -> None:
    spec = replace(parse("llm:openai:m"), llm={"send_seed": False})
    model = PlayerModels([spec]).model(spec)
    model.complete(Request((), "player", seed=5, occurrence=0))
    assert talkative[-1].seed is None


def test_seeds_do_not_depend_on_the_way_to_the_model() -> None:
    def courses(agent: str) -> list[str]:
        return [game.course for game in tournament.plan(prepared(agent, "random"))]

    asked = courses("llm:openai:m,name=m,timeout=5,base_url=http://h/v1,votes=3")
    assert courses("llm:replay:r.jsonl,name=m,votes=3") == asked
    assert courses("llm:replay:r.jsonl,name=m,votes=4") != asked
    assert courses("llm:replay:r.jsonl,votes=3") != asked


def test_without_a_language_model_seeds_are_made_from_the_key() -> None:
    assert all(game.course == game.key for game in tournament.plan(prepared("random", "random:name=b")))


def test_one_recording_holds_one_model(tmp_path: Path) -> None:
    specs = [parse(f"llm:spool:{tmp_path / name},name={name}") for name in "ab"]
    with pytest.raises(Exception, match="takes the answers of one language model, and 2 play"):
        PlayerModels(specs, recording=tmp_path / "r.jsonl")


def test_one_pair_of_prices_serves_one_model() -> None:
    specs = [parse(f"llm:openai:{name}") for name in "ab"]
    with pytest.raises(Exception, match="One pair of prices is given for openai:a and openai:b"):
        PlayerModels(specs, caps=Caps(money=1.0, price_in=1.0, price_out=1.0))


def test_money_is_capped_only_where_the_price_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    with pytest.raises(ConfigurationError, match="the price of openai:a is unknown"):
        PlayerModels([parse("llm:openai:a")], caps=Caps(money=1.0))


def test_a_person_cannot_be_mistaken_for_a_model() -> None:
    with pytest.raises(AgentSpecError, match="sets 'votes' twice"):
        parse("llm:spool:d,votes=2,votes=3")


def test_a_stopped_tournament_says_why_and_plays_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Request] = []

    def refuse(request: Request) -> Answer:
        asked.append(request)
        return ConfigurationError("no such model") if len(asked) == 2 else json.dumps({"move": "Call"})

    monkeypatch.setattr(player_models.factory, "make", lambda name, **settings: Scripted(refuse, name=name))
    found = tournament.run(prepared("llm:openai:m,trajectories=0", "random"), MemoryStore())
    assert found.stopped == "language model: no such model"
    assert len(asked) == 2
    assert len(found.records) + len(found.missing) == 12


def test_a_provider_that_recovers_has_its_game_played_again(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Request] = []

    def stumble(request: Request) -> Answer:
        asked.append(request)
        return LanguageModelError("busy") if len(asked) == 2 else json.dumps({"move": "Call"})

    monkeypatch.setattr(player_models.factory, "make", lambda name, **settings: Scripted(stumble, name=name))
    config = prepared("llm:openai:m,trajectories=0,send_seed=true", "random", deals=1)
    found = tournament.run(config, MemoryStore())
    assert (found.missing, found.stopped, found.faults) == ({}, None, {"language model: busy": 1})
    assert all(record.forfeit is None for record in found.records)
    assert [call for call in asked if asked.count(call) > 1] == [asked[1]] * 2
