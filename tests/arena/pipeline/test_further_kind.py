"""A kind of function that is a row alone: it is asked for, stored beside the model, told of and read again."""

import json
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from arena.pipeline import function_choice, synthesis
from arena.pipeline.synthesis import Outcome
from arena.report import run_report
from arena.runs import inputs as run_inputs
from arena.runs.folder import open_record
from arena.runs.settings import RunSettings
from arena.usage import UsageError
from cwm.functions import kinds, prior
from cwm.functions.kinds import KINDS
from cwm.functions.materials import Materials
from cwm.functions.types import FunctionCandidate, FunctionConfig, FunctionReport, FunctionResult
from cwm.llm.caps import Caps
from cwm.model.bundle import ModelBundle, ModelBundleError
from cwm.synthesis.result import SynthesisResult

SOURCE = "def closing_move(state, player_id):\n    return None\n"


@dataclass(frozen=True)
class ClosingConfig(FunctionConfig):
    """Settings of asking for closing moves."""

    depth: int = 2


def ask(given: Materials, config: ClosingConfig) -> FunctionResult:
    """Takes the only candidate there is; it stands beside what was chosen before."""
    assert (given.info.id, sorted(given.beside), config.depth) == ("tic_tac_toe", [], 2)
    best = FunctionCandidate(0, SOURCE, "h", "checked", FunctionReport(()), 1.0)
    return FunctionResult(best, (best,), 0.0, 1, 2, 3, f"{len(given.shown())} games were looked at", chosen=0)


CLOSING = replace(
    prior.KIND,
    name="closing",
    result="closings",
    title="closing move",
    words="closing moves",
    config=ClosingConfig,
    ask=ask,
    metadata=lambda outcome: {"closings": outcome.message},
)


@pytest.fixture(autouse=True)
def _with_a_further_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kinds, "KINDS", (*KINDS, CLOSING))


def test_it_is_asked_for_chosen_stored_and_told_of(tmp_path: Path, right_program: str) -> None:
    answers = tmp_path / "answers"
    answers.write_text(json.dumps(f"```python\n{right_program}\n```") + "\n")
    asked = function_choice.functions_asked({"value": 0}, ["closing=1"], seed=7)
    settings = RunSettings(
        "tic_tac_toe", True, f"scripted:{answers}", test_transitions=20, planner_games=0, further_games=0
    ).with_functions(asked)
    assert settings.asked_functions == {"closing": ClosingConfig(num_candidates=1, seed=7)}
    inputs = run_inputs.registered("tic_tac_toe", 3, 0)
    with open_record(tmp_path / "run", settings, inputs, Caps()) as record:
        outcome = synthesis.SynthesisRun(record, settings, inputs, Caps(), 1).run()
        run_report.write_result(record.folder, outcome)
        assert RunSettings.from_record(record.info.config) == settings
    bundle = ModelBundle.load(tmp_path / "run")
    assert bundle.further == {"closing": SOURCE}
    assert bundle.metadata["closings"] == "3 games were looked at"
    assert run_report.read_result(tmp_path / "run")["closings"]["best"] == "h"


def test_a_cap_that_left_candidates_out_is_told() -> None:
    settings = RunSettings("tic_tac_toe", True).with_functions({"closing": ClosingConfig(num_candidates=2)})
    one = FunctionResult(None, (), None, 0, 0, 0, "0.50 of 0.50 USD are spent")
    passed = SynthesisResult(None, (), "all_tests_pass", "all pass", 1, 1, 1, (), "")
    done = Outcome(passed, None, {}, {}, function_choice.Beside({"closing": one}))
    assert done.cap_reached(settings) == "0.50 of 0.50 USD are spent"


def test_it_is_part_of_the_hash_and_of_the_files(tmp_path: Path) -> None:
    plain = ModelBundle("def f(): pass\n", None, {}, {"id": "g"}, "")
    one = plain.with_function("closing", SOURCE)
    assert len({plain.hash, one.hash, plain.with_function("closing", "").hash}) == 3
    assert one.with_function("closing", None) == plain
    one.save(tmp_path)
    assert ModelBundle.load(tmp_path) == one
    (tmp_path / "function_closing.py").write_text("def other(): pass\n")
    with pytest.raises(ModelBundleError, match="one of them was changed"):
        ModelBundle.load(tmp_path)


def test_a_kind_whose_name_is_a_path_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelBundleError, match=r"names a kind of functions '\.\./x'; expected a word"):
        ModelBundle("", None, {}, {}, "", further={"../x": ""}).save(tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("text", ["closing", "closing=0", "closing=two", "opening=1", "=1"])
def test_a_request_that_names_no_kind_or_no_number_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match=f"'{text}' asks for no functions: .* value, prior, vectors, closing"):
        function_choice.functions_asked({}, [text], 0)


def test_two_numbers_for_one_kind_are_refused() -> None:
    with pytest.raises(UsageError, match="The number of value functions is given twice: leave out 'value=2'"):
        function_choice.functions_asked({"value": 1}, ["value=2"], 0)
