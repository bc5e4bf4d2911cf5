"""How likely a program makes what the players saw of recorded games, bounded from below (the CWM paper, 4.4)."""

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from itertools import islice
from math import fsum, isfinite
from typing import Any, Self

from cwm.sandbox.parent.host import Sandbox, Worker
from cwm.sandbox.wire.api import Outcome, ProgramSource, Reply
from cwm.sandbox.wire.blame import Ours, blame
from cwm.suite import closed_deck
from cwm.trajectories.recorded import Deck, Trajectory, view
from games.api import TERMINAL, Json

SESSION = "cwm.sandbox.inside.likelihood"
PAYLOAD: tuple[str, ...] = (SESSION,)
"""The module that a worker must load."""


@dataclass(frozen=True)
class BoundOptions:
    """How a bound is found.

    Attributes:
        samples: histories drawn for each game.
        games: at most so many games, the first ones.
        seed: of the draws.
        wall_s: wall-clock seconds for one game.
    """

    samples: int = 50
    games: int = 200
    seed: int = 0
    wall_s: float = 20.0


DEFAULT_OPTIONS = BoundOptions()


@dataclass(frozen=True)
class LikelihoodBound:
    """Log-likelihoods are in nats a game, of what one player saw given what it did itself.

    Attributes:
        games: recorded games, each seen by one player; those on which the sandbox failed are left out.
        bounded: games of which at least one sampled history recreates what was seen. Of the others nothing is known but
            that the program may make them impossible: they are in no mean.
        samples: histories drawn for each game.
        valid: of all that were drawn, how many recreate what was seen.
        mean: mean over the bounded games of the log-likelihood of the likeliest sampled history, None without any.
        mean_distinct: the same for all different histories of a game together: a tighter bound.
        problems: fields at which draws failed, with counts; outcomes of the worker where it did not answer.
    """

    games: int
    bounded: int
    samples: int
    valid: int
    mean: float | None
    mean_distinct: float | None
    problems: dict[str, int] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Returns the bound as JSON."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Self:
        """Returns the bound that `to_json` wrote."""
        return cls(**data)

    def in_words(self) -> str:
        """Returns the bound as one line."""
        drawn = f"{self.bounded} of {self.games} games, {self.samples} samples each"
        if self.mean is None or self.mean_distinct is None:
            return f"none: no sampled history recreates a game ({drawn})"
        return f"{self.mean:.3f} nats a game by the best sample, {self.mean_distinct:.3f} by all ({drawn})"


def estimate(
    program: ProgramSource,
    trajectories: Sequence[Trajectory],
    sandbox: Sandbox,
    options: BoundOptions = DEFAULT_OPTIONS,
    deck: Deck = "closed",
) -> LikelihoodBound:
    """Bounds how likely a program makes what was seen of recorded games, each from one seat in turn.

    Args:
        program: with `resample_history`.
        trajectories: recorded games; those that did not end are passed over.
        sandbox: its limits and level are used.
        options: how.
        deck: whose inference function the program has: one of the open deck is not asked for the end of a game, so
            there the bound is on what was seen up to the player's last decision.

    Raises:
        SandboxUnavailableError: no worker can be started.
    """
    ended = (trajectory for trajectory in trajectories if trajectory.steps[-1].player == TERMINAL)
    with _Asker(program, Sandbox(sandbox.limits, sandbox.level, PAYLOAD), options) as asker:
        questions = [_question(trajectory, options.samples, deck) for trajectory in islice(ended, options.games)]
        replies = [asker.ask(question, number) for number, question in enumerate(questions) if question is not None]
    scored = [reply for reply in replies if not isinstance(blame(reply), Ours)]
    problems: Counter[str] = Counter()
    found = []
    for reply in scored:
        if reply.outcome is Outcome.OK and _is_bound(reply.value):
            problems.update(reply.value["problems"])
            found.append(reply.value)
        else:
            problems[reply.outcome.value] += 1
    bounded = [value for value in found if value["valid"]]
    return LikelihoodBound(
        games=len(scored),
        bounded=len(bounded),
        samples=options.samples,
        valid=sum(value["valid"] for value in found),
        mean=_mean([value["best"] for value in bounded]),
        mean_distinct=_mean([value["distinct"] for value in bounded]),
        problems=dict(sorted(problems.items())),
    )


class _Asker:
    """One worker at a time; a program that ended or blocked it gets a fresh one for the next game."""

    def __init__(self, program: ProgramSource, sandbox: Sandbox, options: BoundOptions) -> None:
        self._program = program
        self._sandbox = sandbox
        self._options = options
        self._worker: Worker | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._worker is not None:
            self._worker.close()

    def ask(self, question: Json, number: int) -> Reply:
        if self._worker is None or not self._worker.alive:
            self._worker = self._sandbox.start(self._program)
        if self._worker.loaded.outcome is not Outcome.OK:
            return self._worker.loaded
        seed = random.Random(f"likelihood/{self._options.seed}/{number}").getrandbits(48)
        return self._worker.payload(SESSION, "bound", question, seed=seed, timeout_s=self._options.wall_s)


def _question(trajectory: Trajectory, samples: int, deck: Deck) -> Json:
    """Returns what the worker is asked about a game, None if the player whose view it is never decided anything."""
    seen = view(trajectory)
    if deck == "closed":
        history = closed_deck.evidence(seen, len(seen.decisions))
        return {"player": seen.player, "history": history, "over": True, "samples": samples}
    if not seen.decisions:
        return None
    history = closed_deck.evidence(seen, len(seen.decisions) - 1)
    return {"player": seen.player, "history": history, "over": None, "samples": samples}


def _is_bound(value: Json) -> bool:
    """What comes from a worker may be written by the program: it is believed to be what its form says, no more."""
    return (
        isinstance(value, dict)
        and type(value.get("valid")) is int
        and value["valid"] >= 0
        and isinstance(value.get("problems"), dict)
        and all(isinstance(key, str) and type(count) is int for key, count in value["problems"].items())
        and all(_is_log(value.get(name), value["valid"] > 0) for name in ("best", "distinct"))
    )


def _is_log(value: Json, wanted: bool) -> bool:
    if not wanted:
        return value is None
    return isinstance(value, float) and isfinite(value) and value <= 1e-9


def _mean(values: Sequence[float]) -> float | None:
    return fsum(values) / len(values) if values else None
