"""The whole line with scripted models: prompts, answers, real workers, records, resumed runs."""

import json
import pickle
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from cwm.llm.api import BudgetExceededError, Completion, LanguageModelError, QuotaExhaustedError
from cwm.llm.budget import Price
from cwm.llm.journaled import Journaled
from cwm.llm.providers.scripted import Scripted
from cwm.record.record import RunRecord
from cwm.sandbox.inside.program import ProgramGame
from cwm.storage.keys import program_hash
from cwm.synthesis import dry_run
from cwm.synthesis.candidate import SuiteReport
from cwm.synthesis.config import SynthesisConfig
from cwm.synthesis.driver import synthesize
from cwm.synthesis.events import AnswerReceived, CandidateTested, Event, Finished, NodeChosen, PromptSent
from cwm.synthesis.result import SynthesisResult
from cwm.synthesis.task import SynthesisTask
from cwm.synthesis.testing import ProcessTester, TesterSettings
from cwm.trajectories.recorded import collect

ROOT = Path(__file__).resolve().parents[3]
RULES = "Three marks in a row win."
WRONG_REWARD = ("return [1.0, -1.0] if winner", "return [2.0, -2.0] if winner")
WRONG_PLAYER = ('return 0 if state["next"] == "x" else 1', 'return 1 if state["next"] == "x" else 0')


@pytest.fixture(scope="module")
def task(program_game: Callable[[str], ProgramGame]) -> SynthesisTask:
    game = program_game("three_in_a_row")
    return SynthesisTask.of(RULES, game.info, game.initial_state(), collect(game, 3, 0), "none")


@pytest.fixture(scope="module")
def right(program_text: Callable[[str], str]) -> str:
    return program_text("three_in_a_row")


def broken(right: str, *changes: tuple[str, str]) -> str:
    for old, new in changes:
        assert old in right
        right = right.replace(old, new)
    return right


def fenced(*sources: str) -> str:
    return "I thought about it.\n" + "\n".join(f"```python\n{source}```" for source in sources)


class CountingTester:
    """A tester that remembers what it was given."""

    def __init__(self, task: SynthesisTask, workers: int = 1) -> None:
        self.given: list[str] = []
        self._tester = ProcessTester(task.tests, task.info, task.initial_state, TesterSettings(workers=workers))

    def __call__(self, sources: Sequence[str]) -> list[SuiteReport]:
        self.given += sources
        return self._tester(sources)


def run(
    task: SynthesisTask, answers: Sequence[str | Completion | LanguageModelError], **settings: object
) -> tuple[SynthesisResult, Scripted, CountingTester, list[Event]]:
    model = Scripted(answers)
    tester = CountingTester(task)
    events: list[Event] = []
    config = SynthesisConfig.from_json(settings)
    return synthesize(task, config, model, tester, on_event=events.append), model, tester, events


@pytest.mark.parametrize("method", ["tree_search", "conversation"])
def test_broken_first_program_is_repaired_in_the_second_call(task: SynthesisTask, right: str, method: str) -> None:
    wrong = broken(right, WRONG_REWARD)
    result, model, _, events = run(task, [fenced(wrong), fenced(right)], method=method)
    assert (result.reason, result.calls, len(model.requests)) == ("all_tests_pass", 2, 2)
    assert result.best is not None
    assert (result.best.source, result.best.parent, result.best.status) == (right, 0, "passed")
    assert result.accuracy == {"random_play": 1.0, "transition": 1.0}
    assert 0.5 < result.curve[0] < 1.0
    assert result.curve[1] == 1.0
    kinds = [NodeChosen, PromptSent, AnswerReceived, CandidateTested]
    assert [type(event) for event in events] == [*kinds, *kinds, Finished]


def test_one_refinement_step_makes_exactly_one_call(task: SynthesisTask, right: str) -> None:
    versions = [broken(right, WRONG_REWARD) + f"# {number}\n" for number in range(4)]
    result, model, _, events = run(task, [fenced(version) for version in versions], num_retries=3)
    assert (result.reason, result.calls, len(model.requests)) == ("retries_used", 4, 4)
    assert [event.step for event in events if isinstance(event, PromptSent)] == [0, 1, 2, 3]


def test_repair_prompt_holds_the_program_and_all_of_expected_and_got(task: SynthesisTask, right: str) -> None:
    wrong = broken(right, WRONG_REWARD)
    _, model, _, _ = run(task, [fenced(wrong), fenced(right)])
    (message,) = model.requests[1].messages
    assert wrong.strip() in message.text
    assert RULES in message.text
    assert "rewards: expected [1.0, -1.0]" in message.text
    assert "rewards: got [2.0, -2.0]" in message.text
    assert "…" not in message.text


