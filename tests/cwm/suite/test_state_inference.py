"""Hidden-state inference: right and wrong samplers of the present state are told apart."""

import io
import unittest
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from cwm.sandbox.parent.host import Sandbox
from cwm.sandbox.wire.api import ProgramSource
from cwm.suite.build import BuildOptions, build
from cwm.suite.execution import run_tests
from cwm.suite.rendering import render
from cwm.suite.several_histories import SeveralStates
from cwm.suite.types import UnitTestResult
from cwm.synthesis.config import SynthesisConfig
from cwm.synthesis.prompts import TaskPrompts
from cwm.synthesis.task import SynthesisTask
from cwm.trajectories.recorded import Trajectory, collect
from games import registry
from games.api import ResamplesHistory, state_to_json

PROGRAMS = Path(__file__).resolve().parents[2] / "data" / "hidden_programs"
KINDS = ("transition", "inference", "random_play")
DRAWN = "random.choice(possible(seen, player_id))"
END = "return end(resample_history(obs_action_history, player_id, False))"


def recorded(game: str) -> list[Trajectory]:
    return collect(registry.make(game), 6, 0)


def options(game: str) -> BuildOptions:
    reference: Any = registry.make(game)
    return BuildOptions(kinds=KINDS, infers="state", reference=reference)


def program_of(game: str, *replacements: tuple[str, str]) -> ProgramSource:
    reference = registry.make(game)
    text = (PROGRAMS / f"{game}.py").read_text("utf-8")
    for old, new in replacements:
        assert old in text
        text = text.replace(old, new)
    return ProgramSource(text, state_to_json(reference, reference.initial_state()), asdict(reference.info))


@pytest.fixture(scope="module")
def failures() -> Callable[..., list[UnitTestResult]]:
    """Returns what fails of the open deck's tests with inference of states, on a program with some text replaced."""

    def run(game: str, *replacements: tuple[str, str]) -> list[UnitTestResult]:
        results = run_tests(program_of(game, *replacements), build(recorded(game), options(game)), Sandbox())
        return [result for result in results if result.status != "pass"]

    return run


@pytest.mark.parametrize("game", ["kuhn_poker", "leduc_poker"])
def test_a_right_program_passes(failures: Any, game: str) -> None:
    assert failures(game) == []


@pytest.mark.parametrize(
    ("game", "replacement", "field", "message"),
    [
        (
            "kuhn_poker",
            (f"cards = deals(seen, player_id, {DRAWN})", "cards = [0, 1]"),
            "resampled_observation",
            "in the resampled state, resampled_observation.private_card: expected",
        ),
        (
            "kuhn_poker",
            (f"player_id, {DRAWN})\n    return", "player_id, possible(seen, player_id)[0])\n    return"),
            "only_one_state",
            "several states fit these observations, but 300 calls of resample_state all returned the same one",
        ),
        (
            "kuhn_poker",
            (
                '("betting", "contributions", "current_player")}}',
                '("betting", "contributions")}, "current_player": -4}',
            ),
            "resampled_player",
            "must be to move, as it was; get_current_player says -4",
        ),
        (
            "leduc_poker",
            (END, "return {**end(resample_history(obs_action_history, player_id, False)), 'pot': 7}"),
            "resampled_observation",
            "in the resampled state, resampled_observation.pot: expected 2, got 7",
        ),
        ("leduc_poker", (END, "return [end([])]"), "resample_state", "must return a state (a dictionary), got [{"),
        ("leduc_poker", ("def resample_state", "def resample_States"), "resample_state", "does not define resample_st"),
    ],
)
def test_a_wrong_sampler_is_told_what_is_wrong(
    failures: Any, game: str, replacement: tuple[str, str], field: str, message: str
) -> None:
    found = failures(game, replacement)
    assert {result.kind for result in found} == {"inference"}
    assert field in {result.field for result in found}
    assert any(message in result.message for result in found), [result.message for result in found]


def test_a_state_with_other_legal_actions_is_wrong_though_it_looks_the_same(failures: Any) -> None:
    hidden = ('state[f"round_{state[\'round\']}_betting"].count("Raise")', "state.get('raised', 0)")
    found = failures("leduc_poker", hidden, (END, END + " | {'raised': 2}"))
    wrong = [result for result in found if result.kind == "inference"]
    assert {result.field for result in wrong} == {"resampled_legal_actions"}
    assert "in the resampled state, resampled_legal_actions: missing ['Raise']" in wrong[0].message


def test_several_states_are_claimed_only_where_they_are_known_to_differ() -> None:
    game: Any = registry.make("kuhn_poker")
    games = recorded("kuhn_poker")
    history = games[0].history(0, 2)
    assert SeveralStates(games, game).fit(history, 0)
    assert not SeveralStates(games[:1]).fit(history, 0)

    class OnlyHistories:
        def resample_history(self, history: Any, player: int, rng: Any) -> list[str]:
            return [str(rng.random())]

    assert isinstance(OnlyHistories(), ResamplesHistory)
    assert not SeveralStates(games[:1], OnlyHistories()).fit(history, 0)


def test_rendered_tests_are_python_that_the_right_program_passes() -> None:
    tests = build(recorded("kuhn_poker"), options("kuhn_poker"))
    program = program_of("kuhn_poker")
    names: dict[str, Any] = {"INITIAL_STATE": program.initial_state, "unittest": unittest}
    exec(program.source, names)
    exec(render(tests), names)
    suite = unittest.TestSuite(
        unittest.defaultTestLoader.loadTestsFromTestCase(value)
        for value in list(names.values())
        if isinstance(value, type) and issubclass(value, unittest.TestCase)
    )
    outcome = unittest.TextTestRunner(stream=io.StringIO()).run(suite)
    assert (outcome.testsRun, len(outcome.failures) + len(outcome.errors)) == (len(tests), 0)


def test_the_prompt_asks_for_a_state_and_shows_one() -> None:
    reference: Any = registry.make("leduc_poker")
    initial = state_to_json(reference, reference.initial_state())
    rules = registry.rules("leduc_poker")
    task = SynthesisTask.of(rules, reference.info, initial, recorded("leduc_poker"), "state", reference)
    assert task.functions[-1] == "resample_state"
    prompt = TaskPrompts(task, SynthesisConfig()).synthesis()
    assert "def resample_state(obs_action_history: list[tuple[PlayerObservation, Action | None]], player_id" in prompt
    assert "(Only `resample_state` may be random.)" in prompt
    assert "def resample_history" not in prompt
    example = task.example_history()
    assert example is not None
    assert repr(example.state) in prompt
    assert "Test_transition" in prompt
