"""What a synthesis came to."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from cwm.synthesis.candidate import Candidate
from cwm.synthesis.further import Round

Reason: TypeAlias = Literal["all_tests_pass", "retries_used", "budget", "unanswered"]


@dataclass(frozen=True)
class SynthesisResult:
    """What a synthesis came to.

    Attributes:
        best: the candidate with the highest pass rate, None if no answer held a program.
        candidates: all of them, in order of appearance; `parent` makes them a tree.
        reason: `all_tests_pass`, `retries_used`, `budget` (a cap would have been passed) or `unanswered` (too many
            answers in a row held no program, or a recording holds no answer to what further games showed).
        message: the reason in words.
        calls: answers received, truncated, refused and empty ones too.
        input_tokens: in all.
        output_tokens: in all.
        curve: pass rate of the best candidate after each call, length `calls`.
        suite: key of the tests, those of further rounds included, under which the run record holds each program's
            report.
        rounds: further rounds, see `cwm.synthesis.further`.
    """

    best: Candidate | None
    candidates: tuple[Candidate, ...]
    reason: Reason
    message: str
    calls: int
    input_tokens: int
    output_tokens: int
    curve: tuple[float, ...]
    suite: str
    rounds: tuple[Round, ...] = ()

    @property
    def accuracy(self) -> dict[str, float]:
        """Share of passed training tests by kind, of the best candidate; {} if there is none."""
        return {} if self.best is None else self.best.report.pass_rates()

    def to_json(self) -> dict[str, Any]:
        """Returns the result without sources and single test results, which the run record holds by hash."""
        return {
            "best": None if self.best is None else self.best.hash,
            "accuracy": self.accuracy,
            "reason": self.reason,
            "message": self.message,
            "calls": self.calls,
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
            "curve": list(self.curve),
            "suite": self.suite,
            "rounds": [done.to_json() for done in self.rounds],
            "tree": [tree_entry(candidate) for candidate in self.candidates],
        }


def tree_entry(candidate: Candidate) -> Mapping[str, Any]:
    """Returns one candidate's place in the tree as JSON."""
    return {
        "id": candidate.id,
        "hash": candidate.hash,
        "parent": candidate.parent,
        "step": candidate.step,
        "version": candidate.version,
        "status": candidate.status,
        "heuristic": candidate.heuristic,
        "pass_rates": candidate.report.pass_rates(),
        "duplicate_of": candidate.duplicate_of,
    }
