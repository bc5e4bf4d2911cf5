"""Observations as vectors by a language model's functions: checked in the sandbox, tried on what was held out."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from cwm.functions.types import FunctionConfigError, FunctionReport
from cwm.functions.vectors import (
    KIND,
    SCHEMA,
    VectorConfig,
    VectorResult,
    VectorTask,
    examples,
    render,
    synthesize_vectors,
)
from cwm.functions.vectors_check import ProcessVectorChecker
from cwm.llm.journaled import Journaled
from cwm.llm.providers.scripted import Scripted
from cwm.observations.samples import Sample, distinct, samples_of
from cwm.observations.vectors import RoundTrip
from cwm.record.record import RunRecord
from cwm.synthesis.events import Event
from cwm.synthesis.testing import TesterSettings
from cwm.trajectories.recorded import collect
from games import registry
from games.api import GameInfo

INFO = GameInfo("toy", 2, "zero_sum", -1.0, 1.0, False, True, ("first", "second"))
GOOD = """CARDS = ["J", "Q", "K", "A"]


def observation_to_vector(observation, player_id):
    vector = [float(player_id == 1), observation["pot"] / 64, float(observation["last"] is not None)]
    vector.append(0.0 if observation["last"] is None else observation["last"])
    vector.append(len(observation["hand"]) / 4)
    for place in range(4):
        card = observation["hand"][place] if place < len(observation["hand"]) else None
        vector += [float(card == name) for name in CARDS]
    return vector


def vector_to_observation(vector, player_id):
    places = [vector[5 + 4 * place : 9 + 4 * place] for place in range(round(vector[4] * 4))]
    hand = [CARDS[group.index(max(group))] for group in places]
    return {"pot": round(vector[1] * 64), "last": vector[3] if vector[2] >= 0.5 else None, "hand": hand}
"""
REMEMBERS = """BEFORE = []


def observation_to_vector(observation, player_id):
    BEFORE.append(observation)
    return [float(len(BEFORE))]


def vector_to_observation(vector, player_id):
    return BEFORE[round(vector[0]) - 1]
