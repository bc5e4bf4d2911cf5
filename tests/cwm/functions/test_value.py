"""Value functions: asked for once each, checked beside the model, chosen by a tournament with "none" in it."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from cwm.functions.decided import Played
from cwm.functions.one_shot import FunctionTask
from cwm.functions.types import FunctionCandidate, FunctionConfig, FunctionConfigError, FunctionReport, FunctionResult
from cwm.functions.value import KIND, ValueChosen, shown_tests, synthesize_values, task_of, value_tests
from cwm.functions.value_check import ProcessValueChecker
from cwm.llm.api import BudgetExceededError, Completion, LanguageModelError
from cwm.llm.journaled import Journaled
from cwm.llm.providers.scripted import Scripted
from cwm.record.record import RunRecord
from cwm.sandbox.inside.program import ProgramGame
from cwm.storage.keys import program_hash
from cwm.suite.build import BuildOptions, build
from cwm.synthesis.events import Event
from cwm.synthesis.testing import TesterSettings
from cwm.trajectories.recorded import collect

GOOD = """def value_function(state, player_id):
    if get_current_player(state) == -4:
        return get_rewards(state)[player_id]
    centre = state["board"][4]
    return 0.0 if centre is None else (0.1 if (centre == "x") == (player_id == 0) else -0.1)