def test_conversation_appends_the_failures_to_what_was_said(task: SynthesisTask, right: str) -> None:
    answer = fenced(broken(right, WRONG_REWARD))
    _, model, _, _ = run(task, [answer, fenced(right)], method="conversation")
    first, second = model.requests
    assert second.messages[:1] == first.messages
    assert (second.messages[1].role, second.messages[1].text) == ("assistant", answer)
    assert "rewards: got [2.0, -2.0]" in second.messages[2].text


def test_first_prompt_holds_rules_interface_initial_state_modules_and_tests(task: SynthesisTask) -> None:
    text = dry_run.dry_run(task, SynthesisConfig(programs_per_answer=3)).prompt
    for part in (
        RULES,
        "def get_chance_outcomes(state: State) -> list[tuple[Action, float]]:",
        repr(task.initial_state),
        "itertools, json, math",
        "self.assertEqual(",
        "player 1 is called `second`",
        "3 versions",
        "hundreds of thousands of times",
    ):
        assert part in text
    assert "resample_history" not in text


def test_prompt_for_hidden_information_shows_one_input_of_the_inference(
    program_game: Callable[[str], ProgramGame],
) -> None:
    game = program_game("hidden_coin")
    task = SynthesisTask.of("Guess.", game.info, game.initial_state(), collect(game, 3, 0), "history")
    text = dry_run.dry_run(task, SynthesisConfig()).prompt
    example = task.example_history()
    assert example is not None
    assert (example.player, len(example.history), len(example.answer)) == (1, 2, 3)
    assert f"obs_action_history = {list(example.history)!r}" in text
    assert f"{list(example.answer)!r}" in text
    assert "def resample_history(" in text


def test_hidden_history_inference_is_tested_and_repaired(
    program_game: Callable[[str], ProgramGame], program_text: Callable[[str], str]
) -> None:
    game = program_game("hidden_coin")
    task = SynthesisTask.of("Guess.", game.info, game.initial_state(), collect(game, 8, 0), "history", game)
    right = program_text("hidden_coin")
    fixed = broken(right, ('random.choices(["heads", "tails"], [0.75, 0.25])[0]', '"heads"'))
    result, model, _, _ = run(task, [fenced(fixed), fenced(right)])
    first, second = result.candidates
    assert first.report.pass_rates()["transition"] == 1.0
    assert first.report.pass_rates()["inference"] < 1.0
    assert second.status == "passed"
    assert "several histories fit these observations" in model.requests[1].messages[0].text


def test_dry_run_tells_size_and_cost_and_calls_nothing(task: SynthesisTask) -> None:
    dry = dry_run.dry_run(task, SynthesisConfig(num_retries=9, max_output_tokens=1000), Price(1.0, 10.0))
    assert dry.input_tokens > len(dry.prompt) / 5
    assert dry.first_call_cost == pytest.approx(dry.input_tokens / 1e6 + 1000 * 10.0 / 1e6)
    assert (dry.max_output_tokens, dry.most_calls) == (1000, 30)
    assert dry_run.dry_run(task, SynthesisConfig()).first_call_cost is None


def test_rejected_program_is_fed_back_and_never_run(task: SynthesisTask, right: str) -> None:
    forbidden = "import os\n" + right
    result, model, tester, _ = run(task, [fenced(forbidden), fenced(right)])
    assert tester.given == [right]
    assert result.candidates[0].status == "rejected"
    assert result.candidates[0].heuristic == 0.0
    text = model.requests[1].messages[0].text
    assert "the module 'os' is not available" in text
    assert forbidden.strip() in text


def test_program_that_does_not_load_is_fed_back_with_its_error(task: SynthesisTask, right: str) -> None:
    result, model, _, _ = run(task, [fenced(right + "\nTABLE = [][3]\n"), fenced(right)])
    assert result.candidates[0].status == "broken"
    assert "IndexError" in model.requests[1].messages[0].text


def test_truncated_answer_is_never_compiled_and_asked_again_with_a_larger_cap(task: SynthesisTask, right: str) -> None:
    cut = Completion(fenced(right), "truncated", "m")
    result, model, tester, events = run(task, [cut, cut, fenced(right)], max_output_tokens=1000)
    assert [request.max_output_tokens for request in model.requests] == [1000, 2000, 4000]
    assert model.requests[0].messages == model.requests[2].messages
    assert (result.calls, result.reason, tester.given) == (3, "all_tests_pass", [right])
    assert [event.attempt for event in events if isinstance(event, PromptSent)] == [1, 2, 3]


def test_third_truncated_answer_in_a_row_ends_the_step(task: SynthesisTask, right: str) -> None:
    cut = Completion(fenced(right), "truncated", "m")
    result, model, _, _ = run(task, [cut, cut, cut, fenced(right)], max_output_tokens=1000)
    assert [request.max_output_tokens for request in model.requests] == [1000, 2000, 4000, 1000]
    assert (result.calls, result.reason) == (4, "all_tests_pass")