"""
SET_ORDER = GOOD.replace(
    'float(player_id == 1), observation["pot"]', 'float(list({"J", "Q", "K", "A"}).index("J")), observation["pot"]'
)
THREE_CARDS = GOOD.replace('["J", "Q", "K", "A"]', '["J", "Q", "K"]').replace("[5 + 4 *", "[5 + 3 *")
THREE_CARDS = THREE_CARDS.replace(": 9 + 4 *", ": 8 + 3 *")
"""Knows the cards of the samples alone."""
SAMPLES: list[Sample] = [
    (0, {"pot": 2, "last": None, "hand": []}),
    (1, {"pot": 3, "last": 0.1, "hand": ["J"]}),
    (0, {"pot": 17, "last": -2.5, "hand": ["Q", "K", "J"]}),
]
HELD_OUT: list[Sample] = [(1, {"pot": 5, "last": None, "hand": ["K", "Q"]})]
ACE: list[Sample] = [*HELD_OUT, (0, {"pot": 6, "last": 1.0, "hand": ["A", "A"]})]


def changed(old: str, new: str) -> str:
    assert old in GOOD
    return GOOD.replace(old, new)


def fenced(source: str) -> str:
    return f"```python\n{source}```"


@pytest.fixture(scope="module")
def checker() -> ProcessVectorChecker:
    return ProcessVectorChecker(SAMPLES, INFO, TesterSettings(test_seconds=1.0, load_seconds=5.0))


def task(held_out: Sequence[Sample] = HELD_OUT) -> VectorTask:
    return VectorTask("A game of cards.", INFO, "the model", tuple(SAMPLES), tuple(SAMPLES), tuple(held_out))


def test_right_functions_pass_and_bring_held_out_observations_back(checker: ProcessVectorChecker) -> None:
    (report,) = checker([GOOD])
    assert (report.problems, report.checked) == ((), 3)
    assert report.calls_per_s is not None
    trip = checker.round_trip(GOOD, ACE)
    assert trip == RoundTrip(21, 3, 2, 2, 0, {}, "")


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (
            changed('round(vector[1] * 64), "last"', 'round(vector[1] * 64) // 2, "last"'),
            "an observation does not come back as it was, in .pot: expected 2, got 1; player_id: 0; observation: {'po",
        ),
        (changed("round(vector[1] * 64)", "vector[1] * 64"), "whole numbers came back as floats"),
        (
            changed("    return vector\n", '    return vector[: 5 + observation["pot"]]\n'),
            "numbers here, but 7 for ano",
        ),
        (changed("    return vector\n", '    return "vector"\n'), "must return a list of at least one finite float"),
        (changed("    return vector\n", "    return vector + [True]\n"), "must return a list of at least one finite"),
        (
            changed("    return vector\n", "    return vector + [float('nan')]\n"),
            "is nan; a finite number was expected",
        ),
        (changed("    return vector\n", "    return vector * 1000\n"), "returned 21000 numbers; at most 10000"),
        (changed("    vector.append(len(obs", "    vector.append(1 / len(obs"), "raised ZeroDivisionError in line 7"),
        (
            changed("    places = [", "    vector[99]\n    places = ["),
            "vector_to_observation raised IndexError in line",
        ),
        (
            changed("    vector.append(len(obs", "    while True: pass\n    vector.append(len(obs"),
            "could not be checked",
        ),
        ("1 / 0\n" + GOOD, "the functions could not be loaded: ZeroDivisionError"),
        (REMEMBERS, "vector_to_observation raised IndexError in line"),
        (SET_ORDER, "answers differently in another process and order (the vectors differ)"),
    ],
)
def test_what_is_wrong_with_functions_is_named(checker: ProcessVectorChecker, source: str, said: str) -> None:
    (report,) = checker([source])
    assert said in report.problems[0]


def test_a_new_card_that_functions_do_not_know_is_found_on_held_out_games(checker: ProcessVectorChecker) -> None:
    assert checker([THREE_CARDS])[0].problems == ()
    trip = checker.round_trip(THREE_CARDS, ACE)
    assert (trip.exact, trip.changed, trip.held_out, trip.errors) == (1, 1, 2, {})
    assert "in .hand[0]: expected 'A', got 'J'" in trip.first_error


def test_functions_that_block_on_a_held_out_observation_bring_none_back(checker: ProcessVectorChecker) -> None:
    source = changed(
        "    vector.append(len(obs", '    while "A" in observation["hand"]: pass\n    vector.append(len(obs'
    )
    trip = checker.round_trip(source, ACE)
    assert (trip.exact, trip.errors) == (0, {"broken": 2})
    assert "observation_to_vector could not be checked" in trip.first_error


def run(
    answers: Sequence[str],
    checker: ProcessVectorChecker,
    held_out: Sequence[Sample] = HELD_OUT,
    repairs: int = 0,
) -> tuple[VectorResult, Scripted, list[Event]]:
    model = Scripted(answers)
    events: list[Event] = []
    config = VectorConfig(num_candidates=len(answers) - repairs, repairs=repairs)
    task_ = task(held_out)
    found = synthesize_vectors(task_, config, model, checker, checker.round_trip, on_event=events.append)
    return found, model, events


def test_where_both_bring_all_back_the_schema_is_chosen(checker: ProcessVectorChecker) -> None:
    found, _, events = run([fenced(GOOD)], checker)
    assert (found.chosen, found.program) == (SCHEMA, None)
    assert found.trips["0"].share == found.trips[SCHEMA].share == 1.0
    assert found.message.startswith("schema chosen (schema: 1 of 1 come back, ")
    assert [event.kind for event in events] == ["vectors_tested", "vectors_chosen"]


def test_functions_that_know_what_no_sample_shows_are_chosen_over_the_schema(checker: ProcessVectorChecker) -> None:
    found, _, _ = run([fenced(THREE_CARDS), fenced(GOOD)], checker, ACE)
    assert (found.chosen, found.program) == (1, GOOD)
    assert found.trips[SCHEMA].errors == {"UnseenCategoryError": 1}
    written = found.to_json()
    assert (written["chosen"], written["best"]) == (1, found.asked.candidates[1].hash)
    assert written["baselines"] == {SCHEMA: 0.5}
    assert json.loads(json.dumps(written))["round_trips"] == written["round_trips"]


def test_where_nothing_brings_all_back_the_message_says_at_which_field(checker: ProcessVectorChecker) -> None:
    found, _, _ = run([fenced(THREE_CARDS), fenced("1 / 0\n" + GOOD)], checker, ACE)
    assert (found.chosen, found.program, found.to_json()["best"]) == (None, None, None)
    assert found.message.startswith("nothing brings all held-out observations back (schema: 1 of 2 come back")
    assert "first .hand[0] is 'A'; the samples have" in found.message
    assert "functions 0: 1 of 2 come back, 17 numbers, first an observation does not come back" in found.message
    assert "functions 1: failed, the functions could not be loaded" in found.message


def test_functions_that_lose_something_are_repaired_with_what_was_lost(checker: ProcessVectorChecker) -> None:
    lossy = changed('"last": vector[3] if vector[2] >= 0.5 else None', '"last": vector[3]')
    found, model, events = run([fenced(lossy), fenced(GOOD)], checker, ACE, repairs=1)
    assert found.chosen == 0
    assert [getattr(event, "status", "") for event in events] == ["failed", "checked", ""]
    asked = model.requests[1].messages[0].text
    assert "in .last: expected None, got 0.0" in asked
    assert lossy.strip() in asked
    assert {request.purpose for request in model.requests} == {"vectors"}


def test_a_finished_choice_again_makes_no_call_and_no_check(tmp_path: Path, checker: ProcessVectorChecker) -> None:
    def never(*_: Any) -> Any:
        raise AssertionError("it is stored")

    config = VectorConfig(num_candidates=1)
    with RunRecord.create_or_resume(tmp_path / "run", "test", {}) as record:
        model = Journaled(Scripted([fenced(GOOD)]), record.calls)
        first = synthesize_vectors(task(ACE), config, model, checker, checker.round_trip, record)
    with RunRecord.create_or_resume(tmp_path / "run", "test", {}) as record:
        again = synthesize_vectors(task(ACE), config, Journaled(Scripted([]), record.calls), never, never, record)
    assert again == first
    assert first.chosen == 0


def test_a_missing_function_is_named_without_running_anything() -> None:
    def never(sources: Sequence[str]) -> list[FunctionReport]:
        raise AssertionError("nothing runs")

    half = fenced(GOOD[: GOOD.index("def vector_to")])
    model = Scripted([half])
    found = synthesize_vectors(
        task(), VectorConfig(repairs=0), model, never, lambda *_: RoundTrip(0, 0, 0, 0, 0, {}, "")
    )
    assert found.asked.candidates[0].status == "rejected"
    assert "vector_to_observation" in found.asked.candidates[0].report.problems[0]
    assert found.chosen == SCHEMA


def test_the_prompt_shows_rules_interface_and_examples_alone() -> None:
    text = KIND.prompt(task().asked)
    assert "A game of cards." in text
    assert "def vector_to_observation(vector: list[float], player_id: int) -> PlayerObservation:" in text
    assert "(player_id=0) {'pot': 17, 'last': -2.5, 'hand': ['Q', 'K', 'J']}" in text
    assert "the model" not in text
    found, _, _ = run(["no program"], ProcessVectorChecker([], INFO, TesterSettings()))
    assert "What is wrong" in KIND.repair_prompt(task().asked, found.asked.candidates[0], VectorConfig())


def test_examples_show_each_thing_once_and_fit_the_room() -> None:
    games = collect(registry.make("leduc_poker"), 20, 0)
    samples = samples_of(games)
    shown = examples(samples)
    assert shown[0] == samples[0]
    assert len(shown) < len(distinct(samples)) / 4
    words = {word for _, seen in samples for word in str(seen).split()}
    assert {word for _, seen in shown for word in str(seen).split()} >= {word for word in words if word.isalpha()}
    assert len(render(examples(samples, 400))) < 1200


def test_in_the_closed_deck_one_players_view_of_each_game_is_all_there_is() -> None:
    games = collect(registry.make("kuhn_poker"), 4, 0)
    found = samples_of(games, "closed")
    assert {player for player, _ in found} == {0, 1}
    expected = [
        (game.index % 2, step.observations[game.index % 2])
        for game in games
        for step in game.steps
        if step.player in (game.index % 2, -4)
    ]
    assert found == expected


def test_more_samples_than_are_checked_are_thinned_evenly() -> None:
    samples: list[Sample] = [(0, {"n": number}) for number in (*range(10), 3)]
    assert [seen["n"] for _, seen in distinct(samples)] == list(range(10))
    assert [seen["n"] for _, seen in distinct(samples, 5)] == [0, 2, 4, 6, 8]


def test_settings_out_of_range_are_refused() -> None:
    with pytest.raises(FunctionConfigError, match="given repairs=-1, games=20, planner_games=4"):
        VectorConfig(repairs=-1)
