"""One chat: each answer's failures are appended; bad answers leave no trace in it."""

import pytest

from cwm.llm.api import Completion
from cwm.sandbox.wire.api import Outcome
from cwm.synthesis.attempts import NOTHING, Told
from cwm.synthesis.candidate import Candidate, KindCounts, SuiteReport
from cwm.synthesis.config import SynthesisConfig
from cwm.synthesis.conversation import Conversation
from cwm.synthesis.refiner import Answer, AnswerKind


class Writer:
    """Prompts that name what they are about."""

    def synthesis(self, approaches: Told = NOTHING) -> str:
        return "first"

    def refinement(self, candidate: Candidate, attempts: Told = NOTHING) -> str:
        return f"repair {candidate.id}"

    def follow_up(self, candidate: Candidate, num_given: int, turn: int = 0) -> str:
        return f"{candidate.id} of {num_given} fails"

    def no_program(self) -> str:
        return "no program"


def candidate(number: int, passed: int) -> Candidate:
    report = SuiteReport(Outcome.OK, (), {"transition": KindCounts(passed=passed, failed=10 - passed)})
    return Candidate(number, "", str(number), None, 0, 1, report)


def answer(text: str, kind: AnswerKind = "programs") -> Answer:
    return Answer(kind, Completion(text, "ok", "m"))


def texts(chat: Conversation) -> list[tuple[str, str]]:
    return [(message.role, message.text) for message in chat.propose().messages]


def test_failures_of_the_best_version_are_appended() -> None:
    chat = Conversation(Writer(), SynthesisConfig(method="conversation"))
    assert texts(chat) == [("user", "first")]
    chat.observe(chat.propose(), answer("A"), [candidate(0, 3), candidate(1, 7), candidate(2, 7)])
    assert texts(chat) == [("user", "first"), ("assistant", "A"), ("user", "1 of 3 fails")]
    parent = chat.propose().parent
    assert parent is not None
    assert parent.id == 1


def test_answer_without_a_program_stays_in_the_chat_and_is_told_so() -> None:
    chat = Conversation(Writer(), SynthesisConfig())
    chat.observe(chat.propose(), answer("sorry", "no_program"), [])
    assert texts(chat)[1:] == [("assistant", "sorry"), ("user", "no program")]


@pytest.mark.parametrize("kind", ["truncated", "refused", "empty"])
def test_bad_answer_leaves_no_trace_and_the_same_is_asked_again(kind: AnswerKind) -> None:
    chat = Conversation(Writer(), SynthesisConfig())
    chat.observe(chat.propose(), answer("par", kind), [])
    assert texts(chat) == [("user", "first")]


def test_chat_begins_anew_from_the_best_program_before_it_grows_too_long() -> None:
    chat = Conversation(Writer(), SynthesisConfig(max_conversation_turns=2))
    chat.observe(chat.propose(), answer("A"), [candidate(0, 7)])
    chat.observe(chat.propose(), answer("B"), [candidate(1, 3)])
    assert texts(chat) == [("user", "repair 0")]