@pytest.mark.parametrize("method", ["tree_search", "conversation"])
@pytest.mark.parametrize("outcome", ["refused", "empty"])
def test_refused_and_empty_answers_count_as_calls_and_hold_no_program(
    task: SynthesisTask, right: str, method: str, outcome: str
) -> None:
    bad = Completion(fenced(right), outcome, "m")  # type: ignore[arg-type]
    result, model, tester, _ = run(task, [bad, fenced(right)], method=method)
    assert (result.calls, result.reason, tester.given) == (2, "all_tests_pass", [right])
    assert model.requests[0].messages == model.requests[1].messages


def test_answers_without_a_program_end_the_synthesis_in_time(task: SynthesisTask) -> None:
    result, model, _, _ = run(task, ["no", "I cannot", "", "no"], max_unanswered=4)
    assert (result.reason, result.best, result.calls) == ("unanswered", None, 4)
    assert result.accuracy == {}
    assert len(model.requests) == 4


def test_spent_budget_ends_the_synthesis_with_the_best_so_far(task: SynthesisTask, right: str, tmp_path: Path) -> None:
    wrong = broken(right, WRONG_REWARD)
    model = Scripted([fenced(wrong), BudgetExceededError("the cap of 1 call would be passed")])
    with RunRecord.create_or_resume(tmp_path, "synthesis", {}) as record:
        result = synthesize(task, SynthesisConfig(), model, CountingTester(task), record)
        (*_, last) = record.events("synthesis")
    assert (result.reason, result.message) == ("budget", "the cap of 1 call would be passed")
    assert result.best is not None
    assert result.best.source == wrong
    assert (last[2], last[3]["reason"]) == ("finished", "budget")


def test_other_failures_of_the_model_are_not_swallowed(task: SynthesisTask) -> None:
    with pytest.raises(QuotaExhaustedError, match="no money"):
        run(task, [QuotaExhaustedError("no money")])


def test_several_programs_of_one_answer_are_all_tested_and_the_best_is_kept(task: SynthesisTask, right: str) -> None:
    worse = broken(right, WRONG_REWARD, WRONG_PLAYER)
    better = broken(right, WRONG_REWARD)
    result, _, tester, _ = run(task, [fenced(worse, better), fenced(right)], programs_per_answer=2)
    assert tester.given == [worse, better, right]
    assert [candidate.version for candidate in result.candidates] == [1, 2, 1]
    assert result.candidates[1].heuristic > result.candidates[0].heuristic


def test_same_program_again_is_not_tested_again(task: SynthesisTask, right: str) -> None:
    wrong = broken(right, WRONG_REWARD)
    result, _, tester, _ = run(task, [fenced(wrong), fenced(wrong), fenced(right)])
    assert tester.given == [wrong, right]
    assert [candidate.duplicate_of for candidate in result.candidates] == [None, 0, None]


def test_two_syntheses_at_once_share_no_file_and_no_module(task: SynthesisTask, right: str, tmp_path: Path) -> None:
    wrong = broken(right, WRONG_REWARD)
    before = set(sys.modules)

    def one(name: str) -> None:
        model = Scripted([fenced(f"{wrong}# {name}\n"), fenced(right)])
        with RunRecord.create_or_resume(tmp_path / name, "synthesis", {"run": name}) as record:
            synthesize(task, SynthesisConfig(), model, CountingTester(task), record)

    with ThreadPoolExecutor(max_workers=2) as pool:
        list(pool.map(one, ("a", "b")))
    files = {name: {path.name for path in (tmp_path / name / "programs").iterdir()} for name in ("a", "b")}
    assert files["a"] & files["b"] == {f"{program_hash(right)}.py"}
    assert len(files["a"]) == len(files["b"]) == 2
    assert {name for name in set(sys.modules) - before if "program" in name} == set()


def test_finished_run_again_makes_no_call_and_no_test(task: SynthesisTask, right: str, tmp_path: Path) -> None:
    answers = [fenced(broken(right, WRONG_REWARD)), fenced(right)]
    results = []
    for script in (answers, []):
        model = Scripted(script)
        tester = CountingTester(task)
        with RunRecord.create_or_resume(tmp_path, "synthesis", {}) as record:
            result = synthesize(task, SynthesisConfig(), Journaled(model, record.calls), tester, record)
            results.append((json.dumps(result.to_json()), [*record.events("synthesis")]))
    assert results[0] == results[1]
    assert (len(model.requests), tester.given) == (0, [])


def test_record_holds_every_program_with_its_parent_and_report(task: SynthesisTask, right: str, tmp_path: Path) -> None:
    wrong = broken(right, WRONG_REWARD)
    with RunRecord.create_or_resume(tmp_path, "synthesis", {}) as record:
        synthesize(task, SynthesisConfig(), Scripted([fenced(wrong), fenced(right)]), CountingTester(task), record)
        parents = {stored.hash: stored.parent for stored in record.programs()}
    assert parents == {program_hash(wrong): None, program_hash(right): program_hash(wrong)}


