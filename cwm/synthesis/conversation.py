"""Sequential refinement: one chat, to which each answer's failures are appended (the CWM paper, 4.1)."""

from collections.abc import Mapping, Sequence

from cwm.llm.api import Message
from cwm.synthesis.candidate import Candidate
from cwm.synthesis.config import SynthesisConfig
from cwm.synthesis.refiner import Answer, PromptWriter, RefinementStep


class Conversation:
    """Goes on from the best program of the last answer that held one.

    An answer that is truncated, refused or empty is not part of the chat: the same question is asked again. After
    `max_conversation_turns` answers the chat begins anew from the best program so far, so that it never outgrows the
    model's context.

    Args:
        writer: writes the prompts.
        config: turns of one chat.
    """

    def __init__(self, writer: PromptWriter, config: SynthesisConfig) -> None:
        self._writer = writer
        self._config = config
        self._messages = [Message("user", writer.synthesis())]
        self._current: Candidate | None = None
        self._best: Candidate | None = None
        self._turns = 0
        self._given = 0

    def propose(self) -> RefinementStep:
        """Returns the chat so far, which ends in the user's message."""
        return RefinementStep(tuple(self._messages), self._current)

    def observe(self, step: RefinementStep, answer: Answer, candidates: Sequence[Candidate]) -> None:
        """Appends the answer and what is wrong with its best program."""
        if answer.kind not in ("programs", "no_program"):
            return
        self._turns += 1
        self._given = len(candidates)
        if candidates:
            self._current = max(candidates, key=Candidate.rank)
            if self._best is None or self._current.rank() > self._best.rank():
                self._best = self._current
        if self._turns >= self._config.max_conversation_turns:
            self._begin_anew()
            return
        reply = (
            self._writer.follow_up(self._current, len(candidates))
            if candidates and self._current is not None
            else self._writer.no_program()
        )
        self._messages += [Message("assistant", answer.completion.text), Message("user", reply)]

    def begin(self, candidate: Candidate) -> None:
        """Begins the chat with a program and what is wrong with it."""
        self._best = candidate
        self._begin_anew()

    def retested(self, writer: PromptWriter, candidates: Mapping[int, Candidate], chosen: int) -> None:
        """Goes on with the chat, whose last message now tells what is wrong with the program that passed before."""
        self._writer = writer
        self._best = self._current = candidates[chosen]
        text = writer.follow_up(self._current, self._given) if self._turns else writer.refinement(self._current)
        self._messages[-1] = Message("user", text)

    def _begin_anew(self) -> None:
        self._turns = 0
        self._current = self._best
        text = self._writer.synthesis() if self._best is None else self._writer.refinement(self._best)
        self._messages = [Message("user", text)]
