"""Rows in the published layout come in where their games play again, and are counted by reason where not."""

import json
from pathlib import Path
from typing import Any

import pytest

from arena.exports.turns import check, hanabi_data, schema
from arena.exports.turns.check import PlayedAgain
from games import registry
from games.api import TERMINAL
from games.hanabi.config import VARIANTS, deal
from games.hanabi.decks import deck
from games.hanabi.partners import PARTNERS

Rows = list[dict[str, Any]]


def published(players: int, name: str, moves: int, first: int = 0, model: str = "o3") -> Rows:
    """Returns made-up rows of a game of bots with a deck."""
    game = registry.make(f"hanabi-{players}p")
    cards = [deal(card) for card in deck(name, VARIANTS[f"hanabi-{players}p"])]
    replayed, found = PlayedAgain(game, cards), list[dict[str, Any]]()
    while replayed.player != TERMINAL and len(found) < moves:
        legal = game.legal_actions(replayed.state)
        action = PARTNERS["simple"](replayed.history(), legal, None)  # type: ignore[arg-type]
        index = legal.index(action)
        found.append(
            {
                "model_name": model,
                "players": players,
                "seed": int(name.partition(":")[2]),
                "turn_number": len(found) + 1,
                "current_player": (replayed.player + first) % players,
                "raw_game_state_before_move": "…",
                "deck_size": 40,
                "user_prompt": f"turn {len(found)}",
                "response_content": json.dumps({"move_ratings": [], "reason": "so", "action": index}),
                "legal_moves_description_for_llm": {str(n): f"{n}. {move}" for n, move in enumerate(legal)},
                "move_ratings": [0.5] * len(legal),
                "system_prompt": "You play.",
            }
        )
        replayed.act(action)
    return found


def written(path: Path, rows: Rows) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.mark.parametrize(("name", "first"), [("hle:3", 0), ("hle-random:19", 1)])
def test_whole_games_come_in_with_deck_move_and_ratings(name: str, first: int, tmp_path: Path) -> None:
    given = published(2, name, 500, first)
    found = hanabi_data.read(written(tmp_path / "rows.jsonl", given))
    assert (len(found.rows), found.read, dict(found.left_out)) == (len(given), len(given), {})
    assert [row for row in found.rows if schema.problem(row) is not None] == []
    row = found.rows[4]
    assert (row["deck_name"], row["variant"], row["forfeit"]) == (name, "hanabi-2p", None)
    assert row["action_index"] == json.loads(given[4]["response_content"])["action"]
    assert set(row["ratings"]) == {0.5}
    assert row["prompt"] == [{"role": "system", "content": "You play."}, {"role": "user", "content": "turn 4"}]
    assert row["points"] == row["strict"] > 10


def test_what_came_in_plays_again_and_a_game_that_stops_early_says_so(cwm: Any, tmp_path: Path) -> None:
    rows = [*published(3, "hle:2", 12), *published(2, "hle:4", 500)]
    ran = cwm(
        "turns", "import", written(tmp_path / "rows.jsonl", rows), "--test-decks", "hle:4", "-o", tmp_path / "out"
    )
    assert ran.code == 0, ran.err
    for split, count in (("train", 12), ("test", len(rows) - 12)):
        found = check.check(tmp_path / "out" / f"{split}.jsonl")
        assert (found.problems, found.replayed) == ([], count)
    first = json.loads((tmp_path / "out" / "train.jsonl").read_text(encoding="utf-8").splitlines()[0])
    assert first["forfeit"] == "unfinished"


def test_bad_rows_are_counted_by_reason_and_the_first_is_named(cwm: Any, refused: Any, tmp_path: Path) -> None:
    good, other, silent = (published(2, f"hle:{seed}", 20) for seed in (1, 3, 5))
    over = published(2, "hle:6", 500)
    other[7]["legal_moves_description_for_llm"] = {"0": "(Discard 0)"}
    silent[15]["response_content"] = "I cannot decide."
    over.append({**over[-1], "turn_number": 999})
    strange = [{**row, "seed": 77} for row in published(2, "hle:8", 3, model="gpt")]
    lacking = [{"model_name": "o3"}, {**good[0], "players": 7}, {**good[0], "seed": "1"}]
    path = written(tmp_path / "rows.jsonl", [*good, *other, *silent, *over, *strange, *lacking])
    path.write_text(path.read_text(encoding="utf-8") + '{"model_name": "cut\n', encoding="utf-8")
    found = hanabi_data.read(path)
    assert dict(found.left_out) == {
        "the legal moves are others": 1,
        "the answer names no move": 1,
        "after a row of its game that is left out": 12 + 4,
        "its game is over": 1,
        "the deck of its seed deals other hands": 3,
        "players is missing": 1,
        "no game for 7 players": 1,
        "seed is no int": 1,
        "no JSON": 1,
    }
    assert len(found.rows) == 20 + 7 + 15 + len(over) - 1
    assert found.first == (28, "the legal moves are others")
    ran = cwm("turns", "import", path, "-o", tmp_path / "out")
    assert "16 rows left out: after a row of its game that is left out" in ran.err
    assert "first: row 28: the legal moves are others" in ran.err
    assert check.check(tmp_path / "out" / "train.jsonl").problems == []
    told = refused("turns", "import", path, "--from", "csv", "-o", tmp_path / "no").err
    assert "There is no layout 'csv': give hanabi-data." in told
