"""Policy priors: asked for, repaired, checked beside the model, chosen by a tournament with two baselines."""

import json
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import cast

import pytest

from cwm.functions import prior_probe
from cwm.functions.decided import Played
from cwm.functions.one_shot import FunctionTask
from cwm.functions.prior import (
    KIND,
    UNIFORM,
    PriorChosen,
    PriorConfig,
    examples,
    synthesize_priors,
    task_of,
)
from cwm.functions.prior_check import ProcessPriorChecker
from cwm.functions.types import FunctionCandidate, FunctionConfigError, FunctionReport, FunctionResult
from cwm.llm.api import BudgetExceededError, Completion, LanguageModelError, ReplayMissError
from cwm.llm.journaled import Journaled
from cwm.llm.providers.scripted import Scripted
from cwm.record.record import RunRecord
from cwm.sandbox.inside.program import ProgramGame
from cwm.synthesis.events import Event
from cwm.synthesis.testing import TesterSettings
from cwm.trajectories.recorded import Step, Trajectory, collect
from games.api import Game

HEAD = "def policy_prior(state, legal_actions, player_id):\n"
EVEN = HEAD + "    return [1 / len(legal_actions)] * len(legal_actions)\n"
OWN_COIN = HEAD + (
    "    first = 0.9 if player_id == 0 and state['coin'] == 'heads' else 0.5\n    return [first, 1 - first]\n"
)
"""What the holder says may follow its own coin."""
LEAK = OWN_COIN.replace("player_id == 0 and ", "")
"""The guesser knows the coin."""
OTHER = EVEN.replace("1 / len", "1.0 / len")
FAST = FunctionReport((), 50_000.0, 10)


@pytest.fixture(scope="module")
def task(program_game: Callable[[str], ProgramGame], program_text: Callable[[str], str]) -> FunctionTask:
    game = program_game("hidden_coin")
    return task_of("A coin is guessed.", game.info, program_text("hidden_coin"), collect(game, 5, 0))


@pytest.fixture(scope="module")
def checker(program_game: Callable[[str], ProgramGame], task: FunctionTask) -> ProcessPriorChecker:
    settings = TesterSettings(total_seconds=2.0, load_seconds=1.0)
    initial = program_game("hidden_coin").initial_state()
    return ProcessPriorChecker(task.source, task.info, initial, settings, games=40, points=400, draws=4)


def fenced(source: str) -> str:
    return f"```python\n{source}```"


def run(
    task: FunctionTask,
    answers: Sequence[str | Completion | LanguageModelError],
    scores: dict[str | None, float],
    reports: dict[str, FunctionReport] | None = None,
    **settings: object,
) -> tuple[FunctionResult, Scripted, list[Event]]:
    """Chooses with a tournament that reads its scores from a table: None and "uniform" are the baselines."""
    events: list[Event] = []
    model = Scripted(answers)

    def check(sources: Sequence[str]) -> list[FunctionReport]:
        return [(reports or {}).get(source, FAST) for source in sources]

    def tournament(candidates: list[FunctionCandidate]) -> Played:
        return Played((scores[None], scores[UNIFORM], *(scores[candidate.source] for candidate in candidates)))

    config = PriorConfig.from_json({"num_candidates": 1, **settings})
    result = synthesize_priors(task, config, model, check, tournament, {"value": None}, on_event=events.append)
    return result, model, events


def test_best_prior_is_chosen_over_both_baselines(task: FunctionTask) -> None:
    scores = {None: 0.0, UNIFORM: 0.1, EVEN: 0.3, OTHER: 0.2}
    result, _, events = run(task, [fenced(EVEN), fenced(OTHER)], scores, num_candidates=2)
    assert result.best is not None
    assert (result.best.source, result.chosen, result.none_score, result.baselines) == (EVEN, 0, 0.0, {UNIFORM: 0.1})
    assert events[-1] == PriorChosen(0, ((None, 0.0), (UNIFORM, 0.1), (0, 0.3), (1, 0.2)))


@pytest.mark.parametrize(
    ("none", "uniform", "prior", "chosen"),
    [(0.0, 0.1, 0.1, UNIFORM), (0.1, 0.1, 0.1, None), (0.3, 0.1, 0.2, None), (0.0, 0.1, 0.11, 0)],
)
def test_baseline_stays_unless_something_beats_it(
    task: FunctionTask, none: float, uniform: float, prior: float, chosen: int | str | None
) -> None:
    result, _, _ = run(task, [fenced(EVEN)], {None: none, UNIFORM: uniform, EVEN: prior})
    assert result.chosen == chosen
    assert (result.best is None) == (chosen != 0)
    assert json.loads(json.dumps(result.to_json()))["chosen"] == chosen


def test_failed_prior_is_asked_for_again_with_its_code_and_what_is_wrong(task: FunctionTask) -> None:
    scores = {None: 0.0, UNIFORM: 0.0, EVEN: 1.0}
    reports = {LEAK: FunctionReport(("it knows the coin",))}
    result, model, _ = run(task, [fenced(LEAK), fenced(EVEN)], scores, reports)
    assert result.calls == 2
    assert [(item.id, item.status) for item in result.candidates] == [(0, "checked")]
    assert result.chosen == 0
    again = model.requests[1].messages[0].text
    assert LEAK.strip() in again
    assert "- it knows the coin" in again
    assert task.rules in again


