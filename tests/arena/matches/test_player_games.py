"""Games that a language model played, as they ship: scored anew by the true rules."""

import json
import sqlite3
from contextlib import closing
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from arena.matches import recorded_games, replay
from arena.matches.match import GameRecord
from cwm.llm import recordings
from games import registry

GAMES = ("connect_four", "leduc_poker", "quadranto", "tic_tac_toe", "yokai-9c-2p")
FOLDER = resources.files("cwm") / "recordings" / "players"


def lines(game: str) -> list[dict[str, Any]]:
    text = (FOLDER / f"{game}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.parametrize("game", GAMES)
def test_ten_games_ship_with_itself_and_with_the_planner_on_a_model(game: str) -> None:
    records = [GameRecord.from_json(line) for line in lines(game)]
    assert len(records) >= 10
    assert len({line["key"] for line in lines(game)}) == len(records)
    assert len(recorded_games.games(game)) == 6
    assert sum(len(record.accounts) == 2 for record in records) >= 4


HANABI = tuple(name.removeprefix(recordings.PLAYED) for name in recordings.played_names())
EVERY = (*GAMES, *sorted({name.partition("+")[0] for name in HANABI}))


@pytest.mark.parametrize("game", EVERY)
def test_every_game_agrees_with_the_true_rules(game: str) -> None:
    rules = registry.make(game)
    for line in lines(game):
        record = GameRecord.from_json(line)
        replay.verify(rules, record)
        with pytest.raises(replay.RecordError):
            replay.verify(rules, GameRecord.from_json(line | {"returns": [value + 1 for value in line["returns"]]}))


@pytest.mark.parametrize("game", GAMES)
def test_who_played_is_named_and_where_it_was_asked_is_not(game: str) -> None:
    for line in lines(game):
        for account in line["accounts"].values():
            assert account["models"]
            assert account["asked"] == "spool:DIR"
            assert account["options"]["show_legal"] is False


def _without_ways(account: dict[str, Any]) -> dict[str, Any]:
    """Returns an account without who was asked, and without what depends on it: the keys of the calls."""
    turns = [
        turn | {"calls": [{**call, "key": None} for call in turn["calls"]]} if "calls" in turn else turn
        for turn in account["turns"]
    ]
    return {key: value for key, value in account.items() if key != "asked"} | {"turns": turns}


def _settings(account: dict[str, Any]) -> str:
    options = account["options"]
    given = {name: options[name] for name in ("scaffold", "k", "mixture") if options.get(name) not in (None, 1, False)}
    return ",".join(f"{name}={str(value).lower()}" for name, value in given.items())


@pytest.mark.parametrize("name", HANABI)
def test_recorded_answers_play_the_game_again_word_for_word(cwm: Any, tmp_path: Path, name: str) -> None:
    game, _, kind = name.partition("+")
    [line] = [line for line in lines(game) if _is(line, kind)]
    agent = f"llm:replay:{recordings.PLAYED}{name},{_settings(line['accounts']['0'])}"
    deck = line["deck"]["name"]
    assert (
        cwm("arena", game, "--agent", agent, "--deck", deck, "--pairing", "self", "--run", tmp_path / "run").code == 0
    )
    with closing(sqlite3.connect(tmp_path / "run" / "games.sqlite")) as database:
        [(stored,)] = database.execute("SELECT record FROM games").fetchall()
    again = json.loads(stored)
    for part in ("actions", "returns", "outcome", "deck", "forfeit"):
        assert again[part] == line[part]
    assert again["accounts"].keys() == line["accounts"].keys()
    for seat, account in line["accounts"].items():
        assert _without_ways(again["accounts"][seat]) == _without_ways(account)
        assert account["asked"] == "spool:DIR"


def _is(line: dict[str, Any], kind: str) -> bool:
    """Tells whether a game is the one of a recording's name: its scaffold, best of several, or a mixture."""
    options = line["accounts"]["0"]["options"]
    named = "mixture" if options.get("mixture") else f"best{options['k']}" if options.get("k") else options["scaffold"]
    return named == kind
