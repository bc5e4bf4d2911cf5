"""Unit tests made from recorded games: which, how they are chosen and how they are shown."""

import io
import json
import random
import unittest
from pathlib import Path
from typing import ClassVar

import pytest

from cwm.sandbox.wire.api import Failure, Outcome, Reply
from cwm.suite.build import BuildOptions, accuracy, build, death_result, parse_result
from cwm.suite.rendering import render
from cwm.suite.selection import PromptOptions, select_for_prompt
from cwm.suite.several_histories import SeveralHistories
from cwm.suite.types import UnitTest, UnitTestResult
from cwm.trajectories.recorded import Step, Trajectory
from cwm.trajectories.varied import action_kind

PROGRAM = (Path(__file__).resolve().parents[2] / "data" / "programs" / "high_card.py").read_text(encoding="utf-8")
INITIAL = {"cards": [], "moves": []}
ALL = BuildOptions(kinds=("transition", "inference", "random_play"))


def namespace(source=PROGRAM):
    names = {"INITIAL_STATE": INITIAL, "random": random, "unittest": unittest}
    exec(source, names)
    return names


def record(index, actions):
    """Records a game of high card from its actions."""
    game, state, steps = namespace(), INITIAL, []
    for action in [*actions, None]:
        steps.append(
            Step(
                state,
                game["get_current_player"](state),
                tuple(game["get_legal_actions"](state)),
                tuple(game["get_chance_outcomes"](state)),
                tuple(game["get_rewards"](state)),
                tuple(game["get_observations"](state)),
                action,
            )
        )
        state = game["apply_action"](state, action) if action else state
    return Trajectory("high_card", index, None, ("first", "second"), tuple(steps))


GAMES = [
    record(0, ["deal 1", "deal 2", "bet", "fold"]),
    record(1, ["deal 1", "deal 4", "pass"]),
    record(2, ["deal 3", "deal 2", "bet", "call"]),
]


def run_as_unittest(text, source=PROGRAM):
    """Runs rendered tests the way a reader would and returns (tests run, tests failed)."""
    names = namespace(source)
    exec(text, names)
    suite = unittest.TestSuite(
        unittest.defaultTestLoader.loadTestsFromTestCase(value)
        for value in list(names.values())
        if isinstance(value, type) and issubclass(value, unittest.TestCase)
    )
    outcome = unittest.TextTestRunner(stream=io.StringIO()).run(suite)
    return outcome.testsRun, len(outcome.failures) + len(outcome.errors)


def test_every_step_gives_a_transition_and_every_decision_an_inference_test():
    tests = build(GAMES, ALL)
    count = {kind: sum(test.kind == kind for test in tests) for kind in ALL.kinds}
    assert count == {"transition": 14, "inference": 5, "random_play": 2}
    assert len({test.id for test in tests}) == len(tests)
    assert tests[4].data["player_name"] == "terminal"
    assert tests[4].data["action"] is None


def test_closed_deck_recordings_give_no_transition_tests():
    steps = tuple(
        Step(None, s.player, s.legal_actions, s.chance, s.rewards, s.observations, s.action) for s in GAMES[0].steps
    )
    closed = Trajectory("high_card", 0, None, ("first", "second"), steps)
    assert {test.kind for test in build([closed], ALL)} == {"inference", "random_play"}


def test_several_histories_are_claimed_only_where_recorded_games_prove_it():
    tests = build(GAMES, BuildOptions(kinds=("inference",)))
    several = {test.id: test.data["several"] for test in tests}
    # Games 0 and 1 show player 0 the same card before the first move, with different cards of player 1.
    assert several == {
        "inference-0-2": True,
        "inference-0-3": True,
        "inference-1-2": True,
        "inference-2-2": False,
        "inference-2-3": True,
    }


def test_a_reference_resampler_is_evidence_too():
    class Reference:
        def resample_history(self, history, player, rng):
            return [f"deal {rng.choice('12')}"]

    history = GAMES[2].history(0, 2)
    assert not SeveralHistories(GAMES).fit(history, 0)
    assert SeveralHistories(GAMES, Reference()).fit(history, 0)


def test_rendered_tests_are_python_that_the_right_program_passes():
    tests = build(GAMES, ALL)
    assert run_as_unittest(render(tests)) == (len(tests), 0)


def test_rendered_tests_fail_on_wrong_programs():
    tests = build(GAMES, ALL)
    wrong = PROGRAM.replace("2.0 if len", "3.0 if len")
    assert run_as_unittest(render(tests), wrong) == (len(tests), 1)
    lazy = PROGRAM.replace('random.choice([card for card in CARDS if card != seen["card"]])', '"4"')
    assert run_as_unittest(render(tests), lazy)[1] == 4


def test_rendered_value_tests_run_too():
    tests = build(GAMES, BuildOptions(kinds=("value",)))
    right = PROGRAM + "\ndef value_function(state, player_id):\n    return get_rewards(state)[player_id]\n"
    assert run_as_unittest(render(tests), right) == (14, 0)


def failed(test, **changes):
    values = {
        "status": "fail",
        "field": "rewards",
        "expected": [1.0],
        "got": [2.0],
        "message": "rewards[0]: expected 1.0, got 2.0",
        "output_tail": "one\ntwo",
        "path": "[0]",
    }
    return UnitTestResult(test.id, test.kind, **(values | changes))


def test_a_failed_test_is_shown_with_its_error_before_it():
    test = build(GAMES, ALL)[0]
    text = render([test], [failed(test, traceback='  File "program.py", line 3, in f', status="error")])
    assert text.splitlines()[:5] == [
        "# TODO: fix this error: rewards[0]: expected 1.0, got 2.0",
        '#     File "program.py", line 3, in f',
        "#   last lines of output:",
        "#     one",
        "#     two",
    ]
    assert run_as_unittest(text) == (1, 0)