def test_slow_prior_is_told_so_and_repairs_are_limited(task: FunctionTask) -> None:
    scores = {None: 0.0, UNIFORM: 0.0}
    reports = {EVEN: FunctionReport((), 20.0, 5)}
    result, model, _ = run(task, [fenced(EVEN), fenced(EVEN), fenced(EVEN)], scores, reports, repairs=2)
    assert [item.status for item in result.candidates] == ["slow"]
    assert result.calls == 3
    assert "20 calls a second, at least 500" in model.requests[2].messages[0].text
    assert run(task, [fenced(EVEN)], scores, reports, repairs=0)[0].calls == 1
    assert result.chosen is None


def test_a_prior_that_is_slow_on_this_machine_alone_ends_no_replay(task: FunctionTask) -> None:
    answers = [fenced(EVEN), ReplayMissError("no answer to this request"), fenced(OTHER)]
    scores = {None: 0.0, UNIFORM: 0.0, OTHER: 1.0}
    result, _, _ = run(task, answers, scores, {EVEN: FunctionReport((), 20.0, 5)}, num_candidates=2)
    assert [item.status for item in result.candidates] == ["slow", "checked"]
    assert result.chosen == 1


def test_a_replay_that_lacks_the_repair_of_a_wrong_prior_says_so(task: FunctionTask) -> None:
    answers = [fenced(LEAK), ReplayMissError("no answer to this request")]
    with pytest.raises(ReplayMissError):
        run(task, answers, {None: 0.0, UNIFORM: 0.0}, {LEAK: FunctionReport(("leaks",))})


def test_spent_budget_in_a_repair_leaves_what_is_there(task: FunctionTask) -> None:
    answers = [fenced(EVEN), fenced(LEAK), BudgetExceededError("the cap is reached")]
    scores = {None: 0.0, UNIFORM: 0.0, EVEN: 1.0}
    result, _, _ = run(task, answers, scores, {LEAK: FunctionReport(("leaks",))}, num_candidates=3)
    assert [item.status for item in result.candidates] == ["checked", "failed"]
    assert (result.chosen, result.calls, result.message) == (0, 2, "the cap is reached")


def test_finished_choice_again_makes_no_call_no_check_and_no_game(task: FunctionTask, tmp_path: Path) -> None:
    results = []
    for answers in ([fenced(LEAK), fenced(EVEN), fenced(OTHER)], []):
        worked: list[str] = []

        def check(sources: Sequence[str], worked: list[str] = worked) -> list[FunctionReport]:
            worked += sources
            return [FunctionReport(("leaks",)) if source == LEAK else FAST for source in sources]

        def tournament(candidates: list[FunctionCandidate], worked: list[str] = worked) -> Played:
            worked.append("tournament")
            return Played((0.0, 0.1, 0.2, 0.3))

        with RunRecord.create_or_resume(tmp_path, "prior", {}) as record:
            model = Journaled(Scripted(answers), record.calls)
            config = PriorConfig(num_candidates=2)
            results.append(synthesize_priors(task, config, model, check, tournament, {}, record))
            kinds = {stored.kind for stored in record.programs()}
    assert results[0] == results[1]
    assert (worked, kinds) == ([], {"prior"})


def test_scores_of_another_value_function_are_not_taken_for_these(task: FunctionTask, tmp_path: Path) -> None:
    played = []
    for value in ("a", "b", "a"):

        def tournament(candidates: list[FunctionCandidate]) -> Played:
            played.append(len(candidates))
            return Played((0.0, 0.0, 1.0))

        with RunRecord.create_or_resume(tmp_path, "prior", {}) as record:
            model = Journaled(Scripted([fenced(EVEN)]), record.calls)
            config = PriorConfig(num_candidates=1)
            synthesize_priors(task, config, model, lambda _: [FAST], tournament, {"value": value}, record)
    assert played == [1, 1]


def test_prompt_holds_rules_model_interface_and_moments_of_games(task: FunctionTask) -> None:
    text = KIND.prompt(task)
    for part in (task.rules, task.source.strip(), "def policy_prior(state: State, legal_actions: list[Action], "):
        assert part in text
    assert "What one player wins the others lose." in text
    assert text.count("# Example ") == 3
    assert "#   sees now {'coin': " in text
    assert "Every player sees the whole state." not in text


