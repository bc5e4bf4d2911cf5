"""Refinement that learns: no request twice, other failures shown each time, what was tried told in a line."""

from collections.abc import Callable, Sequence
from itertools import cycle, islice

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cwm.llm.api import Completion
from cwm.llm.providers.scripted import Scripted
from cwm.sandbox.inside.program import ProgramGame
from cwm.sandbox.wire.api import Outcome
from cwm.suite.failure_groups import examples, grouped, titles
from cwm.suite.types import UnitTest, UnitTestResult
from cwm.synthesis.attempts import MOST_LINES, Attempts, Told
from cwm.synthesis.candidate import Candidate, SuiteReport, Tester, count_results
from cwm.synthesis.config import POLICIES, SynthesisConfig
from cwm.synthesis.driver import synthesize
from cwm.synthesis.further import Found, Further
from cwm.synthesis.result import SynthesisResult
from cwm.synthesis.task import SynthesisTask, kinds
from cwm.trajectories.recorded import collect

CALLS = 18
NEVER_RIGHT = ["half", "half again", "half, wider", "third", "refused program", "nothing", "cut", "declined"]
"""Answers that come to no right program; the first three have one pass rate, `half, wider` differs in white space."""


@pytest.fixture(scope="module")
def task(program_game: Callable[[str], ProgramGame]) -> SynthesisTask:
    game = program_game("three_in_a_row")
    return SynthesisTask.of("Three marks in a row win.", game.info, game.initial_state(), collect(game, 2, 0), "none")


@pytest.fixture(scope="module")
def answers(program_text: Callable[[str], str]) -> dict[str, str | Completion]:
    right = program_text("three_in_a_row")
    texts = {
        "half": right + "# rate 0.5\n",
        "half again": right + "# rate 0.5, in other words\n",
        "half, wider": "\n" + right + "# rate 0.5\n\n",
        "third": right + "# rate 0.33\n",
        "none": right + "# rate 0.0\n",
        "most": right + "# rate 0.75\n",
        "all": right + "# rate 1.0\n",
        "refused program": "import os\n" + right,
    }
    given: dict[str, str | Completion] = {name: f"```python\n{text}```" for name, text in texts.items()}
    return given | {
        "nothing": "I cannot see what is wrong.",
        "cut": Completion("```python\n", "truncated", "m"),
        "declined": Completion("", "refused", "m"),
    }


def report_of(task: SynthesisTask, source: str) -> SuiteReport:
    """Returns what a tester would say of a program that passes the share of tests that its last line tells."""
    rate = float(source.rsplit("# rate ", 1)[1].split()[0].rstrip(","))
    first = round(rate * len(task.tests))
    results = tuple(
        UnitTestResult(test.id, test.kind, "pass" if passes else "fail", "next_state", 1, 2, "no", "")
        for number, test in enumerate(task.tests)
        for passes in [number < first and not test.id.startswith("further")]
    )
    return SuiteReport(Outcome.OK, (), count_results(kinds(task.tests), results), results)


def run(
    task: SynthesisTask, given: Sequence[str | Completion], calls: int, **asked: object
) -> tuple[SynthesisResult, Scripted]:
    model = Scripted(list(islice(cycle(given), 3 * calls)))
    config = SynthesisConfig.from_json({"num_retries": calls - 1, "max_unanswered": calls, "patience": 2} | asked)
    return synthesize(task, config, model, reports_on(task), further=Further(2, two_more, reports_on)), model


def reports_on(task: SynthesisTask) -> Tester:
    return lambda sources: [report_of(task, source) for source in sources]


def two_more(passing: Candidate, number: int) -> Found:
    """Finds two tests that no program passes."""
    data = {"num_players": 2, "max_length": 9}
    return Found(tuple(UnitTest(f"further-{number}-{one}", "random_play", data, -1, one) for one in range(2)))


def asked_and_answered(model: Scripted, given: Sequence[str | Completion]) -> list[tuple[str, ...]]:
    """Returns the requests that got a whole answer; others may be sent again."""
    pairs = zip(model.requests, cycle(given), strict=False)
    return [tuple(message.text for message in request.messages) for request, one in pairs if isinstance(one, str)]


@pytest.mark.parametrize("policy", [name for name, row in POLICIES.items() if row.rotates])
@pytest.mark.parametrize("method", ["tree_search", "conversation"])
@given(names=st.lists(st.sampled_from([*NEVER_RIGHT, "none", "most", "all"]), min_size=1, max_size=6))
@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_model_that_never_gets_it_right_is_never_asked_the_same_twice(
    task: SynthesisTask, answers: dict[str, str | Completion], method: str, policy: str, names: list[str]
) -> None:
    given = [answers[name] for name in names]
    _, model = run(task, given, CALLS, method=method, refinement=policy, max_conversation_turns=4)
    asked = asked_and_answered(model, given)
    assert len(asked) == len(set(asked))


def test_a_program_given_again_and_again_was_asked_for_in_the_same_words_before_there_were_policies(
    task: SynthesisTask, answers: dict[str, str | Completion]
) -> None:
    _, model = run(task, [answers["half"]], 6)
    assert len({request.messages for request in model.requests}) == 2


