"""A user's own game of hidden information, recorded without its states: from the file to a model that plays."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from cwm.model.bundle import ModelBundle
from cwm.record.record import RunRecord
from cwm.trajectories.recorded import collect
from games import registry

PROGRAM = Path(__file__).resolve().parents[2] / "data" / "hidden_programs" / "kuhn_poker.py"
START = 'START = {"private_cards": [None, None], "betting": [], "contributions": [1, 1], "current_player": -1}\n'


def program() -> str:
    """Returns a right program whose games start from the empty state."""
    text = PROGRAM.read_text("utf-8").replace("CARDS = ", START + "CARDS = ", 1)
    return re.sub(r"^(def \w+\(state\b.*:)$", r"\1\n    state = state or START", text, flags=re.MULTILINE)


def lines(seats: bool, games: int = 10) -> list[dict[str, Any]]:
    """Returns games of an unknown game: the players' own notes, or a log without states and without chance."""
    rows: list[dict[str, Any]] = []
    for game in collect(registry.make("kuhn_poker"), games, 3):
        seat = game.index % 2
        kept = [step for step in game.steps if step.player in ((seat, -4) if seats else (0, 1, -4))]
        for number, step in enumerate(kept):
            row: dict[str, Any] = {"version": 1, "game": "three_cards", "trajectory": game.index, "step": number}
            row |= {"player": step.player, "action": step.action, "legal_actions": list(step.legal_actions)}
            row |= {"observations": list(step.observations), "rewards": list(step.rewards)}
            if seats:
                row["observations"][1 - seat] = row["rewards"][1 - seat] = None
                row |= {"seat": seat} if number == 0 else {}
            rows.append(row)
    return rows


def put(folder: Path, rows: list[dict[str, Any]]) -> list[object]:
    """Writes the files of the game and of a model that knows it; returns the words that name them."""
    (folder / "rules.txt").write_text("Three cards, one coin each.\n", encoding="utf-8")
    (folder / "games.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    (folder / "answers.jsonl").write_text(json.dumps(f"```python\n{program()}\n```") + "\n", encoding="utf-8")
    words: list[object] = ["synthesize", "--rules", folder / "rules.txt", "--trajectories", folder / "games.jsonl"]
    return [*words, "--llm", f"scripted:{folder / 'answers.jsonl'}", "--workers", 1]


@pytest.mark.parametrize("seats", [True, False])
def test_a_model_is_synthesised_from_games_without_states(cwm: Any, tmp_path: Path, seats: bool) -> None:
    words = put(tmp_path, lines(seats))
    run, games = tmp_path / "run", tmp_path / "games.jsonl"
    made = cwm(*words, "--deck", "closed", "--run", run)
    assert made.code == 0, made.err
    result = cwm("report", run, "--json").json
    for split in ("train", "test"):
        kinds = result["evaluations"][split]["kinds"]
        assert {kind: tally["accuracy"] for kind, tally in kinds.items()} == {"inference": 1.0, "random_play": 1.0}
        assert result["evaluations"][split]["likelihood"]["bounded"] > 0
    bundle = ModelBundle.load(run)
    assert (bundle.deck, bundle.initial_state) == ("closed", {})
    assert bundle.game_info.utility == ("general_sum" if seats else "zero_sum")
    with RunRecord.read(run) as record:
        prompt = next(iter(record.calls.calls())).request.messages[0].text
    assert "It is:\n\n```\n{}\n```" in prompt
    tested = cwm("evaluate", run, "--trajectories", games, "--workers", 1, "--contract-games", 1)
    assert tested.code == 0, tested.err
    words = ["play", f"cwm:{run}", "--agent", f"cwm:{run},sims=5", "--agent", "random", "--json"]
    assert cwm(*words).json["forfeit"] is None


def test_the_check_says_what_the_closed_deck_makes_of_a_file(cwm: Any, refused: Any, tmp_path: Path) -> None:
    put(tmp_path, lines(True))
    games = tmp_path / "games.jsonl"
    found = cwm("trajectories", "check", games, "--deck", "closed", "--json").json
    assert (found["game"], found["games"], found["players"]) == ("three_cards", 10, 2)
    assert (found["games_by_seat"], found["initial_state"]) == ({"0": 5, "1": 5}, {})
    assert found["decisions"] == found["steps"] - 10
    assert (found["perfect_information"], found["has_chance"], found["payoffs"]) == (False, True, "general_sum")
    assert "games by seat: {'0': 5, '1': 5}" in cwm("trajectories", "check", games, "--deck", "closed").out
    assert cwm("trajectories", "check", games).code == 2
    assert "give open or closed" in refused("trajectories", "check", games, "--deck", "shut").err


def test_games_without_states_are_for_the_closed_deck_alone(cwm: Any, tmp_path: Path) -> None:
    ran = cwm(*put(tmp_path, lines(False)), "--run", tmp_path / "run")
    assert ran.code == 2
    assert (
        "line 1: field 'state' is missing; expected an object (games without states are for a closed deck)" in ran.err
    )
    assert not (tmp_path / "run").exists()


def test_what_everybody_knows_at_the_start_may_be_said(cwm: Any, tmp_path: Path) -> None:
    rows = lines(True)
    for row in rows:
        if row["step"] == 0:
            row["state"] = {"stakes": 1}
    words = put(tmp_path, rows)
    ran = cwm(*words, "--deck", "closed", "--dry-run")
    assert ran.code == 0, ran.err
    assert "It is:\n\n```\n{'stakes': 1}\n```" in ran.out