def test_long_lists_of_actions_and_long_histories_are_shortened() -> None:
    turns = [Step({"turn": n}, 0, tuple(map(str, range(40))), (), (0.0,), ({"seen": n},), "7") for n in range(11)]
    end = Step({"turn": 11}, -4, (), (), (1.0,), ({"seen": 11},), None)
    game = Trajectory("counting", 0, None, ("one",), (*turns, end))
    text = examples([game], perfect_information=False)
    assert text.count("'14', '15', ...]  # 40 in all") == 3
    late = text.split("# Example 3")[1]
    assert "state = {'turn': 9}" in late
    assert "at its own turns so far (10)" in late
    assert "#   (the first 6 are left out)\n#   saw {'seen': 6}, did '7'" in late
    assert late.endswith("#   sees now {'seen': 9}")
    assert "sees now" not in examples([game], perfect_information=True)


@pytest.mark.parametrize("source", [EVEN, OWN_COIN])
def test_good_prior_passes_beside_the_model_and_its_speed_is_measured(
    checker: ProcessPriorChecker, source: str
) -> None:
    (report,) = checker([source])
    assert report.problems == ()
    assert report.checked > 400
    assert report.calls_per_s is not None
    assert report.calls_per_s > 0.0


def test_speed_counts_first_questions_alone(program_game: Callable[[str], ProgramGame]) -> None:
    game = program_game("hidden_coin")
    asked: list[str] = []

    class Asked:
        def __getattr__(self, name: str) -> object:
            return getattr(game, name)

        def policy(self, state: object, actions: list[object], player: int) -> list[float]:
            asked.append(json.dumps(state))
            return [1 / len(actions)] * len(actions)

    found = prior_probe.check(cast(Game, Asked()), {"games": 4, "points": 5, "draws": 1}, random.Random(0))
    assert found["calls"] == found["states"] < len(asked)


def test_prior_that_knows_what_is_hidden_is_shown_the_field_and_both_probabilities(
    checker: ProcessPriorChecker,
) -> None:
    (report,) = checker([LEAK])
    (problem,) = report.problems
    assert "the answer depends on what player 1 cannot know" in problem
    assert "differ in state['coin']: " in problem
    assert "The probability of 'hum' is " in problem or "The probability of 'guess heads' is " in problem
    assert "0.9" in problem
    assert '; state: {"coin": ' in problem


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ("return [1.0]", "returned 1 probabilities for 2 legal actions"),
        ("return [1.0, 0.0]", "every probability must be greater than 0, got 0.0 for"),
        ("return [1.5, -0.5]", "every probability must be greater than 0, got -0.5 for"),
        ("return [0.5, 0.4]", "they sum to 0.9"),
        ("return [0.5, float('nan')]", "must return finite numbers, got nan"),
        ("return [0.5, '0.5']", "must return floats, got '0.5'"),
        ("return {'hum': 1.0}", "must return a list of floats"),
        ("state['said'].append('x')\n    return [0.5, 0.5]", "changed the state that it was given: ['said']"),
        ("legal_actions.reverse()\n    return [0.5, 0.5]", "changed the list legal_actions"),
        ("x = random.random() * 0.9 + 0.05\n    return [x, 1 - x]", "asked the same again"),
        # The 240 questions of the games and the 60 asked after them get one answer, those asked again another.
        ("SEEN.append(0)\n    x = 0.1 if len(SEEN) < 330 else 0.2\n    return [x, 1 - x]", "remembers"),
        ("x = 0.6 if hash('coin') % 2 else 0.4\n    return [x, 1 - x]", "in another process"),
        ("return [1 // 0]", "raised ZeroDivisionError in line 4"),
        ("while True:\n        pass", "it could not be checked: Timeout"),
    ],
)
def test_bad_prior_is_named(checker: ProcessPriorChecker, body: str, problem: str) -> None:
    source = "import random\nSEEN = []\n" + HEAD + f"    {body}\n"
    (report,) = checker([source])
    assert any(problem in line for line in report.problems), report.problems


def test_prior_that_does_not_load_is_named(checker: ProcessPriorChecker) -> None:
    (report,) = checker(["TABLE = {}['x']\n" + EVEN])
    assert "KeyError" in report.problems[0]


def test_perfect_information_leaves_nothing_to_swap(program_game: Callable[[str], ProgramGame]) -> None:
    game = program_game("three_in_a_row")
    source = (Path(__file__).parents[2] / "data" / "programs" / "three_in_a_row.py").read_text()
    checker = ProcessPriorChecker(
        source, game.info, game.initial_state(), TesterSettings(), games=4, points=400, draws=4
    )
    by_board = HEAD + (
        "    weights = [2.0 if state['board'][4] is None else 1.0] + [1.0] * (len(legal_actions) - 1)\n"
        "    return [weight / sum(weights) for weight in weights]\n"
    )
    assert checker([by_board])[0].problems == ()


def test_settings_out_of_range_or_unknown_are_refused() -> None:
    with pytest.raises(FunctionConfigError, match="repairs must be at least 0"):
        PriorConfig(repairs=-1)
    with pytest.raises(FunctionConfigError, match="num_candidates"):
        PriorConfig(num_candidates=0)
    with pytest.raises(FunctionConfigError, match=r"unknown settings \['candidates'\]"):
        PriorConfig.from_json({"candidates": 3})
    assert PriorConfig.from_record({"candidates": 3, "draws": 2}) == PriorConfig(draws=2)
