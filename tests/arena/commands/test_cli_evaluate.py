"""What `cwm evaluate` says of the contract that every game must keep, and where it keeps what it found."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cwm.model.bundle import ModelBundle

SMALL = ("--transitions", 40, "--workers", 1, "--contract-games", 2)
UNORDERED = """

ordered_actions = get_legal_actions


def get_legal_actions(state):
    return list(set(ordered_actions(state)))
"""
COUNTING = """

ordered_actions = get_legal_actions
asked = 0


def get_legal_actions(state):
    global asked
    asked += 1
    actions = ordered_actions(state)
    return actions[asked % 2 :] + actions[: asked % 2] if len(actions) > 8 else actions
"""
MUTATING = """

quiet_action = apply_action


def apply_action(state, action):
    changed = quiet_action(state, action)
    state["seen"] = True
    return changed
"""


@pytest.fixture
def changed(finished: Path, tmp_path: Path) -> Callable[[str], Path]:
    """Returns the folder of the exact model with something added to its program."""

    def make(added: str) -> Path:
        bundle = ModelBundle.load(finished)
        source = bundle.source + added
        made = ModelBundle(source, None, bundle.initial_state, bundle.info, bundle.rules_hash)
        made.save(tmp_path / "changed")
        return tmp_path / "changed"

    return make


def test_an_exact_model_keeps_every_rule(cwm: Any, finished: Path) -> None:
    ran = cwm("evaluate", finished, *SMALL)
    assert ran.code == 0
    assert "contract of every game, 2 random games: every rule kept" in ran.out


@pytest.mark.parametrize(
    ("added", "rule"),
    [
        (UNORDERED, "answers differ in another process"),
        (COUNTING, "legal_actions is not deterministic"),
        (MUTATING, "apply_action changes its input"),
    ],
)
def test_a_broken_rule_is_named_with_a_state_that_shows_it(
    cwm: Any, changed: Callable[[str], Path], added: str, rule: str
) -> None:
    model = changed(added)
    found = cwm("evaluate", model, *SMALL, "--json")
    assert found.code == 1
    violations = {item["rule"]: item for item in found.json["contract"]["violations"]}
    assert rule in violations
    assert violations[rule]["state"]["board"] == ["."] * 9
    assert violations[rule]["actions"] == []
    ran = cwm("evaluate", model, *SMALL)
    assert ran.code == 1
    assert rule in ran.out
    assert "after []" in ran.out
    assert f"in {json.dumps(violations[rule]['state'], ensure_ascii=False)}" in ran.out


def test_the_contract_may_be_left_out(cwm: Any, changed: Callable[[str], Path]) -> None:
    ran = cwm("evaluate", changed(UNORDERED), "--transitions", 40, "--workers", 1, "--contract-games", 0, "--json")
    assert ran.code == 0
    assert ran.json["contract"] is None


def test_a_folder_keeps_an_evaluation_and_no_other_command_takes_it_for_a_run(
    cwm: Any, refused: Any, finished: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "evaluation"
    first = cwm("evaluate", finished, *SMALL, "--run", folder)
    again = cwm("evaluate", finished, *SMALL, "--run", folder)
    resumed = cwm("resume", folder, "--workers", 1)
    assert (first.code, again.out, resumed.out) == (0, first.out, first.out)
    ran = refused("evaluate", finished, "--transitions", 41, "--workers", 1, "--contract-games", 2, "--run", folder)
    assert ran.code == 2
    assert "config.games.fresh transitions: 40 in the record, 41 now" in ran.err
    assert "has no report" in refused("report", folder).err
    assert "has no games to verify" in refused("verify", folder).err
    assert "which makes no calls" in refused("resume", folder, "--max-calls", 3).err
    assert "kind: " in refused("evaluate", finished, *SMALL, "--run", finished).err


def test_games_of_a_file_are_told_apart_by_their_content(
    cwm: Any, refused: Any, finished: Path, tmp_path: Path
) -> None:
    games, folder = tmp_path / "games.jsonl", tmp_path / "evaluation"
    assert cwm("trajectories", "record", "tic_tac_toe", "--games", 3, "--output", games).code == 0
    words = ["evaluate", finished, "--trajectories", games, "--workers", 1, "--contract-games", 1, "--run", folder]
    first = cwm(*words)
    assert first.code == 0
    copy = tmp_path / "games.copy.jsonl"
    copy.write_bytes(games.read_bytes())
    words[3] = copy
    assert cwm(*words, "--json").code == 0
    copy.unlink()
    assert cwm("trajectories", "record", "tic_tac_toe", "--games", 2, "--output", copy).code == 0
    assert "config.games.file (SHA-256): " in refused(*words).err
