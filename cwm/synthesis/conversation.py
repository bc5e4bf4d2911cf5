"""Sequential refinement: one chat, to which each answer's failures are appended (the CWM paper, 4.1)."""

from collections import Counter
from collections.abc import Mapping, Sequence

from cwm.llm.api import Message
from cwm.synthesis.attempts import NOTHING, Attempts
from cwm.synthesis.candidate import Candidate
from cwm.synthesis.config import SynthesisConfig
from cwm.synthesis.refiner import Answer, PromptWriter, RefinementStep


class Conversation:
    """Goes on from the best program of the last answer that held one.

    An answer that is truncated, refused or empty is not part of the chat: the same question is asked again. After
    `max_conversation_turns` answers the chat begins anew from the best program so far, so that it never outgrows the
    model's context.

    Unless the policy is `rex`, what the chat began with is told again only with what was tried since: see `POLICIES`.

    Args:
        writer: writes the prompts.
        config: turns of one chat, and the policy.
        attempts: what was tried before the chat; None for nothing.
    """

    def __init__(self, writer: PromptWriter, config: SynthesisConfig, attempts: Attempts | None = None) -> None:
        self._writer = writer
        self._config = config
        self._attempts = Attempts() if attempts is None else attempts
        self._told = Counter[str]()
        self._messages = [Message("user", writer.synthesis())]
        self._current: Candidate | None = None
        self._best: Candidate | None = None
        self._best_here: Candidate | None = None
        self._in_vain = 0
        self._turns = 0
        self._given = 0

    def propose(self) -> RefinementStep:
        """Returns the chat so far, which ends in the user's message."""
        return RefinementStep(tuple(self._messages), self._current)

    def observe(self, step: RefinementStep, answer: Answer, candidates: Sequence[Candidate]) -> None:
        """Appends the answer and what is wrong with its best program."""
        if not answer.is_whole:
            return
        self._turns += 1
        self._given = len(candidates)
        stuck = self._learn(step.parent, candidates)
        if candidates:
            self._current = max(candidates, key=Candidate.rank)
            if self._best is None or self._current.rank() > self._best.rank():
                self._best = self._current
        if stuck and self._config.policy.stuck == "fresh":
            self._begin_with(None)
            return
        if stuck or self._turns >= self._config.max_conversation_turns:
            self._begin_with(self._best)
            return
        reply = (
            self._follow_up(self._current) if candidates and self._current is not None else self._writer.no_program()
        )
        self._messages += [Message("assistant", answer.completion.text), Message("user", reply)]

    def begin(self, candidate: Candidate) -> None:
        """Begins the chat with a program and what is wrong with it."""
        if self._attempts.is_new(candidate):
            self._attempts.answered(None, [candidate])
        self._best = candidate
        self._begin_with(candidate)

    def retested(self, writer: PromptWriter, candidates: Mapping[int, Candidate], chosen: int) -> None:
        """Goes on with the chat, whose last message now tells what is wrong with the program that passed before."""
        self._writer = writer
        self._attempts.retested(candidates)
        self._best = self._best_here = self._current = candidates[chosen]
        self._in_vain = 0
        text = self._follow_up(self._current) if self._turns else self._refinement(self._current)
        self._messages[-1] = Message("user", text)

    def _learn(self, parent: Candidate | None, candidates: Sequence[Candidate]) -> bool:
        """Takes note of what was tried; returns whether it leads nowhere."""
        if not self._config.policy.rotates:
            return False
        self._attempts.answered(parent, candidates)
        if self._best is not None:
            self._attempts.refined(self._best, candidates)
        before = self._best_here
        best = max([*filter(None, [before]), *candidates], key=Candidate.rank, default=None)
        self._best_here = best
        if parent is None:
            self._in_vain = 0
            return False
        self._told[parent.source.strip()] += 1
        gained = best is not None and (before is None or best.heuristic > before.heuristic)
        self._in_vain = 0 if gained else self._in_vain + 1
        return is_stuck(self._in_vain, candidates, self._config)

    def _follow_up(self, candidate: Candidate) -> str:
        turn = self._told[candidate.source.strip()] if self._config.policy.rotates else 0
        return self._writer.follow_up(candidate, self._given, turn)

    def _refinement(self, candidate: Candidate) -> str:
        told = self._attempts.at(candidate) if self._config.policy.rotates else NOTHING
        return self._writer.refinement(candidate, told)

    def _begin_with(self, candidate: Candidate | None) -> None:
        """Begins the chat anew, from a program or from none."""
        self._turns = self._in_vain = 0
        self._current = self._best_here = candidate
        if candidate is None:
            told = self._attempts.approaches() if self._config.policy.rotates else NOTHING
            text = self._writer.synthesis(told)
        else:
            text = self._refinement(candidate)
        self._messages = [Message("user", text)]


def is_stuck(in_vain: int, candidates: Sequence[Candidate], config: SynthesisConfig) -> bool:
    """Tells whether refinement is to turn to something else.

    Args:
        in_vain: refinements in a row without gain.
        candidates: programs of the last answer.
        config: the policy and its patience.
    """
    repeated = bool(candidates) and all(candidate.duplicate_of is not None for candidate in candidates)
    return config.policy.stuck != "on" and (repeated or in_vain >= config.patience)
