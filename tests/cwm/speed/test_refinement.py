"""Faster versions are kept only if they are right and faster; everything measured is injected or counted."""

import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cwm.llm.api import BudgetExceededError, Completion, LanguageModelError
from cwm.llm.journaled import Journaled
from cwm.llm.providers.scripted import Scripted
from cwm.record.record import RunRecord
from cwm.sandbox.inside.program import LoadedCode, ProgramGame
from cwm.speed.refinement import SpeedResult, SpeedTested, SpeedTools, refine_speed
from cwm.speed.task import (
    HotFunction,
    Rates,
    SpeedConfig,
    SpeedConfigError,
    SpeedProfile,
    SpeedTask,
    is_faster,
    median_ratio,
)
from cwm.storage.keys import program_hash
from cwm.synthesis.candidate import SuiteReport
from cwm.synthesis.config import SynthesisConfig
from cwm.synthesis.events import Event
from cwm.synthesis.task import SynthesisTask
from cwm.synthesis.testing import ProcessTester, TesterSettings
from cwm.trajectories.recorded import collect

WASTE = "def _winner(board):\n    for _ in range(60):\n        sum(cell is None for cell in board)\n"
LESS = WASTE.replace("60", "20")
MORE = WASTE.replace("60", "90")
PROFILE = SpeedProfile(50, (HotFunction("_winner", 1000, 0.7), HotFunction("apply_action", 400, 0.1)))


@pytest.fixture(scope="module")
def fast(program_text: Callable[[str], str]) -> str:
    return program_text("three_in_a_row")


@pytest.fixture(scope="module")
def asked(program_game: Callable[[str], ProgramGame], fast: str) -> SpeedTask:
    game = program_game("three_in_a_row")
    task = SynthesisTask.of("Three in a row.", game.info, game.initial_state(), collect(game, 2, 0), "none")
    return SpeedTask(task, with_waste(fast, WASTE))


def with_waste(source: str, waste: str) -> str:
    assert "def _winner(board):\n" in source
    return source.replace("def _winner(board):\n", waste)


def fenced(source: str) -> str:
    return f"First I thought.\n```python\n{source}```"


class Bench:
    """Tests in real workers, profiles by table, times by counting the lines that a fixed game executes."""

    def __init__(self, asked: SpeedTask) -> None:
        self.task = asked.task
        self.measured: list[tuple[str, ...]] = []
        settings = TesterSettings(test_seconds=1.0, load_seconds=2.0, workers=1)
        self._tester = ProcessTester(asked.task.tests, asked.task.info, asked.task.initial_state, settings)

    @property
    def tools(self) -> SpeedTools:
        return SpeedTools(self.profile, self.task.tests, self.test, lambda old, new: [], self.pairs)

    def profile(self, source: str) -> SpeedProfile:
        self.measured.append(("profile", program_hash(source)))
        return PROFILE

    def test(self, sources: Sequence[str]) -> list[SuiteReport]:
        self.measured += [("test", program_hash(source)) for source in sources]
        return self._tester(sources)

    def pairs(self, old: str, new: str) -> list[Rates]:
        self.measured.append(("pairs", program_hash(old), program_hash(new)))
        rates = (1.0 / self.lines(old), 1.0 / self.lines(new))
        return [rates] * 10

    def lines(self, source: str) -> int:
        """Counts the lines that one game executes in the program, which is the test's own."""
        program = {"source": source, "initial_state": self.task.initial_state, "info": asdict(self.task.info)}
        game = LoadedCode(program).instantiate()
        count = 0

        def trace(frame: FrameType, event: str, argument: Any) -> Any:
            nonlocal count
            count += event == "line"
            return trace

        state = game.initial_state()
        sys.settrace(trace)
        try:
            while actions := game.legal_actions(state):
                state = game.apply_action(state, actions[0])
        finally:
            sys.settrace(None)
        return count


def run(
    asked: SpeedTask,
    answers: Sequence[str | Completion | LanguageModelError],
    bench: Bench | None = None,
    record: RunRecord | None = None,
    **settings: Any,
) -> tuple[SpeedResult, Scripted, list[Event]]:
    model = Scripted(answers)
    events: list[Event] = []
    config = SpeedConfig(**({"num_candidates": len(answers)} | settings))
    journaled = model if record is None else Journaled(model, record.calls)
    tools = (bench or Bench(asked)).tools
    result = refine_speed(asked, config, SynthesisConfig(), journaled, tools, record, events.append)
    return result, model, events


def test_a_faster_right_version_is_kept(asked: SpeedTask, fast: str) -> None:
    result, _, events = run(asked, [fenced(fast)])
    assert result.source == fast
    assert [candidate.status for candidate in result.candidates] == ["kept"]
    assert result.gain > 5.0
    assert events == [SpeedTested(0, "kept", program_hash(fast), (), result.candidates[0].ratio)]
    assert result.to_json()["program"] == program_hash(fast)
    assert result.in_words().startswith("1 of 1 versions kept: ")


