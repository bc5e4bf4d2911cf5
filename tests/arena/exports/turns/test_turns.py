"""Decisions as rows: whole games play again from them, splits are by deck, and one broken row is named."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from arena.decisions.search_ratings import RateConfig, rate
from arena.decisions.walk import PlayedFolder, TakenDecision
from arena.exports.turns import check, files, schema
from arena.exports.turns.export import RowWishes, export, rlvr_row, sft_row
from arena.exports.turns.rows import rows_of
from arena.language_players.turn_record import TurnRecord
from arena.usage import UsageError
from cwm.rewards.functions import rating_reward
from games.api import Game, State
from tests.arena.decisions import told


def spoken(place: PlayedFolder) -> PlayedFolder:
    """Has a language model say something at every decision, with a question and an answer of its own."""

    def says(game: Game, decision: TakenDecision, state: State) -> TurnRecord:
        legal = game.legal_actions(state)
        ratings = [(move, 1.0 if move == decision.action else -0.5) for move in legal]
        index = legal.index(decision.action)
        answer = json.dumps({"ratings": [rating for _, rating in ratings], "reason": "so", "action": index})
        bad = replace(told.call(place, f"{decision.key} {decision.number}, first", "no"), bad="no_move")
        call = told.call(place, f"{decision.key} {decision.number}", answer)
        return TurnRecord(0, None, tuple(ratings), 1, "so", calls=(bad, call))

    return told.tell(place, says)


def test_every_row_has_the_one_schema_and_its_question_answer_and_truth(tmp_path: Path) -> None:
    place = spoken(told.play(tmp_path, deals=2))
    found = list(rows_of(place))
    assert [row for row in found if schema.problem(row) is not None] == []
    assert len(found) == sum(record.length for record in place.games.values())
    row = found[1]
    assert [message["role"] for message in row["prompt"]] == ["system", "user"]
    assert row["prompt"][1]["content"].startswith(f"{row['game_id']} ")
    assert not row["prompt"][1]["content"].endswith("first")
    assert json.loads(row["response"])["action"] == row["action_index"]
    assert row["legal"][row["action_index"]] == row["action"]
    assert row["ratings"][row["action_index"]] == 1.0
    assert (row["ratings_by"], row["scaffold"], row["model"]) == ("self", "mycroft", "scripted:answers")
    assert (row["input_tokens"], row["output_tokens"]) == (14, 6)
    assert len(row["truth"]) == 4
    assert json.loads(row["since"]) == [[0, found[0]["action"]]]
    record = place.games[row["game_id"]]
    assert record.outcome is not None
    assert (row["points"], row["strict"]) == (record.outcome["points"], record.won_score)


def test_of_other_players_the_row_holds_what_they_saw_and_the_move(tmp_path: Path) -> None:
    place = told.play(tmp_path, "kuhn_poker", 2, ("random", "random:name=b"))
    found = list(rows_of(place))
    assert all(schema.problem(row) is None for row in found)
    moves = "\n".join(f"{number}. {action}" for number, action in enumerate(found[0]["legal"]))
    assert found[0]["prompt"][0]["content"].endswith(f"Legal moves:\n{moves}")
    assert json.loads(found[0]["response"]) == {"action": found[0]["action"]}
    assert found[0]["truth"] == []
    assert {row["points"] for row in found} <= {-2.0, -1.0, 1.0, 2.0}


@pytest.mark.parametrize("game", ["hanabi-tiny-2p", "yokai-9c-2p", "kuhn_poker"])
def test_whole_games_play_again_from_their_rows(game: str, tmp_path: Path) -> None:
    agents = {"hanabi-tiny-2p": "partner:simple", "yokai-9c-2p": "partner:heuristic", "kuhn_poker": "random:name=b"}
    place = told.play(tmp_path / "run", game, 1, (agents[game], "random"))
    splits = export([place], RowWishes(), tmp_path / "out")
    found = check.check(tmp_path / "out" / "train.jsonl")
    assert (found.problems, found.replayed) == ([], splits["train"])
    assert found.games == len(place.games)


@pytest.fixture
def exported(tmp_path: Path) -> Path:
    """Returns a file of the rows of three games."""
    export([told.play(tmp_path / "run", deals=3)], RowWishes(), tmp_path / "out")
    return tmp_path / "out" / "train.jsonl"


CHANGES = {
    "legal": ("legal", lambda row: row["legal"][::-1], "legal is"),
    "truth": ("truth", lambda row: row["truth"][1:], "truth is"),
    "state": ("state", lambda row: row["state"].replace('"phase": "play"', '"phase": "over"'), "state is"),
    "points": ("points", lambda row: row["points"] + 1, "points is"),
    "seat": ("seat", lambda row: 1 - row["seat"], "seat is"),
    "index": ("action_index", lambda row: len(row["legal"]), "action_index is"),
    "column": ("q", lambda row: None, "q is None, expected a list"),
}


@pytest.mark.parametrize("kind", CHANGES)
def test_the_first_row_that_does_not_agree_is_named_and_the_other_games_still_count(kind: str, exported: Path) -> None:
    column, change, message = CHANGES[kind]
    rows = [json.loads(line) for line in exported.read_text(encoding="utf-8").splitlines()]
    rows[2][column] = change(rows[2])
    exported.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    found = check.check(exported)
    (problem,) = found.problems
    assert problem.number == 3
    assert problem.message.startswith(message)
    assert found.replayed == sum(row["game_id"] != rows[2]["game_id"] for row in rows)


def test_a_broken_line_is_named_and_loses_no_other_row(exported: Path, refused: Any, cwm: Any) -> None:
    lines = exported.read_text(encoding="utf-8").splitlines()
    games = {json.loads(line)["game_id"] for line in lines}
    lines.insert(4, '{"game_id": "cut o')
    exported.write_text("\n".join(lines) + "\n", encoding="utf-8")
    found = check.check(exported)
    assert [(problem.number, problem.message[:13]) for problem in found.problems] == [(5, "it is no JSON")]
    assert (found.rows, found.replayed, found.games) == (len(lines), len(lines) - 1, len(games))
    ran = cwm("turns", "check", exported)
    assert ran.code == 4
    assert f"{len(lines) - 1} of {len(lines)} rows in 3 games agree with their games" in ran.out
    assert f"error: {exported}, row 5: it is no JSON" in ran.err
    del lines[4], lines[1]
    exported.write_text("\n".join(lines) + "\n", encoding="utf-8")
    (problem,) = check.check(exported).problems
    assert (problem.number, problem.message) == (2, "row 1 of its game is missing")


def test_no_deck_is_in_two_splits_and_the_card_tells_columns_and_files(cwm: Any, refused: Any, tmp_path: Path) -> None:
    run, out = tmp_path / "run", tmp_path / "out"
    place = told.play(run, deals=3, agents=("partner:simple", "partner:value"))
    decks = sorted({f"seed:{record.deal_seed}" for record in place.games.values()})
    ran = cwm("turns", "export", run, "-o", out, "--test-decks", f"{decks[0]},{decks[2].removeprefix('seed:')}")
    assert ran.code == 0, ran.err
    dealt = {
        name: {json.loads(line)["deck_name"] for line in (out / f"{name}.jsonl").read_text().splitlines()}
        for name in ("train", "test")
    }
    assert dealt == {"train": {decks[1]}, "test": {decks[0], decks[2]}}
    card = (out / "README.md").read_text(encoding="utf-8")
    head = dict(line.split(": ", 1) for line in card.split("---\n")[1].splitlines())
    assert [part["split"] for part in json.loads(head["configs"])[0]["data_files"]] == ["train", "test"]
    assert [one["name"] for one in json.loads(head["dataset_info"])[0]["features"]] == list(schema.LOGS)
    told_of = refused("turns", "export", run, "-o", out, "--test-decks", "hle:1").err
    assert f"No game was dealt from hle:1; the decks are {', '.join(decks)}." in told_of


def test_rows_for_training_hold_question_and_answer_and_pass_filters(cwm: Any, refused: Any, tmp_path: Path) -> None:
    run = tmp_path / "run"
    place = spoken(told.play(run, deals=2))
    found = list(rows_of(place))
    said = {"role": "assistant", "content": found[0]["response"]}
    assert sft_row(found[0])["messages"] == [*found[0]["prompt"], said]
    made = rlvr_row(found[0], 7)
    assert (made["answer"], made["example_id"]) == ("", 7)
    assert rating_reward([found[0]["response"]], [made["info"]]) == [1.0]
    for form in ("sft", "rlvr", "rewards"):
        assert cwm("turns", "export", run, "--as", form, "-o", tmp_path / form, "--top-rated").code == 0
        lines = (tmp_path / form / "train.jsonl").read_text(encoding="utf-8").splitlines()
        assert [schema.problem(json.loads(line), schema.COLUMNS[form]) for line in lines] == [None] * len(found)
    for words, message in (
        (("--min-points", "99"), f"None of {len(found)} decisions is left for the data set"),
        (("--scaffold", "watson"), "is left for the data set"),
        (("--agents", "me"), "Nobody called 'me' played"),
        (("--as", "csv"), "There is no form 'csv' of rows: give logs, rewards, sft, rlvr."),
        (("--ratings", "judge"), "Nobody called 'judge' rates moves: give self, search, clairvoyant."),
        (("--ratings", "clairvoyant"), "is rated by clairvoyant: run `cwm rate` with --clairvoyant first."),
    ):
        assert message in refused("turns", "export", run, "-o", tmp_path / "no", *words).err


def test_ratings_by_search_stand_in_rows_with_their_values_and_errors(tmp_path: Path) -> None:
    place = told.play(tmp_path)
    rate(place, RateConfig(worlds=4))
    row = next(iter(rows_of(place, "search")))
    assert (row["ratings_by"], row["worlds"], max(row["ratings"])) == ("search", 4, 1.0)
    assert row["q"].index(max(row["q"])) == row["ratings"].index(1.0)
    assert all(error >= 0 for error in row["q_se"])
    assert next(iter(rows_of(place)))["ratings"] == []


def test_a_file_that_is_none_of_rows_is_refused(refused: Any, tmp_path: Path) -> None:
    assert "ends in .csv; rows are read from .jsonl or .parquet." in refused("turns", "check", tmp_path / "a.csv").err
    assert "cannot be read" in refused("turns", "check", tmp_path / "a.jsonl").err
    with pytest.raises(UsageError, match="ends in nothing"):
        list(files.read(tmp_path / "rows"))


@pytest.mark.extra("parquet")
def test_both_formats_hold_the_same_rows(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    export([spoken(told.play(tmp_path / "run", deals=2))], RowWishes(), tmp_path / "out")
    lines, table = (list(files.read(tmp_path / "out" / name)) for name in ("train.jsonl", "parquet/train.parquet"))
    assert [row for _, row, _ in lines] == [row for _, row, _ in table]
    assert check.check(tmp_path / "out" / "parquet" / "train.parquet").problems == []