SCRIPT = """
import os, signal, sys
from pathlib import Path
from cwm.synthesis.testing import ProcessTester, TesterSettings
from cwm.llm.journaled import Journaled
from cwm.llm.providers.scripted import Scripted
from cwm.record.record import RunRecord
from cwm.synthesis.driver import synthesize
from cwm.synthesis.config import SynthesisConfig
from cwm.synthesis.task import SynthesisTask
import pickle

folder, kill_at = Path(sys.argv[1]), sys.argv[2]
task, answers = pickle.loads((folder / "task").read_bytes())
count = folder / "calls"

def answer(request):
    with count.open("a") as file:
        file.write("x")
        file.flush()
        os.fsync(file.fileno())
    return answers[count.stat().st_size - 1]

def event(event):
    if f"{event.kind}:{getattr(event, 'step', 0)}" == kill_at:
        os.kill(os.getpid(), signal.SIGKILL)

with RunRecord.create_or_resume(folder / "run", "synthesis", {}) as record:
    tester = ProcessTester(task.tests, task.info, task.initial_state, TesterSettings())
    model = Journaled(Scripted(answer), record.calls)
    result = synthesize(task, SynthesisConfig(programs_per_answer=2), model, tester, record, event)
print(result.reason, result.calls, result.best.hash)
"""


OTHER_PLACES = ("prompt_sent:0", "prompt_sent:2", "finished:0")


@pytest.mark.parametrize(
    "kill_at",
    [
        "answer_received:0",
        "candidate_tested:1",
        *(pytest.param(place, marks=pytest.mark.slow) for place in OTHER_PLACES),
    ],
)
def test_run_killed_at_any_point_goes_on_without_repeating_a_call(
    task: SynthesisTask, right: str, tmp_path: Path, kill_at: str
) -> None:
    wrong = broken(right, WRONG_REWARD)
    answers = [fenced(wrong + "#0\n", wrong), fenced(wrong + "#1\n"), fenced(right)]
    (tmp_path / "task").write_bytes(pickle.dumps((task, answers)))
    command = [sys.executable, "-c", SCRIPT, str(tmp_path)]
    killed = subprocess.run([*command, kill_at], cwd=ROOT, capture_output=True, text=True, check=False)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    again = subprocess.run([*command, "never"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert again.stdout == f"all_tests_pass 3 {program_hash(right)}\n", again.stderr
    assert (tmp_path / "calls").stat().st_size == 3


def test_results_do_not_depend_on_the_number_of_workers(task: SynthesisTask, right: str) -> None:
    sources = [right, broken(right, WRONG_REWARD), broken(right, WRONG_PLAYER), "x = ]"]

    def reports(workers: int) -> list[dict[str, object]]:
        found = CountingTester(task, workers)(sources)
        return [{key: value for key, value in report.to_json().items() if key != "seconds"} for report in found]

    assert reports(1) == reports(3)


def test_report_survives_its_json_form(task: SynthesisTask, right: str) -> None:
    for report in CountingTester(task)([right, broken(right, WRONG_REWARD), "x = ]"]):
        assert SuiteReport.from_json(json.loads(json.dumps(report.to_json()))) == report


def test_time_out_is_no_wrong_answer_and_stops_testing_after_a_few(task: SynthesisTask, right: str) -> None:
    slow = broken(right, ("def get_rewards(state):", "def get_rewards(state):\n    while state['next'] == 'o': pass"))
    settings = TesterSettings(test_seconds=0.3, max_timeouts=2)
    (report,) = ProcessTester(task.tests, task.info, task.initial_state, settings)([slow])
    counts = report.counts["transition"]
    assert (counts.failed, counts.errors, counts.timeouts) == (0, 0, 2)
    assert counts.not_run > 0
    assert counts.total == sum(test.kind == "transition" for test in task.tests)
    assert 0.0 < report.heuristic < 0.5


def test_test_that_kills_its_worker_is_an_error_and_the_others_still_run(task: SynthesisTask, right: str) -> None:
    deadly = broken(
        right, ("def get_rewards(state):", "def get_rewards(state):\n    if state['board'].count(None) == 9: kill()")
    )
    deadly = "import random\n\n\ndef kill():\n    random._os._exit(0)\n\n\n" + deadly
    (report,) = ProcessTester(task.tests, task.info, task.initial_state, TesterSettings(max_timeouts=50))([deadly])
    counts = report.counts["transition"]
    assert (counts.errors, counts.timeouts, counts.not_run) == (3, 0, 0)
    assert counts.passed == counts.total - 3