def test_a_faster_wrong_version_is_refused_and_named(asked: SpeedTask, fast: str) -> None:
    wrong = fast.replace("[1.0, -1.0] if winner", "[2.0, -2.0] if winner")
    bench = Bench(asked)
    result, _, _ = run(asked, [fenced(wrong)], bench)
    assert result.source == asked.source
    assert [candidate.status for candidate in result.candidates] == ["wrong"]
    assert "transition: rewards differs" in result.candidates[0].problems[0]
    assert [what for what, *_ in bench.measured] == ["profile", "test"]
    assert (result.gain, result.in_words()) == (1.0, "the program stays as it was (wrong)")


def test_a_slower_version_is_refused(asked: SpeedTask, fast: str) -> None:
    result, _, _ = run(asked, [fenced(with_waste(fast, MORE))])
    assert [candidate.status for candidate in result.candidates] == ["not_faster"]
    assert result.source == asked.source
    assert result.candidates[0].ratio is not None
    assert result.candidates[0].ratio < 1.0


def test_each_next_prompt_starts_from_the_fastest_so_far_and_tells_what_was_tried(asked: SpeedTask, fast: str) -> None:
    less = with_waste(fast, LESS)
    wrong = fast.replace('"o" if mark == "x" else "x"', '"x"')
    result, model, _ = run(asked, [fenced(less), fenced(wrong), fenced(less), "no module", fenced(fast)])
    statuses = [candidate.status for candidate in result.candidates]
    assert statuses == ["kept", "wrong", "duplicate", "no_program", "kept"]
    prompts = [request.messages[0].text for request in model.requests]
    assert asked.source.strip() in prompts[0]
    assert all(less.strip() in prompt for prompt in prompts[1:])
    assert "What was tried before" not in prompts[0]
    assert "- Version 1: it was right and faster, and is the module as it stands" in prompts[1]
    assert "- Version 2: it was wrong; " in prompts[2]
    assert "- Version 4: the answer held no module" in prompts[4]
    assert result.source == fast
    first, last = result.candidates[0].ratio, result.candidates[4].ratio
    assert first is not None
    assert last is not None
    assert result.gain == pytest.approx(first * last)


def test_the_prompt_names_the_hottest_functions_with_their_shares_and_calls(asked: SpeedTask) -> None:
    _, model, _ = run(asked, ["nothing"])
    text = model.requests[0].messages[0].text
    assert "- `_winner`: 70 % of the time, called 20.0 times a simulation\n" in text
    assert "module's functions took\n80 % of the time" in text
    assert "plays at random from there to the end of the game" in text
    assert model.requests[0].purpose == "faster"
    _, model, _ = run(replace(asked, values=True), ["nothing"])
    assert "adds one state, and asks a value function what it is worth. The" in model.requests[0].messages[0].text


def test_names_that_functions_beside_the_module_use_must_stay(asked: SpeedTask) -> None:
    value = "def value_function(state, player_id):\n    return 0.0 if _winner(state['board']) else len(LINES) * 0.0\n"
    beside = replace(asked, beside=(value,))
    assert beside.used_beside == ("LINES", "_winner")
    _, model, _ = run(beside, ["nothing"])
    assert "These names must stay, and mean what they mean now:\nLINES, _winner." in model.requests[0].messages[0].text


def test_a_version_with_which_the_functions_beside_it_answer_otherwise_is_wrong(asked: SpeedTask, fast: str) -> None:
    bench = Bench(asked)
    tools = replace(bench.tools, comparison=lambda old, new: ["another value"])
    config = SpeedConfig(num_candidates=1)
    result = refine_speed(asked, config, SynthesisConfig(), Scripted([fenced(fast)]), tools)
    assert [(item.status, item.problems) for item in result.candidates] == [("wrong", ("another value",))]


def test_rejected_broken_and_refused_answers_are_told_apart(asked: SpeedTask, fast: str) -> None:
    answers: list[str | Completion | LanguageModelError] = [
        fenced("import os\n" + fast),
        fenced(fast + "\nTABLE = {}['x']\n"),
        Completion(fenced(fast), "refused", "m"),
    ]
    result, _, _ = run(asked, answers)
    assert [candidate.status for candidate in result.candidates] == ["rejected", "broken", "no_program"]
    assert result.candidates[2].problems == ("the answer was refused",)


def test_a_truncated_answer_is_asked_for_again_with_a_larger_cap(asked: SpeedTask, fast: str) -> None:
    answers: list[str | Completion] = [Completion(fenced(fast), "truncated", "m"), fenced(fast)]
    result, model, _ = run(asked, answers, num_candidates=1, max_output_tokens=1000)
    assert [request.max_output_tokens for request in model.requests] == [1000, 2000]
    assert (result.calls, result.candidates[0].status) == (2, "kept")


def test_a_spent_budget_keeps_what_was_found(asked: SpeedTask, fast: str) -> None:
    answers: list[str | LanguageModelError] = [fenced(fast), BudgetExceededError("the cap is reached")]
    result, _, _ = run(asked, answers)
    assert (result.source, result.message, result.calls) == (fast, "the cap is reached", 1)


