"""Whose fault it is that a request to a worker did not succeed. The one reader of a reply's outcome in this respect."""

from dataclasses import dataclass

from cwm.sandbox.wire.api import Failure, Outcome, Reply


@dataclass(frozen=True)
class Fault:
    """A request did not succeed.

    Attributes:
        outcome: what became of it.
        failure: why, None if nothing is known.
    """

    outcome: Outcome
    failure: Failure | None

    @property
    def sentence(self) -> str:
        """What went wrong, on one line, as far as it is known."""
        if self.failure is None:
            return "no reason is known"
        where = "" if self.failure.line is None else f" in line {self.failure.line}"
        return f"{self.failure.type}{where}: {self.failure.message}"

    @property
    def problem(self) -> str:
        """What went wrong, in one paragraph, with the frames inside the program."""
        if self.failure is None:
            return f"it ended with {self.outcome.value}"
        frames = self.failure.traceback
        return f"{self.sentence}\n{frames.rstrip()}" if frames else self.sentence


class Ours(Fault):
    """The sandbox or this package failed: never scored against a program."""


class Theirs(Fault):
    """The program failed, hit a limit, or was not worth running."""


def blame(reply: Reply) -> Ours | Theirs | None:
    """Returns whose fault a reply is, None if the request succeeded."""
    if reply.outcome is Outcome.OK:
        return None
    return (Ours if reply.outcome.is_ours else Theirs)(reply.outcome, reply.failure)
