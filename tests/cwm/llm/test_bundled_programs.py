"""Every recorded answer that ships holds a program of the right functions, and syntheses of a game are independent."""

from pathlib import Path

import pytest

from cwm.functions import vectors
from cwm.interface import beside_joint, inference, joint, twin
from cwm.interface.answers import programs
from cwm.interface.inference import STATE_FUNCTION
from cwm.interface.program import INFERENCE_FUNCTION, POLICY_FUNCTION, TRANSITION_FUNCTIONS, VALUE_FUNCTION
from cwm.llm import recordings
from cwm.llm.recordings import Recording
from cwm.sandbox.parent import static_check

FUNCTIONS = {
    "transition": TRANSITION_FUNCTIONS,
    "transition+inference": (*TRANSITION_FUNCTIONS, INFERENCE_FUNCTION),
    "closed deck": (*TRANSITION_FUNCTIONS, INFERENCE_FUNCTION),
    "transition+state inference": (*TRANSITION_FUNCTIONS, STATE_FUNCTION),
    "value": (VALUE_FUNCTION,),
    "prior": (POLICY_FUNCTION,),
    "vectors": vectors.KIND.functions,
    "twin": twin.TWIN_FUNCTIONS,
    "joint step": joint.JOINT_FUNCTIONS,
    "resample": ("resample_history",),
}
INTERFACES = {
    "closed deck": inference,
    "transition+state inference": inference,
    "vectors": vectors.KIND.interface,
    "twin": twin,
    "joint step": joint,
    "resample": beside_joint,
}
"""What is asked of these is declared in a module of its own."""
FURTHER_MODULES = {"twin": frozenset(twin.TWIN_MODULES)}
"""What only these may import."""


def source(recording: Recording, number: int) -> str:
    record = recording.records[number]
    (found,) = programs(record.completion.text, functions_of(recording, number), 1)
    return found


def functions_of(recording: Recording, number: int) -> tuple[str, ...]:
    purpose = recording.records[number].request.purpose
    # A faster program has the functions of the one that it is to replace.
    return FUNCTIONS[recording.records[0].request.purpose if purpose == "faster" else purpose]


PILOT = sorted((Path(__file__).resolve().parents[2] / "data" / "pilot").glob("*.jsonl"))
"""What was asked by rule books before their prompts were settled: told of in RESULTS of the CWM paper, not shipped."""


@pytest.mark.parametrize("path", PILOT, ids=[path.stem for path in PILOT])
def test_the_pilots_answers_are_on_record(path: Path) -> None:
    (record,) = recordings.load(str(path)).records
    functions = FUNCTIONS[record.request.purpose]
    interface = INTERFACES.get(record.request.purpose)
    (found,) = programs(record.completion.text, functions, 1)
    assert static_check.check(found, functions, interface) == []


@pytest.mark.parametrize("name", recordings.bundled_names())
def test_every_answer_holds_a_program_that_the_static_check_passes(name: str) -> None:
    recording = recordings.load(name)
    for number, record in enumerate(recording.records):
        purpose = record.request.purpose
        beside = purpose != "joint step" and recording.records[0].request.purpose == "joint step"
        interface = beside_joint if beside else INTERFACES.get(purpose)
        modules = FURTHER_MODULES.get(purpose, frozenset())
        found = source(recording, number)
        assert static_check.check(found, functions_of(recording, number), interface, modules) == []


@pytest.mark.parametrize(
    "game", [game for game in recordings.bundled_games() if len(recordings.bundled_seeds(game)) > 1]
)
def test_syntheses_to_choose_among_are_each_asked_and_answered_otherwise(game: str) -> None:
    seeds = recordings.bundled_seeds(game)
    assert seeds == list(range(len(seeds)))
    made = [recordings.load(recordings.name_of(game, seed)) for seed in seeds]
    # Different seeds play other training games: no two were asked the same, nor answered it.
    first = made[0].records[0].request.purpose
    assert FUNCTIONS[first][0] in {TRANSITION_FUNCTIONS[0], joint.JOINT_FUNCTIONS[0]}
    for kind in (first, "value", "prior"):
        asked = [next((r for r in recording.records if r.request.purpose == kind), None) for recording in made]
        found = [record for record in asked if record is not None]
        assert len({record.key for record in found}) == len({r.completion.text for r in found}) == len(found)
        assert kind != first or len(found) == len(made)
