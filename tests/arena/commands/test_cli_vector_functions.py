"""`cwm synthesize --vectors N`: from the calls to a stored model that writes its observations as vectors."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from arena.pipeline.synthesis import SynthesisRun
from arena.runs import inputs as run_inputs
from arena.runs.folder import open_record
from arena.runs.settings import RunSettings
from cwm.functions import vectors
from cwm.functions.vectors import VectorConfig, VectorTask
from cwm.llm.caps import Caps
from cwm.model.bundle import ModelBundle
from cwm.model.codec import MissingVectorsError, open_codec
from cwm.record.record import RunRecord
from cwm.sandbox.parent.host import Sandbox
from games import registry

GOOD = """MARKS = [".", "x", "o"]


def observation_to_vector(observation, player_id):
    vector = [float(mark == name) for mark in observation["board"] for name in MARKS]
    return vector + [float(observation["current_player"] == name) for name in ("Terminal", "x", "o")]


def vector_to_observation(vector, player_id):
    groups = [vector[place : place + 3] for place in range(0, 27, 3)]
    mover = ("Terminal", "x", "o")[vector[27:].index(1.0)]
    return {"board": [MARKS[group.index(1.0)] for group in groups], "current_player": mover}
"""
FEW = ["--test-transitions", 30, "--further-games", 0, "--workers", 1]


def scripted(folder: Path, *answers: str) -> str:
    lines = "".join(json.dumps(f"```python\n{answer}\n```") + "\n" for answer in answers)
    (folder / "answers.jsonl").write_text(lines, encoding="utf-8")
    return f"scripted:{folder / 'answers.jsonl'}"


def test_a_run_chooses_vectors_stores_them_and_reports_them(cwm: Any, tmp_path: Path, right_program: str) -> None:
    lossy = GOOD.replace("MARKS[group.index(1.0)]", '"."')
    model = scripted(tmp_path, right_program, lossy, GOOD)
    run = tmp_path / "run"
    made = cwm("synthesize", "tic_tac_toe", "--vectors", 1, "--llm", model, *FEW, "--run", run)
    assert made.code == 0, made.err
    with RunRecord.read(run) as record:
        asked = [call.request for call in record.calls.calls()]
    assert [request.purpose for request in asked] == ["transition", "vectors", "vectors"]
    assert "does not come back as it was, in .board[" in asked[2].messages[0].text
    result = cwm("report", run, "--json").json["vectors"]
    assert (result["chosen"], result["baselines"]) == ("schema", {"schema": 1.0})
    assert result["round_trips"]["0"]["share"] == 1.0
    assert result["round_trips"]["0"]["width"] == 30
    assert "schema chosen (schema: " in cwm("report", run).out
    bundle = ModelBundle.load(run)
    assert bundle.vectors_source is None
    assert bundle.metadata["vectors"]["shares"] == {"schema": 1.0, "0": 1.0}
    game = registry.make("tic_tac_toe")
    state = game.apply_action(game.initial_state(), game.legal_actions(game.initial_state())[4])
    seen = game.observations(state)[0]
    with open_codec(bundle, Sandbox()) as codec:
        assert codec.decode(codec.encode(seen, 0), 0) == seen


@pytest.fixture
def _nobody_moves_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Holds out an observation that no sample is like."""

    made = vectors.task_of

    def with_another_mover(*given: Any) -> VectorTask:
        task = made(*given)
        strange = (0, {"board": ["."] * 9, "current_player": "nobody"})
        return replace(task, held_out=(*task.held_out, strange))

    monkeypatch.setattr(vectors, "task_of", with_another_mover)


@pytest.mark.usefixtures("_nobody_moves_once")
def test_functions_that_bring_back_what_the_schema_does_not_are_stored_and_used(
    tmp_path: Path, right_program: str
) -> None:
    knowing = GOOD.replace('"o")', '"o", "nobody")')
    settings = RunSettings(
        "tic_tac_toe",
        True,
        scripted(tmp_path, right_program, knowing.strip()),
        test_transitions=20,
        planner_games=0,
        further_games=0,
        vectors=VectorConfig(games=5, planner_games=1, planner_simulations=5),
    )
    inputs = run_inputs.registered("tic_tac_toe", 3, 0)
    with open_record(tmp_path / "run", settings, inputs, Caps()) as record:
        outcome = SynthesisRun(record, settings, inputs, Caps(), 1).run()
    assert outcome.beside.chosen["vectors"].message.startswith("functions 0 chosen (schema: ")
    bundle = ModelBundle.load(tmp_path / "run")
    assert (bundle.vectors_source, bundle.schema) == (knowing, None)
    seen = {"board": ["x", *["."] * 8], "current_player": "nobody"}
    with open_codec(bundle, Sandbox()) as codec:
        assert codec.width == 31
        assert codec.decode(codec.encode(seen, 1), 1) == seen


@pytest.mark.usefixtures("_nobody_moves_once")
def test_a_run_whose_observations_no_vectors_bring_back_says_at_which_field(
    cwm: Any, tmp_path: Path, right_program: str
) -> None:
    run = tmp_path / "run"
    words = ["--vectors", 1, "--llm", scripted(tmp_path, right_program, GOOD), *FEW, "--run", run]
    made = cwm("synthesize", "tic_tac_toe", *words)
    assert made.code == 1
    last = " ".join(made.err.splitlines()[-3:])
    assert "first .current_player is 'nobody'; the samples have 'Terminal', 'o', 'x' there" in last
    assert "first vector_to_observation raised ValueError" in last
    assert "The model has no vectors of observations" in made.out
    with pytest.raises(MissingVectorsError, match=r"first \.current_player is 'nobody'"):
        open_codec(ModelBundle.load(run), Sandbox())


def test_a_run_without_vectors_asks_for_none_and_its_settings_are_as_they_were() -> None:
    settings = RunSettings("tic_tac_toe", True)
    assert "vectors" not in settings.to_json()
    assert RunSettings.from_record(settings.to_json()).vectors is None
    asked = RunSettings("tic_tac_toe", True, vectors=VectorConfig(num_candidates=3))
    assert RunSettings.from_record(json.loads(json.dumps(asked.to_json()))).vectors == VectorConfig(num_candidates=3)
