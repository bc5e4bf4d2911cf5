"""`cwm evaluate --mutants` and `cwm trajectories record --aim`."""

from pathlib import Path
from typing import Any

import pytest

from arena.evaluation import suite_quality
from arena.matches.game_source import load_bundle
from arena.runs import origins
from arena.usage import UsageError
from cwm.model.bundle import ModelBundle
from cwm.quality.mutation_score import ScoreOptions
from cwm.trajectories import files

SMALL = ("--transitions", 40, "--workers", 1, "--contract-games", 0)


def test_mutants_and_branches_are_reported_with_survivors_and_kept_in_the_folder(
    cwm: Any, refused: Any, finished: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "evaluation"
    words = ("evaluate", finished, *SMALL, "--mutants", 12, "--run", folder)
    found = cwm(*words, "--json")
    assert found.code == 0
    suite = found.json["suite"]
    assert suite["failed"] is None
    score = suite["mutation"]
    assert score["mutants"] == 12 == score["caught"] + len(score["survivors"])
    assert sum(total for _, total in score["operators"].values()) == 12
    assert sum(caught for caught, _ in score["functions"].values()) == score["caught"]
    assert suite["coverage"]["taken"] + len(suite["coverage"]["missed"]) == suite["coverage"]["branches"]
    shown = cwm(*words)
    assert f"{score['caught']} of 12 mutants caught" in shown.out
    assert f"reach {suite['coverage']['taken']} of {suite['coverage']['branches']} branches" in shown.out
    assert cwm("resume", folder, "--workers", 1).out == shown.out
    assert "mutants" in refused("evaluate", finished, *SMALL, "--mutants", 13, "--run", folder).err


def test_without_mutants_nothing_is_said_of_the_suite(cwm: Any, finished: Path) -> None:
    assert cwm("evaluate", finished, *SMALL, "--json").json["suite"] is None


def test_a_model_that_fails_its_tests_has_no_mutation_score(cwm: Any, finished: Path, tmp_path: Path) -> None:
    bundle = ModelBundle.load(finished)
    wrong = bundle.source + "\n\ndef get_rewards(state):\n    return [0.5, 0.5]\n"
    ModelBundle(wrong, None, bundle.initial_state, bundle.info, bundle.rules_hash).save(tmp_path / "wrong")
    found = cwm("evaluate", tmp_path / "wrong", *SMALL, "--mutants", 5, "--json").json["suite"]
    assert found["failed"].startswith("transition-")
    assert found["mutation"]["mutants"] == 0
    assert (
        "a mutation score is of a model that passes all"
        in cwm("evaluate", tmp_path / "wrong", *SMALL, "--mutants", 5).out
    )


def test_aimed_games_are_written_and_catch_what_the_training_games_miss(
    cwm: Any, finished: Path, tmp_path: Path
) -> None:
    output = tmp_path / "aimed.jsonl"
    words = ("trajectories", "record", "tic_tac_toe", "--aim", finished, "--candidates", 8, "--games", 3)
    ran = cwm(*words, "--output", output, "--workers", 1)
    assert ran.code == 0
    assert "8 candidates; of" in ran.out
    games = files.read(output)
    assert 1 <= len(games) <= 3
    bundle = load_bundle(finished)
    options = ScoreOptions()
    before = origins.of_model(finished, bundle)
    after = origins.of_model(finished, bundle, output)
    missed = suite_quality.measure(bundle, before, suite_quality.MUTANTS, options).score
    caught = suite_quality.measure(bundle, after, suite_quality.MUTANTS, options).score
    survivors = {verdict.mutant for verdict in missed.survivors}
    assert survivors & {verdict.mutant for verdict in caught.verdicts if not verdict.survived}


def test_aimed_games_are_of_the_models_game(refused: Any, finished: Path, tmp_path: Path) -> None:
    ran = refused("trajectories", "record", "connect_four", "--aim", finished, "--output", tmp_path / "x.jsonl")
    assert (ran.code, "holds a model of tic_tac_toe, not of connect_four" in ran.err) == (2, True)


def test_a_models_training_games_are_those_of_its_run(finished: Path, tmp_path: Path) -> None:
    bundle = load_bundle(finished)
    inputs = origins.of_model(finished, bundle)
    assert inputs.train == tuple(files.read(finished / "inputs" / "train.jsonl"))
    # The model alone stands for what a synthesis starts from by default.
    assert origins.of_model(finished / "model", bundle).train == inputs.train
    own = ModelBundle(bundle.source, None, bundle.initial_state, {**bundle.info, "id": "mine"}, bundle.rules_hash)
    with pytest.raises(UsageError, match="the option `trajectories`"):
        origins.of_model(tmp_path, own)