def test_a_wrong_answer_shows_expected_and_got_and_stays_a_comment():
    test = build(GAMES, ALL)[0]
    text = render([test], [failed(test, got=["a\nb"], output_tail="c\rd", message="e\nf")])
    assert "#   rewards: expected [1.0]\n#   rewards: got ['a\\nb']" in text
    assert run_as_unittest(text) == (1, 0)


def test_a_text_that_is_too_long_says_how_many_tests_are_missing():
    tests = build(GAMES, ALL)
    text = render(tests, max_characters=1500)
    assert len(text) < 1800
    assert "more tests (5 inference, 2 random_play, " in text.splitlines()[-1]
    assert "test_transition_0_0" in render(tests, max_characters=1)


def test_at_the_start_every_kind_of_action_and_of_end_is_shown():
    chosen = select_for_prompt(build(GAMES, ALL), None)
    shown = {
        (test.data["player"], action_kind(test.data["action"] or "")) for test in chosen if test.kind == "transition"
    }
    assert shown == {(-1, "deal"), (0, "bet"), (0, "pass"), (1, "call"), (1, "fold"), (-4, "")}
    assert sorted(test.data["player"] for test in chosen if test.kind == "inference") == [0, 0, 1, 1]
    assert sum(test.kind == "random_play" for test in chosen) == 1


def test_the_papers_setting_shows_five_of_each_type_then_one_failure_of_each():
    tests = build(GAMES, ALL)
    options = PromptOptions(mode="paper")
    start = select_for_prompt(tests, None, options)
    assert [sum(test.kind == kind for test in start) for kind in ALL.kinds] == [5, 5, 2]
    assert start == select_for_prompt(tests, None, options)
    results = [failed(test) for test in tests]
    assert [test.kind for test in select_for_prompt(tests, results, options)] == list(ALL.kinds)


def test_the_most_frequent_failures_come_first_each_with_its_smallest_example():
    tests = build(GAMES, BuildOptions(kinds=("transition",)))
    results = [failed(test, path=f"[{number}]") for number, test in enumerate(tests[:3])]
    results += [failed(tests[3], field="observations"), failed(tests[4], status="pass")]
    results += [failed(test, field="next_state", path=f".cards[{n}]") for n, test in enumerate(tests[5:11])]
    chosen = select_for_prompt(tests, results)
    fields = [next(result.field for result in results if result.id == test.id) for test in chosen]
    assert fields == ["next_state", "rewards", "observations", "next_state", "rewards"]
    assert len(json.dumps(chosen[1].data)) == min(len(json.dumps(test.data)) for test in tests[:3])
    assert len(select_for_prompt(tests, results, PromptOptions(on_error=1))) == 1


def test_nothing_is_shown_when_all_passed():
    tests = build(GAMES, ALL)
    assert select_for_prompt(tests, [failed(test, status="pass") for test in tests]) == []


@pytest.mark.parametrize(
    ("action", "kind"), [("x(0,1)", "x"), ("move 3 from (0,1) to (2,2)", "move from to"), ("12", ""), ("Été_7", "Été")]
)
def test_an_action_kind_is_its_letters(action, kind):
    assert action_kind(action) == kind


def test_failures_of_ours_are_in_no_accuracy():
    test = UnitTest("t", "transition", {}, 0, 0)
    ours = failed(test, status="error", outcome=Outcome.INFRA_ERROR)
    assert accuracy([ours]) == {}
    assert accuracy([ours, failed(test, status="pass"), failed(test)]) == {"transition": 0.5}


class TestParsing:
    data: ClassVar = {"id": "t", "kind": "value", "status": "error", "fields": {"value": "error"}, "field": "value"}

    def test_a_result_without_details_is_parsed(self):
        result = parse_result({"id": "t", "kind": "value", "status": "pass", "fields": {}})
        assert (result.status, result.outcome, result.output_tail) == ("pass", Outcome.OK, "")

    def test_an_exception_is_a_model_error(self):
        assert parse_result(self.data | {"output": ["a", "b"]}).outcome is Outcome.MODEL_ERROR

    def test_a_death_keeps_its_outcome(self):
        test = UnitTest("t", "value", {}, 0, 0)
        reply = Reply(Outcome.CRASHED, failure=Failure("SIGSEGV", "ended by SIGSEGV", 3), output_tail="x")
        result = death_result(test, reply, 5.0)
        assert (result.outcome, result.line, result.field) == (Outcome.CRASHED, 3, "crashed")


def test_a_long_initial_state_is_named_and_outcomes_that_it_lists_are_not_repeated() -> None:
    deals = [f"deal {number}" for number in range(1000)]
    initial = {"deals": deals, "dealt": None}
    data = {
        "state": initial,
        "player": -1,
        "player_name": "chance",
        "rewards": [0.0, 0.0],
        "observations": [None, None],
        "legal_actions": sorted(deals),
        "chance": [[deal, 0.001] for deal in deals],
        "action": "deal 7",
        "next_state": {"deals": [], "dealt": "deal 7"},
    }
    long = UnitTest("transition-0-0", "transition", data, 0, 0)
    text = render([long], initial_state=initial)
    assert "state = INITIAL_STATE" in text
    assert "dict.fromkeys(state['deals'], 0.001), dict(get_chance_outcomes(state))" in text
    assert "sorted(state['deals']), sorted(get_legal_actions(state))" in text
    assert len(text) < 1000
    uneven = UnitTest("transition-0-0", "transition", {**data, "chance": [["deal 0", 0.5], *data["chance"][1:]]}, 0, 0)
    assert "fromkeys" not in render([uneven], initial_state=initial)
    assert repr(initial) in render([long], initial_state={"deals": []})