"""
ZERO = "def value_function(state, player_id):\n    return 0.0\n"
OTHER = GOOD.replace("0.1", "0.2")
FAST = FunctionReport((), 50_000.0, 10)


@pytest.fixture(scope="module")
def task(program_game: Callable[[str], ProgramGame], program_text: Callable[[str], str]) -> FunctionTask:
    return FunctionTask("Three in a row.", program_game("three_in_a_row").info, program_text("three_in_a_row"), "tests")


@pytest.fixture(scope="module")
def checker(program_game: Callable[[str], ProgramGame], task: FunctionTask) -> ProcessValueChecker:
    game = program_game("three_in_a_row")
    tests = build(collect(game, 2, 0), BuildOptions(kinds=("value",)))
    settings = TesterSettings(test_seconds=0.5, load_seconds=1.0)
    return ProcessValueChecker(task.source, tests, task.info, game.initial_state(), settings, speed_seconds=0.02)


def fenced(source: str) -> str:
    return f"```python\n{source}```"


class Tournament:
    """Scores by a table of sources; "none" scores 0."""

    def __init__(self, scores: dict[str, float]) -> None:
        self.scores = scores
        self.played: list[list[str | None]] = []

    def __call__(self, candidates: list[FunctionCandidate | None]) -> Played:
        self.played.append([None if candidate is None else candidate.source for candidate in candidates])
        return Played(tuple(0.0 if item is None else self.scores[item.source] for item in candidates))


def run(
    task: FunctionTask,
    answers: Sequence[str | Completion | LanguageModelError],
    scores: dict[str, float],
    reports: dict[str, FunctionReport] | None = None,
    **settings: object,
) -> tuple[FunctionResult, Tournament, list[Event]]:
    tournament = Tournament(scores)
    events: list[Event] = []

    def check(sources: Sequence[str]) -> list[FunctionReport]:
        return [(reports or {}).get(source, FAST) for source in sources]

    config = FunctionConfig.from_json({"num_candidates": len(answers), **settings})
    result = synthesize_values(task, config, Scripted(answers), check, tournament, on_event=events.append)
    return result, tournament, events


def test_winner_of_the_tournament_is_chosen_and_none_always_plays(task: FunctionTask) -> None:
    result, tournament, events = run(task, [fenced(GOOD), fenced(OTHER)], {GOOD: 0.2, OTHER: 0.4})
    assert tournament.played == [[None, GOOD, OTHER]]
    assert result.best is not None
    assert (result.best.source, result.best.score, result.none_score, result.calls) == (OTHER, 0.4, 0.0, 2)
    assert events[-1] == ValueChosen(1, ((None, 0.0), (0, 0.2), (1, 0.4)))


def test_none_is_chosen_when_nothing_beats_it(task: FunctionTask) -> None:
    result, _, events = run(task, [fenced(GOOD), fenced(OTHER)], {GOOD: 0.0, OTHER: -0.4})
    assert result.best is None
    assert [candidate.score for candidate in result.candidates] == [0.0, -0.4]
    assert isinstance(events[-1], ValueChosen)
    assert events[-1].chosen is None


def test_lead_within_the_margin_is_no_win(task: FunctionTask) -> None:
    assert run(task, [fenced(GOOD)], {GOOD: 0.1}, margin=0.1)[0].best is None
    assert run(task, [fenced(GOOD)], {GOOD: 0.11}, margin=0.1)[0].best is not None


def test_candidates_that_fail_their_checks_do_not_play(task: FunctionTask) -> None:
    answers = [
        fenced(ZERO),
        fenced(GOOD),
        fenced("import os\n" + GOOD),
        fenced(OTHER),
        "no code",
        Completion(fenced(GOOD), "refused", "m"),
        fenced(GOOD),
    ]
    reports = {ZERO: FunctionReport(("the end is not the reward",)), OTHER: FunctionReport((), 3.0, 10)}
    result, tournament, _ = run(task, answers, {GOOD: 1.0}, reports)
    statuses = [candidate.status for candidate in result.candidates]
    assert statuses == ["failed", "checked", "rejected", "slow", "no_program", "no_program", "duplicate"]
    assert tournament.played == [[None, GOOD]]
    assert result.calls == 7


def test_no_tournament_is_played_without_candidates(task: FunctionTask) -> None:
    result, tournament, _ = run(task, ["nothing"], {})
    assert (result.best, result.none_score, tournament.played) == (None, None, [])


def test_truncated_answer_is_asked_again_with_a_larger_cap(task: FunctionTask) -> None:
    model = Scripted([Completion(fenced(GOOD), "truncated", "m"), fenced(GOOD)])
    config = FunctionConfig(num_candidates=1, max_output_tokens=1000)
    result = synthesize_values(task, config, model, lambda _: [FAST], Tournament({GOOD: 1.0}))
    assert [request.max_output_tokens for request in model.requests] == [1000, 2000]
    assert result.calls == 2


def test_spent_budget_still_chooses_among_what_is_there(task: FunctionTask) -> None:
    result, _, _ = run(task, [fenced(GOOD), BudgetExceededError("the cap is reached")], {GOOD: 1.0})
    assert result.best is not None
    assert (result.calls, result.message) == (1, "the cap is reached")


def test_finished_choice_again_makes_no_call_no_check_and_no_game(task: FunctionTask, tmp_path: Path) -> None:
    results = []
    for answers in ([fenced(GOOD), fenced(OTHER)], []):
        tournament = Tournament({GOOD: 0.2, OTHER: 0.4})
        checked: list[str] = []

        def check(sources: Sequence[str], checked: list[str] = checked) -> list[FunctionReport]:
            checked += sources
            return [FAST for _ in sources]

        with RunRecord.create_or_resume(tmp_path, "value", {}) as record:
            model = Journaled(Scripted(answers), record.calls)
            result = synthesize_values(task, FunctionConfig(num_candidates=2), model, check, tournament, record)
            results.append(json.dumps(result.to_json()))
            kinds = {stored.hash: (stored.kind, stored.parent) for stored in record.programs()}
    assert results[0] == results[1]
    assert (tournament.played, checked) == ([], [])
    assert kinds == dict.fromkeys(map(program_hash, (GOOD, OTHER)), ("value", program_hash(task.source)))


def test_prompt_holds_rules_model_interface_bounds_and_tests(task: FunctionTask) -> None:
    text = KIND.prompt(task)
    for part in (task.rules, task.source.strip(), "def value_function(state: State, player_id: int) -> float:"):
        assert part in text
    assert "at least -1.0 and at most 1.0" in text
    assert "sum to zero" in text


def test_good_value_function_passes_beside_the_model_and_its_speed_is_measured(checker: ProcessValueChecker) -> None:
    (report,) = checker([GOOD])
    assert report.problems == ()
    assert report.checked > 100
    assert report.calls_per_s is not None
    assert report.calls_per_s > 0.0


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        (ZERO, "must be its reward"),
        ("def value_function(state, player_id):\n    return 'high'\n", "must return a float"),
        (
            "import random\n\n\ndef value_function(state, player_id):\n    return random.random()\n",
            "for the same state",
        ),
        ("def value_function(state, player_id):\n    return 1 // 0\n", "ZeroDivisionError"),
        ("def value_function(state, player_id):\n    while True:\n        pass\n", "a test ended its worker: Timeout"),
        ("TABLE = {}['x']\n" + GOOD, "it could not be loaded: KeyError"),
        (GOOD.replace("return 0.0 if", "return 7.0 if"), "outside the bounds"),
        (GOOD.replace("return 0.0", "state['board'][0] = 'x'\n    return 0.0"), "changed"),
    ],
)
def test_bad_value_function_is_named(checker: ProcessValueChecker, source: str, problem: str) -> None:
    (report,) = checker([source])
    assert any(problem in line for line in report.problems), report.problems


def test_prompt_shows_open_states_and_one_end_of_each_result(program_game: Callable[[str], ProgramGame]) -> None:
    trajectories = collect(program_game("three_in_a_row"), 12, 0)
    shown = shown_tests(value_tests(trajectories))
    rewards = [test.data["rewards"] for test in shown]
    assert rewards[:2] == [None, None]
    assert sorted(rewards[2:]) == [[-1.0, 1.0], [0.0, 0.0], [1.0, -1.0]]
    text = task_of("r", program_game("three_in_a_row").info, "s", trajectories).examples
    assert text.count("self.assertIsInstance(value_function(state, 0), float)") == 2
    assert "self.assertEqual(-1.0, value_function(state, 0))" in text


def test_settings_out_of_range_or_unknown_are_refused() -> None:
    with pytest.raises(FunctionConfigError, match="num_candidates"):
        FunctionConfig(num_candidates=0)
    with pytest.raises(FunctionConfigError, match=r"unknown settings \['candidates'\]"):
        FunctionConfig.from_json({"candidates": 3})
    assert FunctionConfig.from_record({"candidates": 3, "seed": 2}) == FunctionConfig(seed=2)