class KilledError(Exception):
    """Stands for the end of the process."""


@pytest.mark.parametrize("at", [1, 4, *(pytest.param(at, marks=pytest.mark.slow) for at in (0, 2, 3, 5, 6))])
def test_a_run_that_was_killed_goes_on_and_repeats_no_call_and_no_measurement(
    asked: SpeedTask, fast: str, tmp_path: Path, at: int
) -> None:
    answers = [fenced(with_waste(fast, LESS)), fenced(fast)]
    whole, _, _ = run(asked, answers)
    bench = Bench(asked)
    steps = 0

    def dying(work: Callable[..., Any]) -> Callable[..., Any]:
        def step(*arguments: Any) -> Any:
            nonlocal steps
            steps += 1
            if steps == at + 1:
                raise KilledError
            return work(*arguments)

        return step

    doomed = replace(bench.tools, profiler=dying(bench.profile), tester=dying(bench.test), stopwatch=dying(bench.pairs))
    config = SpeedConfig(num_candidates=2)
    with RunRecord.create_or_resume(tmp_path, "faster", {}) as record:
        model = Scripted(answers)
        try:
            refine_speed(asked, config, SynthesisConfig(), Journaled(model, record.calls), doomed, record)
            assert at == 6
        except KilledError:
            assert at < 6
    with RunRecord.create_or_resume(tmp_path, "faster", {}) as record:
        result, again, _ = run(asked, answers[len(model.requests) :], bench, record, num_candidates=2)
    assert len(model.requests) + len(again.requests) == 2
    assert json.dumps(result.to_json()) == json.dumps(whole.to_json())
    assert len(bench.measured) == len(set(bench.measured)) == 6


def test_more_candidates_later_go_on_from_those_before(asked: SpeedTask, fast: str, tmp_path: Path) -> None:
    bench = Bench(asked)
    answers = [fenced(with_waste(fast, LESS)), fenced(fast)]
    with RunRecord.create_or_resume(tmp_path, "faster", {}) as record:
        first, _, _ = run(asked, answers[:1], bench, record)
        then, model, _ = run(asked, answers[1:], bench, record, num_candidates=2)
        stored = {program.hash: program.kind for program in record.programs()}
    assert first.candidates == then.candidates[:1]
    assert len(model.requests) == 1
    assert then.source == fast
    assert set(stored.values()) == {"faster"}
    assert len(bench.measured) == len(set(bench.measured))


@given(st.lists(st.tuples(st.floats(1.0, 100.0), st.floats(1.0, 100.0)), min_size=5, max_size=20))
def test_no_program_is_faster_than_another_both_ways(pairs: list[Rates]) -> None:
    turned = [(new, old) for old, new in pairs]
    assert not (is_faster(pairs, 0.0) and is_faster(turned, 0.0))
    if is_faster(pairs, 0.1):
        assert median_ratio(pairs) > 1.1


@pytest.mark.parametrize(("wins", "faster"), [(10, True), (9, True), (8, False), (5, False)])
def test_nine_wins_in_ten_pairs_are_no_chance_and_eight_may_be(wins: int, faster: bool) -> None:
    pairs = [(1.0, 2.0)] * wins + [(1.0, 0.9)] * (10 - wins)
    assert is_faster(pairs, 0.02) is faster


def test_a_gain_below_the_least_is_not_faster_however_sure() -> None:
    assert not is_faster([(100.0, 101.0)] * 20, 0.02)


def test_inner_functions_and_decorators_count_with_the_function_that_they_stand_in() -> None:
    source = (
        "import functools\n"
        "TABLE = [square for square in range(9)]\n"
        "@functools.lru_cache(None)\n"
        "def lines(board):\n"
        "    return [cell for cell in board if cell]\n"
        "def other(board):\n"
        "    def inner():\n"
        "        return lines(board)\n"
        "    return inner()\n"
    )
    rows = [["lines", 3, 10, 0.2], ["<listcomp>", 5, 10, 0.3], ["inner", 7, 4, 0.1], ["<listcomp>", 2, 1, 0.1]]
    rows.append(["other", 6, 4, 0.05])
    profile = SpeedProfile.of(source, {"simulations": 8, "seconds": 1.0, "functions": rows})
    assert [(item.name, item.calls) for item in profile.functions] == [
        ("lines", 10),
        ("other", 4),
        ("the top level", 0),
    ]
    assert [item.share for item in profile.functions] == pytest.approx([0.5, 0.15, 0.1])
    assert profile.share == pytest.approx(0.75)
    assert SpeedProfile.from_json(json.loads(json.dumps(profile.to_json()))) == profile


@pytest.mark.parametrize("wrong", [{"num_candidates": 0}, {"pairs": 4}, {"truncated_growth": 1.0}, {"min_gain": -0.1}])
def test_settings_out_of_range_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(SpeedConfigError, match=r"must be"):
        SpeedConfig(**wrong)
