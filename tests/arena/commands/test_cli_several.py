"""`cwm synthesize --syntheses N` and `cwm select`, from the command line."""

import csv
import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from arena.matches import rejection
from arena.pipeline.several import SeveralSettings, left_for
from cwm.llm.caps import Caps
from cwm.model.bundle import ModelBundle, describe
from cwm.record.record import RunRecord
from games import registry
from games.api import state_to_json

PROGRAM = Path(__file__).resolve().parents[2] / "data" / "hidden_programs" / "kuhn_poker.py"
GOOD = PROGRAM.read_text(encoding="utf-8").replace("last_is_terminal)", "last_is_terminal=False)")
IMPOSSIBLE = GOOD.replace('*seen["betting"]]', '"Raise", "Raise"]')
FAST = ["--rejection-repetitions", 4, "--rejection-simulations", 10, "--workers", 1]


@pytest.fixture
def scripted(tmp_path: Path) -> str:
    """Returns the name of a model that writes Kuhn poker right at once."""
    path = tmp_path / "answers.jsonl"
    path.write_text(json.dumps(f"```python\n{GOOD}\n```") + "\n", encoding="utf-8")
    return f"scripted:{path}"


def several(model: str, run: Path, *words: object) -> list[object]:
    few = ["--test-transitions", 30, "--further-games", 0]
    return ["synthesize", "kuhn_poker", "--llm", model, "--run", run, *few, *FAST, *words]


def saved(folder: Path, source: str) -> Path:
    """Stores a program as a model of Kuhn poker."""
    game = registry.make("kuhn_poker")
    initial = state_to_json(game, game.initial_state())
    ModelBundle(source, None, initial, describe(game.info), "rules").save(folder)
    return folder


def calls_of(run: Path) -> int:
    with RunRecord.read(run) as record:
        return sum(call.completion is not None for call in record.calls.calls())


def tokens_of(run: Path) -> int:
    with RunRecord.read(run) as record:
        return sum(call.completion.usage.output_tokens for call in record.calls.calls() if call.completion is not None)


def test_several_syntheses_share_one_budget_and_a_higher_cap_goes_on(cwm: Any, scripted: str, tmp_path: Path) -> None:
    run = tmp_path / "run"
    capped = cwm(*several(scripted, run, "--syntheses", 2, "--max-calls", 1))
    assert (capped.code, "a cap is reached" in capped.err) == (3, True)
    assert "1 of 2 syntheses led to a model" in re.sub(r"\s+", " ", capped.out)

    with RunRecord.read(run) as record:
        settings = SeveralSettings.from_record(record.info.config)
    first, second = settings.each()
    left = left_for(run, settings, second, Caps(calls=5, tokens=50_000, minutes=10.0))
    assert (left.calls, left.tokens) == (4, 50_000 - tokens_of(run / "s0"))
    assert left.minutes is not None
    assert left.minutes < 10.0
    assert left_for(run, settings, first, Caps(calls=5)) == Caps(calls=5)

    resumed = cwm("resume", run, "--max-calls", 2, "--workers", 1, "--json")
    assert resumed.code == 0, resumed.err
    assert [calls_of(run / name) for name in ("s0", "s1")] == [1, 1]
    assert resumed.json["kept"] == ["s0", "s1"]
    assert [item["seed"] for item in resumed.json["candidates"]] == [0, 1]
    assert resumed.json["rejection"]["matches"] == 4 * 2 * 2 * 2

    # The run plays the chosen model, and its report is rebuilt from what is stored.
    chosen = run / resumed.json["chosen"]
    assert ModelBundle.load(run).hash == ModelBundle.load(chosen).hash
    again = cwm("report", run, "--json")
    assert again.json == {key: value for key, value in resumed.json.items() if key != "run"}
    assert "chosen" in cwm("report", run).out
    page = (run / "report.html").read_text(encoding="utf-8")
    assert "appendix E" in page
    assert "s1" in page
    with (run / "tables" / "selection.csv").open(encoding="utf-8") as file:
        assert [row["model"] for row in csv.DictReader(file)] == ["s0", "s1"]


