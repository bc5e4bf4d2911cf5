"""What both refinement methods are: a policy that writes the next prompt and learns from its answer.

The driver in `cwm.synthesis.driver` does the rest in one way for both: calls, budgets, static checks, tests, records.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeAlias

from cwm.llm.api import Completion, Message
from cwm.synthesis.attempts import NOTHING, Told
from cwm.synthesis.candidate import Candidate

AnswerKind: TypeAlias = Literal["programs", "no_program", "truncated", "refused", "empty"]


@dataclass(frozen=True)
class RefinementStep:
    """One refinement step: one prompt, one answer.

    Attributes:
        messages: the request's messages.
        parent: the candidate to be refined, None for a first program.
        draws: value drawn for each candidate that could have been chosen, by id (tree search).
    """

    messages: tuple[Message, ...]
    parent: Candidate | None
    draws: dict[int, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Answer:
    """What came of a step.

    Attributes:
        kind: `programs`, or why there are none; only whole, good answers are read for programs.
        completion: the last completion of the step.
        programs: sources, in the answer's order.
    """

    kind: AnswerKind
    completion: Completion
    programs: tuple[str, ...] = ()

    @property
    def is_whole(self) -> bool:
        """Whether the model said all that it had to say; else the same may be asked again."""
        return self.kind in ("programs", "no_program")


class PromptWriter(Protocol):
    """Writes the prompts of one task."""

    def synthesis(self, approaches: Told = NOTHING) -> str:
        """Returns the first prompt, which tells of earlier approaches."""
        ...

    def refinement(self, candidate: Candidate, attempts: Told = NOTHING) -> str:
        """Returns a fresh prompt that holds the candidate, what is wrong with it, and what was tried before."""
        ...

    def follow_up(self, candidate: Candidate, num_given: int, turn: int = 0) -> str:
        """Returns the next message of a conversation whose last answer held `num_given` programs.

        Args:
            candidate: the best of them.
            num_given: how many there were.
            turn: how often the conversation was told of the same program's failures before.
        """
        ...

    def no_program(self) -> str:
        """Returns the next message of a conversation whose last answer held no program."""
        ...


class Refiner(Protocol):
    """Chooses what to ask next. Deterministic: the same answers lead to the same prompts."""

    def begin(self, candidate: Candidate) -> None:
        """Takes a program that is there already; called before the first step, which then refines it."""
        ...

    def propose(self) -> RefinementStep:
        """Returns the next step. Called once before each answer."""
        ...

    def observe(self, step: RefinementStep, answer: Answer, candidates: Sequence[Candidate]) -> None:
        """Learns what came of `step`.

        Args:
            step: what `propose` returned.
            answer: what the model said.
            candidates: the answer's programs, tested, in the answer's order.
        """
        ...

    def retested(self, writer: PromptWriter, candidates: Mapping[int, Candidate], chosen: int) -> None:
        """Takes note of tests that were added to the suite; called between two steps.

        Args:
            writer: writes prompts with the new tests.
            candidates: every program so far, by id, with its report on all tests.
            chosen: id of the program that the next step refines: it passed all tests before.
        """
        ...
