"""Settings of a synthesis."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final, Literal, TypeAlias

from cwm.storage.settings import Settings

Method: TypeAlias = Literal["tree_search", "conversation"]
PromptTests: TypeAlias = Literal["per_action", "paper", "telling"]
PolicyName: TypeAlias = Literal["rex", "rotate", "rotate+fresh", "rotate+conversation"]


@dataclass(frozen=True)
class RefinementPolicy:
    """What refinements learn from those before them.

    Attributes:
        rotates: whether a program's next refinement shows other failed tests and tells of the earlier ones; without
            it, one that gained nothing may be asked for in the same words again.
        stuck: what follows a program that was there before, and refinements in a row without gain: nothing else (`on`),
            a first prompt that tells which approaches failed (`fresh`), or a chat from the best program.
    """

    rotates: bool
    stuck: Literal["on", "fresh", "conversation"]


POLICIES: Final[Mapping[PolicyName, RefinementPolicy]] = {
    "rex": RefinementPolicy(rotates=False, stuck="on"),
    "rotate": RefinementPolicy(rotates=True, stuck="on"),
    "rotate+fresh": RefinementPolicy(rotates=True, stuck="fresh"),
    "rotate+conversation": RefinementPolicy(rotates=True, stuck="conversation"),
}
LEARNING: Final[PolicyName] = "rotate+fresh"
NEW: Final[Mapping[str, str]] = {"prompt_tests": "telling", "refinement": LEARNING}
"""How a new synthesis is asked unless somebody says otherwise; the defaults below are what old records stand for."""


class SynthesisConfigError(ValueError):
    """A setting of the synthesis is unknown or out of range."""


@dataclass(frozen=True)
class SynthesisConfig(Settings):
    """Settings of one synthesis; the defaults are those of the CWM paper, C.1.3, where it has them.

    Attributes:
        method: `tree_search` (a fresh prompt for a program chosen by Thompson sampling) or `conversation` (one chat).
        num_retries: refinement steps after the first prompt, at most. Each makes one call, or more if truncated.
        programs_per_answer: versions asked for in one answer.
        heuristic_weight: C of the Beta prior; more means more exploitation.
        min_heuristic_value_on_init: a first program needs this pass rate to be refined by choice.
        min_heuristic_value_gain: a refined program needs this gain over its parent to be refined in turn (or half of
            what its parent lacks, where that is less: 0.995 cannot gain 0.01).
        prompt_tests: which tests a prompt shows: one for each kind of action, as the paper does, or what tells most.
        num_tests_on_init: tests in the first prompt: of each kind (`paper`, default 5), in all (`per_action`, default
            as many as there are kinds of action).
        num_tests_on_error: failed tests in a refinement prompt: of each kind (`paper`, default 1), in all, the smallest
            of the most frequent group of failures first (`per_action`, default 5).
        max_output_tokens: cap of an answer, reasoning included.
        max_truncated_retries: a truncated answer is asked for again, at most so often, with a larger cap.
        truncated_growth: how much larger, as a factor.
        max_unanswered: so many answers in a row without a program (refused, empty, truncated, none in it) end it.
        max_conversation_turns: a conversation begins anew from its best program after so many answers.
        temperature: sampling temperature, None for the provider's default.
        seed: of every random choice: arms, and the tests' own seeds.
        test_seconds: wall-clock seconds for one test of one program.
        total_seconds: wall-clock seconds for all tests of one program.
        max_timeouts: testing a program stops after so many tests ran out of time; the rest counts as not passed.
        refinement: one of `POLICIES`; `rex` is how refinement went before there was any other.
        patience: so many refinements in a row without gain are what a policy calls stuck.
    """

    error: ClassVar[type[Exception]] = SynthesisConfigError
    left_out: ClassVar[Sequence[Mapping[str, object]]] = ({"refinement": "rex"}, {"patience": 3})

    method: Method = "tree_search"
    num_retries: int = 500
    programs_per_answer: int = 1
    heuristic_weight: float = 5.0
    min_heuristic_value_on_init: float = 0.01
    min_heuristic_value_gain: float = 0.01
    prompt_tests: PromptTests = "per_action"
    num_tests_on_init: int | None = None
    num_tests_on_error: int | None = None
    max_output_tokens: int = 32_768
    max_truncated_retries: int = 2
    truncated_growth: float = 2.0
    max_unanswered: int = 5
    max_conversation_turns: int = 12
    temperature: float | None = None
    seed: int = 0
    test_seconds: float = 5.0
    total_seconds: float = 120.0
    max_timeouts: int = 3
    refinement: PolicyName = "rex"
    patience: int = 3

    @property
    def policy(self) -> RefinementPolicy:
        """What `refinement` stands for."""
        return POLICIES[self.refinement]

    def __post_init__(self) -> None:
        self._check_choice("method", Method)
        self._check_choice("prompt_tests", PromptTests)
        self._check_least(1, "programs_per_answer", "max_output_tokens", "max_unanswered", "max_conversation_turns")
        self._check_choice("refinement", PolicyName)
        self._check_least(1, "patience", "max_timeouts", "num_tests_on_init", "num_tests_on_error")
        self._check_least(
            0, "num_retries", "heuristic_weight", "min_heuristic_value_on_init", "min_heuristic_value_gain"
        )
        if not 0 <= self.max_truncated_retries <= 2:
            raise SynthesisConfigError(f"max_truncated_retries is {self.max_truncated_retries}; it must be 0, 1 or 2")
        if self.truncated_growth <= 1.0:
            raise SynthesisConfigError(f"truncated_growth is {self.truncated_growth}; it must be above 1")
        if self.test_seconds <= 0.0 or self.total_seconds <= 0.0:
            raise SynthesisConfigError("test_seconds and total_seconds must be above 0")