def test_interrupted_matches_go_on_and_the_choice_is_the_same(
    cwm: Any, scripted: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    places = [saved(tmp_path / f"m{number}", f"{GOOD}\n# {number}\n") for number in range(2)]
    whole = cwm("select", *places, "--run", tmp_path / "whole", *FAST, "--json").json
    played: list[str] = []
    play = rejection.play_hosted

    def stopped(job: dict[str, Any]) -> dict[str, Any]:
        played.append(job["key"])
        if len(played) == 6:
            raise KeyboardInterrupt
        return play(job)

    monkeypatch.setattr(rejection, "play_hosted", stopped)
    words = ["select", *places, "--run", tmp_path / "killed", *FAST, "--json"]
    assert cwm(*words).code == 130
    found = cwm(*words)
    assert len(played) == 1 + len(set(played)) == 1 + whole["rejection"]["matches"]
    assert found.json | {"run": ""} == whole | {"run": ""}


def test_bad_models_are_rejected_from_folders_alone(cwm: Any, tmp_path: Path) -> None:
    # Of models alone nobody knows how many tests they pass: every one may be drawn as a host.
    good = [saved(tmp_path / f"good{number}", GOOD) for number in range(4)]
    bad = saved(tmp_path / "bad", IMPOSSIBLE)
    found = cwm("select", *good, bad, "--run", tmp_path / "run", *FAST, "--json")
    assert found.code == 0, found.err
    assert str(bad) not in found.json["kept"]
    assert len(found.json["kept"]) == 4
    shown = cwm("report", tmp_path / "run").out
    assert len(re.findall(r"│ rejected ", shown)) == 1


def test_where_nothing_is_hidden_the_run_with_the_best_accuracy_is_chosen(
    cwm: Any, finished: Path, tmp_path: Path
) -> None:
    shutil.copytree(finished, tmp_path / "copy")
    found = cwm("select", finished, tmp_path / "copy", "--run", tmp_path / "run", "--json")
    assert found.code == 0, found.err
    assert (found.json["method"], found.json["rejection"]) == ("training accuracy", None)
    assert found.json["chosen"] == str(finished)
    assert ModelBundle.load(tmp_path / "run").hash == ModelBundle.load(finished).hash


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["nonsense", "other"], "nonsense is neither a folder nor a recording that ships"),
        (["tic_tac_toe"], "There is nothing to choose: 1 of 1 places hold a model"),
        ([".", "."], ". is given twice"),
    ],
)
def test_nothing_to_choose_is_named(
    refused: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], named: str
) -> None:
    model = saved(tmp_path / "kept", GOOD)
    monkeypatch.setattr("arena.pipeline.recorded_models.folder_of", lambda game, seed=0: model)
    monkeypatch.chdir(model)
    ran = refused("select", *words, "--run", tmp_path / "run")
    assert ran.code == 2
    assert named in ran.err


def test_recordings_of_all_seeds_are_asked_for_before_anything_is_made(
    refused: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ran = refused("synthesize", "tic_tac_toe", "--syntheses", 2)
    assert ran.code == 2
    assert "not for 1; ask for fewer syntheses" in ran.err
    assert list(tmp_path.iterdir()) == []


def test_run_that_is_interrupted_in_its_matches_has_not_chosen_yet_and_goes_on(
    cwm: Any, refused: Any, scripted: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(job: dict[str, Any]) -> dict[str, Any]:
        raise KeyboardInterrupt

    run = tmp_path / "run"
    with monkeypatch.context() as patched:
        patched.setattr(rejection, "play_hosted", stopped)
        assert cwm(*several(scripted, run, "--syntheses", 2)).code == 130
    ran = refused("report", run)
    assert (ran.code, "has not come to a choice yet" in ran.err) == (2, True)

    resumed = cwm("resume", run, "--workers", 1)
    assert (resumed.code, resumed.out.count("chosen")) == (0, 1)
    assert [calls_of(run / name) for name in ("s0", "s1")] == [1, 1]
    (run / "selection.json").write_text("{", encoding="utf-8")
    assert "is damaged" in refused("report", run).err
