import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from arena.agents.api import RandomAgent, ScriptedAgent
from arena.matches import recorded_games
from arena.matches.match import play
from arena.matches.replay import RecordError
from games import registry

Written = Callable[..., Path]


@pytest.fixture
def written(tmp_path: Path) -> Written:
    """Writes games of tic_tac_toe as if a language model had sat at some seats."""

    def write(*games: tuple[tuple[str, str], tuple[int, ...]]) -> Path:
        lines = []
        for number, (names, asked) in enumerate(games):
            agents = [RandomAgent(name) for name in names]
            record = play(registry.make("tic_tac_toe"), agents, number, [number, number + 1]).to_json()
            record["accounts"] = {str(seat): {"models": ["the model"], "bad": {}} for seat in asked}
            lines.append(json.dumps({"key": str(number), **record}))
        (tmp_path / "tic_tac_toe.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
        return tmp_path

    return write


def test_games_with_a_planner_are_found_at_either_seat(written: Written) -> None:
    folder = written((("llm", "cwm:recorded"), (0,)), (("cwm", "some model"), (1,)))
    found = recorded_games.games("tic_tac_toe", folder)
    assert [record.seats for record in found] == [("llm", "cwm"), ("cwm", "llm")]


def test_games_with_itself_or_with_random_are_left_out(written: Written) -> None:
    folder = written((("llm", "llm too"), (0, 1)), (("llm", "random"), (0,)))
    assert recorded_games.games("tic_tac_toe", folder) == []


def test_game_without_a_file_was_not_played(tmp_path: Path) -> None:
    assert recorded_games.games("tic_tac_toe", tmp_path) == []


def test_game_that_the_rules_score_otherwise_is_refused(written: Written) -> None:
    folder = written((("llm", "cwm"), (0,)))
    path = folder / "tic_tac_toe.jsonl"
    data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    data["returns"] = [value + 1 for value in data["returns"]]
    path.write_text(json.dumps(data) + "\n", encoding="utf-8")
    with pytest.raises(RecordError, match="returns of tic_tac_toe"):
        recorded_games.games("tic_tac_toe", folder)


def test_line_that_is_no_game_is_named(tmp_path: Path) -> None:
    (tmp_path / "tic_tac_toe.jsonl").write_text('{"game": 1}\n', encoding="utf-8")
    with pytest.raises(RecordError, match="line 1 of"):
        recorded_games.games("tic_tac_toe", tmp_path)


def test_forfeited_game_counts(tmp_path: Path) -> None:
    game = registry.make("tic_tac_toe")
    record = play(game, [ScriptedAgent(["nowhere"], "llm"), RandomAgent("cwm")], 0, [0, 1]).to_json()
    record["accounts"] = {"0": {"asked": "openai:x"}}
    (tmp_path / "tic_tac_toe.jsonl").write_text(json.dumps(record) + "\n", encoding="utf-8")
    (found,) = recorded_games.games("tic_tac_toe", tmp_path)
    assert found.forfeit is not None
    assert found.accounts == {"0": {"asked": "openai:x"}}
