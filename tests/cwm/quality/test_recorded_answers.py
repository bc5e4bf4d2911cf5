"""What recordings share with our source and with each other."""

from cwm.llm.api import Completion, Message, Request
from cwm.llm.recordings import Header, Record, Recording
from cwm.quality.recorded_answers import likenesses, programs_of

SHOWN = 'board = state["board"] + [move]\n'
OURS = SHOWN + 'return {"board": board, "last": move}\n'


def recording(name: str, *answers: str, game: str = "a game") -> Recording:
    request = Request((Message("user", f"It's yours: {SHOWN}"),), "transition")
    records = [
        Record("key", number, request, Completion(text, "ok", "a model"), "") for number, text in enumerate(answers)
    ]
    return Recording(name, Header(game), tuple(records))


def fenced(source: str) -> str:
    return f"Here it is.\n```python\n{source}```\n"


def test_programs_come_with_what_was_shown_and_prose_is_none() -> None:
    (program,) = programs_of([recording("one", "I can't.", fenced(OURS))])
    assert (program.recording, program.game, program.purpose, program.source) == ("one", "a game", "transition", OURS)
    assert SHOWN in program.prompt


def test_a_recording_is_compared_with_our_source_and_with_other_answers_to_its_game() -> None:
    one = recording("one", fenced(OURS), fenced("a = 1\n"))
    same, other = recording("same", fenced(OURS)), recording("other", fenced('return {"board": 1}\n'))
    far, empty = recording("far", fenced(OURS + "a = 1\n"), game="another"), recording("empty", "no")
    beside = [one, same, other, far, empty]
    found = list(likenesses([one, empty, far], beside, [("ours.py", OURS)]))
    assert [item.recording for item in found] == ["one", "far"]
    # Ten of the tokens are in the prompt.
    assert [(item.programs, item.shared.length, item.outside.length) for item in found] == [(2, 20, 10), (1, 20, 10)]
    # An answer that two recordings have is one answer.
    assert found[0].others is not None
    assert (found[0].others.length, found[0].others.file) == (4, "other")
    assert found[1].others is None
