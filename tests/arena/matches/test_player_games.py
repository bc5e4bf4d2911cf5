"""Games that a language model played, as they ship: scored anew by the true rules."""

import json
from importlib import resources
from typing import Any

import pytest

from arena.matches import recorded_games, replay
from arena.matches.match import GameRecord
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


@pytest.mark.parametrize("game", GAMES)
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
