"""How far a model's inference samples are from the exact posterior: total variation, beside its sampling error.

Where all histories of the true game can be listed, whole histories are compared; else, where the game states the exact
marginals of what it hides, each hidden part by itself.
"""

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from arena.machine import shipped
from arena.runs.hidden_information import HiddenInformation
from arena.usage import UsageError
from cwm.interface.program import INFERENCE_FUNCTION
from cwm.model.bundle import ModelBundle
from cwm.sandbox.parent.host import Sandbox, Worker
from cwm.sandbox.wire.api import Outcome
from cwm.sandbox.wire.blame import blame
from cwm.storage.keys import derive
from cwm.suite.execution import Progress
from cwm.synthesis.candidate import TesterError, problem_of
from cwm.trajectories.recorded import collect, game_seed
from games import posterior
from games.api import Action, Game, Json, ObsActionHistory
from games.posterior import StatesMarginals, TooLargeError

MODULE: Final = "cwm.model.history_samples"
GOAL: Final = 0.05
"""A sampler is good if it is no further from the exact posterior than this, beyond sampling error."""
HISTORIES: Final = "whole histories"
PARTS: Final = "each hidden part"
POINTS: Final = 100
POINTS_OF_PARTS: Final = 30
GAMES: Final = 10
REPEATS: Final = 10
DRAW_SECONDS: Final = 120.0
POSTERIOR_SEED_OFFSET: Final = 3_000_003
"""The games whose decision points are looked at have seeds of their own."""

Distribution: TypeAlias = Mapping[Any, float]
"""A probability for each history, or for each value of a hidden part."""


@dataclass(frozen=True)
class Question:
    """A decision point at which a model is asked for histories.

    Attributes:
        player: who decides.
        history: its own decision points, the last action None.
        exact: the true distribution: one of whole histories, or one for each hidden part.
    """

    player: int
    history: Sequence[tuple[Json, Action | None]]
    exact: tuple[Distribution, ...]


@dataclass(frozen=True)
class Compared:
    """Samples beside one exact distribution.

    Attributes:
        distance: total variation between the samples' shares and the distribution.
        noise: the same of equally many exact draws: what a perfect sampler would show.
        impossible: share of the samples that the distribution excludes.
        question: number of the decision point.
        part: number of the hidden part, 0 for whole histories.
    """

    distance: float
    noise: float
    impossible: float
    question: int
    part: int

    @property
    def excess(self) -> float:
        """Distance beyond the sampling error; below 0 by chance."""
        return self.distance - self.noise


def total_variation(exact: Distribution, counts: Mapping[Any, int]) -> float:
    """Returns half the sum of the absolute differences between probabilities and shares, from 0 to 1.

    Raises:
        ValueError: nothing was counted.
    """
    total = sum(counts.values())
    if not total:
        raise ValueError("no samples were counted; draw at least one.")
    # Both sum to 1, so that what one has too much is what the other lacks.
    return sum(max(0.0, probability - counts.get(value, 0) / total) for value, probability in exact.items())


def sampling_error(exact: Distribution, samples: int, rng: random.Random) -> float:
    """Returns the total variation of `samples` draws from the distribution itself, the mean over `REPEATS` tries."""
    values, weights = list(exact), list(exact.values())
    tries = (Counter(rng.choices(values, weights, k=samples)) for _ in range(REPEATS))
    return sum(total_variation(exact, counts) for counts in tries) / REPEATS


def measure(
    bundle: ModelBundle, game: Game | None, samples: int, seed: int, progress: Progress | None = None
) -> dict[str, Any]:
    """Compares a model's inference samples with the exact posterior, the others taken to play uniformly at random.

    Args:
        bundle: the model.
        game: the true game, None if there is none.
        samples: histories drawn at each decision point.
        seed: decides the decision points and all draws.
        progress: told after every decision point.

    Returns:
        `method` (`HISTORIES` or `PARTS`), `points` (decision points asked), `distributions`, `samples`, the means
        `distance`, `noise` and `excess`, `impossible` (share of all samples), `worst` (the largest excess, with player
        and last observation), `goal`, and `within`: whether the mean excess is at most that.

    Raises:
        UsageError: nothing is hidden, the model draws no histories, or the exact posterior is not to be had.
        TesterError: the model does not load, or the sandbox failed.
    """
    if game is None or bundle.game_info.perfect_information:
        why = "no registered game" if game is None else "a game that hides nothing"
        raise UsageError(
            f"{bundle.game_info.id} is {why}: there is no posterior to compare with; leave out the option `posterior`."
        )
    if HiddenInformation.of(bundle).judge(game) is None:
        raise UsageError(
            f"The model of {game.info.id} was made with a closed deck: its histories name chance's actions in words of "
            "its own, which the exact posterior does not know; leave out the option `posterior`."
        )
    method, asked = questions(game, seed)
    sandbox = Sandbox(level=shipped.level_of([bundle.hash]), payload=(MODULE,))
    compared: list[Compared] = []
    worker = _started(sandbox, bundle)
    try:
        for number, question in enumerate(asked):
            worker = worker if worker.alive else _started(sandbox, bundle)
            drawn = _draw(worker, question, samples, derive("posterior", seed, number))
            compared += _compare(game, number, question, drawn, samples, seed)
            if progress:
                progress(number + 1, len(asked))
    finally:
        worker.close()
    return _summary(method, asked, compared, samples)