def test_the_next_refinement_tells_the_earlier_ones_and_shows_other_failures(
    task: SynthesisTask, answers: dict[str, str | Completion]
) -> None:
    given = [answers[name] for name in ("half", "third", "nothing", "half again")]
    _, model = run(task, given, 5, refinement="rotate")
    first, second, third, fourth = (request.messages[0].text for request in model.requests[1:5])
    assert "Earlier attempts" not in first
    total, half, less = len(task.tests), round(0.5 * len(task.tests)), round(0.33 * len(task.tests))
    line = (
        f"- attempt 1 changed 1 line (line {len(source_of(answers['half']).splitlines())}) and passed {less} of "
        f"{total} tests instead of {half}; the failures are of the same kinds\n"
    )
    assert [line in text for text in (first, second, third, fourth)] == [False, True, True, True]
    assert "- attempt 2 held no finished Python block\n" in third
    assert "- attempt 3 changed 1 line" in fourth
    shown = [shown_transitions(task, text) for text in (first, second, third)]
    assert all(len(ids) == 3 for ids in shown)
    assert not shown[0] & shown[1]
    assert not shown[1] & shown[2]


def shown_transitions(task: SynthesisTask, text: str) -> set[str]:
    ids = [test.id for test in task.tests if test.kind == "transition"]
    return {name for name in ids if f"def test_{name.replace('-', '_')}(" in text}


def source_of(answer: str | Completion) -> str:
    assert isinstance(answer, str)
    return answer.removeprefix("```python\n").removesuffix("```").strip()


@pytest.mark.parametrize("method", ["tree_search", "conversation"])
def test_a_program_that_was_there_before_leads_to_a_first_prompt_that_tells_what_failed_without_its_source(
    task: SynthesisTask, answers: dict[str, str | Completion], method: str
) -> None:
    _, model = run(task, [answers["half"], answers["half"]], 3, method=method, refinement="rotate+fresh")
    (message,) = model.requests[2].messages
    half = f"{round(0.5 * len(task.tests))} of {len(task.tests)} tests"
    failed = titles(report_of(task, source_of(answers["half"])).results)
    most = ", ".join(f"{title} ({number})" for title, number in failed.items())
    assert f"- approach 1 passed {half}; most failures: {most}\n" in message.text
    assert "# rate 0.5" not in message.text
    assert message.text.replace(message.text[message.text.index("\n## Earlier approaches") :], "") in (
        model.requests[0].messages[0].text
    )


@pytest.mark.parametrize("method", ["tree_search", "conversation"])
def test_refinements_in_a_row_without_gain_lead_to_a_chat_from_the_best_program(
    task: SynthesisTask, answers: dict[str, str | Completion], method: str
) -> None:
    given = [answers[name] for name in ("most", "half", "third", "half again", "none")]
    result, model = run(task, given, 5, method=method, refinement="rotate+conversation", patience=2)
    (start,) = model.requests[3].messages
    assert source_of(answers["most"]) in start.text
    assert [f"- attempt {number} changed 1 line" in start.text for number in (1, 2, 3)] == [True, True, False]
    assert [message.role for message in model.requests[4].messages] == ["user", "assistant", "user"]
    assert model.requests[4].messages[0] == start
    assert result.best is not None
    assert result.best.heuristic == report_of(task, source_of(answers["most"])).heuristic


def test_a_gain_begins_the_count_of_refinements_in_vain_anew(
    task: SynthesisTask, answers: dict[str, str | Completion]
) -> None:
    given = [answers[name] for name in ("third", "none", "half", "nothing", "nothing", "nothing")]
    _, model = run(task, given, 6, refinement="rotate+fresh", patience=2)
    fresh = ["Earlier approaches" in request.messages[0].text for request in model.requests]
    assert fresh == [False, False, False, False, False, True]


def test_many_attempts_are_counted_and_the_last_ones_told() -> None:
    told = Told.of("attempt", [f"did {number}" for number in range(1, 14)])
    assert told.number == 13
    assert told.lines[:2] == ("attempts 1 to 3 are not listed", "attempt 4 did 4")
    assert (len(told.lines), told.lines[-1]) == (1 + MOST_LINES, "attempt 13 did 13")


def failing(*fields: str) -> tuple[list[UnitTest], list[UnitTestResult]]:
    tests = [UnitTest(f"transition-0-{n}", "transition", {"state": "s" * n}, 0, n) for n in range(len(fields))]
    return tests, [
        UnitTestResult(test.id, test.kind, "fail", field, 1, 2, "", "")
        for test, field in zip(tests, fields, strict=True)
    ]


def test_examples_rotate_within_their_groups_and_the_groups_keep_their_order() -> None:
    groups = grouped(*failing(*"aaaaabbbc"))
    shown = [[test.step for test in examples(groups, 5, turn)] for turn in range(4)]
    assert shown == [[0, 5, 8, 1, 6], [2, 7, 8, 3, 5], [4, 6, 8, 0, 7], [1, 5, 8, 2, 6]]


def test_an_attempt_names_the_failures_that_went_away_and_those_that_came() -> None:
    def program(number: int, source: str, *fields: str) -> Candidate:
        _, results = failing(*fields)
        report = SuiteReport(Outcome.OK, (), count_results(["transition"] * 4, results), tuple(results))
        return Candidate(number, source, source, None, 0, 1, report)

    attempts = Attempts()
    parent = program(0, "a = 1\nb = 2\nc = 3", "rewards", "rewards", "next_state")
    attempts.refined(parent, [program(1, "a = 1\nb = 4\nc = 3\nd = 5", "next_state", "observations")])
    attempts.refined(parent, [program(2, "\na = 1\nb = 2\nc = 3", "rewards")])
    assert attempts.at(parent) == Told(
        2,
        (
            "attempt 1 changed 2 lines (line 2, after 3) and passed 0 of 4 tests instead of 0; "
            "failures that went away: transition: rewards differs; new failures: transition: observations differs",
            "attempt 2 gave the same module again, unchanged",
        ),
    )