def questions(game: Game, seed: int, max_nodes: int = posterior.MAX_NODES) -> tuple[str, list[Question]]:
    """Returns how the model is compared, and the decision points at which it is.

    Args:
        game: the true game.
        seed: decides which points.
        max_nodes: a game with more is not listed.

    Raises:
        UsageError: the game's histories are too many to list, and it states no marginals.
    """
    rng = random.Random(derive("posterior points", seed))
    if isinstance(game, StatesMarginals):
        return PARTS, _uncertain_points(game, seed, rng)
    try:
        every = posterior.beliefs(game, max_nodes)
    except TooLargeError as error:
        raise UsageError(
            f"{error} The game states no marginals of what it hides either (games.posterior.StatesMarginals), so there "
            "is no exact posterior to compare with; leave out the option `posterior`."
        ) from error
    chosen = sorted(rng.sample(range(len(every)), min(POINTS, len(every))))
    return HISTORIES, [
        Question(every[number].player, every[number].history, (every[number].probabilities,)) for number in chosen
    ]


def _started(sandbox: Sandbox, bundle: ModelBundle) -> Worker:
    worker = sandbox.start(bundle.program())
    if worker.loaded.outcome is Outcome.OK and INFERENCE_FUNCTION not in worker.loaded.value:
        worker.close()
        raise UsageError(
            f"The model defines no {INFERENCE_FUNCTION}: it draws no histories; leave out the option `posterior`."
        )
    if fault := blame(worker.loaded):
        worker.close()
        raise TesterError(f"no histories can be drawn: {fault.problem}")
    return worker


def _uncertain_points(game: Game, seed: int, rng: random.Random) -> list[Question]:
    assert isinstance(game, StatesMarginals)
    found: list[tuple[int, ObsActionHistory]] = []
    for trajectory in collect(game, GAMES, game_seed(seed, POSTERIOR_SEED_OFFSET)):
        decisions = [number for number, step in enumerate(trajectory.steps) if step.player >= 0]
        found += [
            (trajectory.steps[number].player, trajectory.history(trajectory.steps[number].player, number))
            for number in decisions
        ]
    chosen = sorted(rng.sample(range(len(found)), min(POINTS_OF_PARTS, len(found))))
    return [
        Question(player, history, tuple(game.marginals(history, player)))
        for player, history in (found[number] for number in chosen)
    ]


def _draw(worker: Worker, question: Question, samples: int, seed: int) -> list[tuple[tuple[Action, ...] | None, int]]:
    """Returns the drawn histories with their counts; a draw that failed is a draw of None."""
    history = [list(pair) for pair in question.history]
    argument = {"history": history, "player": question.player, "samples": samples}
    reply = worker.payload(MODULE, "draw", argument, seed=seed, timeout_s=DRAW_SECONDS)
    if problem_of(reply) is not None or not _are_counts(reply.value, samples):
        return [(None, samples)]
    return [(None if actions is None else tuple(actions), count) for actions, count in reply.value]


def _are_counts(value: Json, samples: int) -> bool:
    """Whether a worker's answer has the form that was asked for: a program may have written it itself."""
    well_formed = isinstance(value, list) and all(
        isinstance(pair, list)
        and len(pair) == 2
        and (pair[0] is None or (isinstance(pair[0], list) and all(isinstance(action, str) for action in pair[0])))
        and type(pair[1]) is int
        and pair[1] > 0
        for pair in value
    )
    return well_formed and sum(pair[1] for pair in value) == samples


def _compare(
    game: Game,
    number: int,
    question: Question,
    drawn: Sequence[tuple[tuple[Action, ...] | None, int]],
    samples: int,
    seed: int,
) -> list[Compared]:
    parts = len(question.exact)
    counts: list[Counter[Any]] = [Counter() for _ in range(parts)]
    for actions, count in drawn:
        for part, value in enumerate(_values(game, actions, parts)):
            counts[part][value] += count
    found = []
    for part, exact in enumerate(question.exact):
        rng = random.Random(derive("exact draws", seed, number, part))
        impossible = sum(count for value, count in counts[part].items() if value not in exact) / samples
        distance, noise = total_variation(exact, counts[part]), sampling_error(exact, samples, rng)
        # What is known for certain has no sampling error, and would hide that of the rest in the mean.
        if len(exact) > 1 or impossible or parts == 1:
            found.append(Compared(distance, noise, impossible, number, part))
    return found


def _values(game: Game, actions: tuple[Action, ...] | None, parts: int) -> Sequence[Any]:
    """Returns what a history says of each part; None where it says nothing."""
    if not isinstance(game, StatesMarginals):
        return [actions]
    values = [] if actions is None else game.hidden_parts(actions)
    return values if len(values) == parts else [None] * parts


def _summary(method: str, asked: Sequence[Question], compared: Sequence[Compared], samples: int) -> dict[str, Any]:
    def mean(values: list[float]) -> float:
        return sum(values) / len(values) if values else 0.0

    worst = max(compared, key=lambda one: one.excess, default=None)
    excess = mean([one.excess for one in compared])
    return {
        "method": method,
        "points": len(asked),
        "distributions": len(compared),
        "samples": samples,
        "distance": mean([one.distance for one in compared]),
        "noise": mean([one.noise for one in compared]),
        "excess": excess,
        "impossible": mean([one.impossible for one in compared]),
        "worst": None
        if worst is None
        else {
            "distance": worst.distance,
            "noise": worst.noise,
            "excess": worst.excess,
            "player": asked[worst.question].player,
            "part": worst.part,
            "observation": asked[worst.question].history[-1][0],
        },
        "goal": GOAL,
        "within": excess <= GOAL,
    }
