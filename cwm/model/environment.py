"""Games of a model as arrays, for an agent that learns: the model steps them in its sandboxed worker.

Whatever comes from the worker may have been written by the program that runs there: `cwm.model.arrivals` checks it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Final, Self

import numpy as np
import numpy.typing as npt

from cwm.model import arrivals, many_games
from cwm.model.arrivals import Arrival, Floats, ModelPlayError, WorkerBrokenError, value_of
from cwm.model.bundle import ModelBundle
from cwm.model.codec import VectorCodec
from cwm.observations.values import ObservationVectorError
from cwm.observations.vectors import ObservationVectors, infer
from cwm.sandbox.parent.host import Sandbox, Worker
from cwm.sandbox.wire.api import Limits, ProgramSource
from cwm.sandbox.wire.arrays import BinaryArray
from games.api import Action, Json

GAMES_MODULE: Final = "cwm.model.many_games"
WALK_MODULE: Final = "cwm.model.walk"
MOST_FINISHED: Final = 100_000


@dataclass(frozen=True)
class Explored:
    """What games by chance met at a seat.

    Attributes:
        observations: at its decisions.
        actions: that were legal there, sorted.
        games: that ended.
        failures: of the model, by message.
    """

    observations: list[Json]
    actions: tuple[Action, ...]
    games: int
    failures: Mapping[str, int]


@dataclass(frozen=True)
class EnvironmentConfig:
    """Which games.

    Attributes:
        seat: of the learner.
        actions: N strings that it can choose from.
        games: E, side by side.
        seed: of all that others and chance do.
        max_actions: of one game, chance's included; then it is cut.
    """

    seat: int
    actions: tuple[Action, ...]
    games: int = 50
    seed: int = 0
    max_actions: int = 2000


class ModelEnvironment:
    """E games of a model; a context manager. Workers are replaced by `renew`, never in the middle of a step."""

    def __init__(
        self,
        bundle: ModelBundle,
        config: EnvironmentConfig,
        vectors: ObservationVectors | VectorCodec,
        sandbox: Sandbox,
        in_worker: bool = True,
    ) -> None:
        """Starts nothing yet.

        Args:
            bundle: the model.
            config: which games.
            vectors: how observations become vectors.
            sandbox: whose limits and level hold; its payload does not matter.
            in_worker: whether a schema encodes beside the model; a codec always encodes in this process.
        """
        self.config = config
        self.width = vectors.width
        self._program = bundle.program()
        self._players = bundle.game_info.num_players
        self._vectors = vectors
        self._schema = vectors.to_json() if in_worker and isinstance(vectors, ObservationVectors) else None
        self._sandbox = Sandbox(sandbox.limits, sandbox.level, many_games.PAYLOAD)
        self._worker: Worker | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Ends the worker, and that of a codec."""
        if self._worker is not None:
            self._worker.close()
            self._worker = None
        if not isinstance(self._vectors, ObservationVectors):
            self._vectors.__exit__(None, None, None)

    def begin(self, snapshot: Json = None) -> Arrival:
        """Begins all games in a fresh worker, or goes on where a snapshot was taken.

        Raises:
            ModelPlayError: the program failed or hit a limit.
            WorkerBrokenError: ours is at fault.
        """
        self.close()
        self._worker = _started(self._sandbox, self._program)
        argument = {
            "games": self.config.games,
            "seat": self.config.seat,
            "actions": list(self.config.actions),
            "schema": self._schema,
            "seed": self.config.seed,
            "max_actions": self.config.max_actions,
            "snapshot": snapshot,
        }
        return self._arrived("begin", argument)

    def step(self, choices: npt.NDArray[np.int32]) -> Arrival:
        """Plays one action in every game and goes on to the learner's next decision.

        Args:
            choices: numbers of legal actions, int [E].

        Raises:
            ModelPlayError: the program failed or hit a limit.
            WorkerBrokenError: ours is at fault.
        """
        return self._arrived("step", {"choices": choices.tolist()})

    def snapshot(self) -> Json:
        """Returns where the games stand, for `begin`.

        Raises:
            ModelPlayError: the program failed, or forged the answer.
            WorkerBrokenError: ours is at fault.
        """
        found = value_of(self._running().payload(GAMES_MODULE, "snapshot", {}, seed=0))
        places = found.get("snapshot") if isinstance(found, dict) else None
        if not isinstance(places, list) or len(places) != self.config.games or not all(map(self._is_place, places)):
            raise arrivals.forged("a snapshot")
        return places

    def renew(self) -> tuple[Json, Arrival]:
        """Goes on in a fresh worker, so that limits on a worker's life bind no long training; returns the snapshot."""
        taken = self.snapshot()
        return taken, self.begin(taken)

    def _running(self) -> Worker:
        if self._worker is None:
            raise WorkerBrokenError("the games were not begun: call begin() first.")
        return self._worker

    def _arrived(self, function: str, argument: dict[str, Json]) -> Arrival:
        reply = self._running().payload(GAMES_MODULE, function, argument, seed=self.config.seed, arrays=True)
        told = value_of(reply)
        if not isinstance(told, dict):
            raise arrivals.forged("a step")
        if told.get("lost"):
            raise WorkerBrokenError("the worker was replaced in the middle of the games, which are lost: begin again.")
        if "broken" in told:
            raise ModelPlayError(f"the model cannot be learned on: {str(told['broken'])[:300]}.", reply)
        return self._checked(told, reply.arrays)

    def _checked(self, told: dict[str, Any], arrays: Mapping[str, BinaryArray]) -> Arrival:
        lanes, actions = self.config.games, len(self.config.actions)
        legal = arrivals.flags(arrays, "legal", (lanes, actions))
        if not legal.any(axis=1).all():
            raise arrivals.forged("a game without a legal action")
        ended, cut = arrivals.flags(arrays, "ended", (lanes,)), arrivals.flags(arrays, "cut", (lanes,))
        if (cut & ~ended).any():
            raise arrivals.forged("a game that was cut and goes on")
        seconds = {"model": arrivals.seconds(told, "model_s"), "encoding": arrivals.seconds(told, "encode_s")}
        if self._schema is not None:
            observations, misfits = arrivals.floats(arrays, "observations", (lanes, self.width)), 0
        else:
            observations, misfits = self._encoded(told.get("observations"))
        counted = {name: arrivals.count(told, name) for name in ("endless", "masked", "unlisted", "unfit")}
        return Arrival(
            observations=observations,
            legal=legal,
            rewards=arrivals.floats(arrays, "rewards", (lanes,)),
            ended=ended,
            cut=cut,
            finished=self._finished(told.get("finished")),
            failures=arrivals.counts(told.get("failures")),
            counts=counted | {"unfit": counted["unfit"] + misfits},
            seconds=seconds,
        )

    def _encoded(self, observations: Json) -> tuple[Floats, int]:
        """Encodes what the worker told as JSON; what does not fit is all zeros, and counted."""
        if not isinstance(observations, list) or len(observations) != self.config.games:
            raise arrivals.forged("observations")
        rows = np.zeros((self.config.games, self.width), np.float32)
        misfits = 0
        for number, observation in enumerate(observations):
            try:
                rows[number] = self._encode(observation)
            except ObservationVectorError:
                misfits += 1
        return rows, misfits

    def _encode(self, observation: Json) -> list[float]:
        if isinstance(self._vectors, ObservationVectors):
            return self._vectors.encode(observation)
        return self._vectors.encode(observation, self.config.seat)

    def _finished(self, rows: Json) -> list[tuple[int, list[float]]]:
        if not isinstance(rows, list) or len(rows) > MOST_FINISHED or not all(map(self._is_result, rows)):
            raise arrivals.forged("finished games")
        return [(place, [float(number) for number in returns]) for place, returns in rows]

    def _is_result(self, row: Json) -> bool:
        if not isinstance(row, list) or len(row) != 2 or type(row[0]) is not int or not isinstance(row[1], list):
            return False
        place, returns = row
        return (
            0 <= place < self.config.games and len(returns) == self._players and all(map(arrivals.is_number, returns))
        )

    def _is_place(self, place: Json) -> bool:
        if (
            not isinstance(place, list)
            or len(place) != 2
            or type(place[0]) is not int
            or not isinstance(place[1], list)
        ):
            return False
        return place[0] >= 0 and all(
            type(choice) is int and 0 <= choice < len(self.config.actions) for choice in place[1]
        )


def explore(
    bundle: ModelBundle, seat: int, sandbox: Sandbox, *, games: int, observations: int, max_actions: int, seed: int
) -> Explored:
    """Plays games by chance in a worker of their own.

    Args:
        bundle: the model.
        seat: whose decisions are of interest.
        sandbox: whose limits and level hold.
        games: at most so many.
        observations: no further game is begun after so many.
        max_actions: of one game, chance's included.
        seed: of all that happens.

    Raises:
        ModelPlayError: the program failed, hit a limit, or no game reaches the seat.
        WorkerBrokenError: ours is at fault.
    """
    own = Sandbox(sandbox.limits, sandbox.level, many_games.PAYLOAD)
    argument = {"seat": seat, "games": games, "observations": observations, "max_actions": max_actions}
    with _started(own, bundle.program()) as worker:
        reply = worker.payload(WALK_MODULE, "explore", argument, seed=seed)
    told = value_of(reply)
    seen = told.get("observations") if isinstance(told, dict) else None
    actions = told.get("actions") if isinstance(told, dict) else None
    if (
        not isinstance(seen, list)
        or not isinstance(actions, list)
        or not all(isinstance(name, str) for name in actions)
    ):
        raise arrivals.forged("games by chance")
    failures = arrivals.counts(told.get("failures"))
    if not seen or not actions:
        why = next(iter(failures), "every game ended before")
        raise ModelPlayError(f"seat {seat} was asked for nothing in {games} games by chance: {why}.", reply)
    return Explored(seen, tuple(sorted(set(actions))), arrivals.count(told, "games"), failures)


def inferred(observations: Sequence[Json]) -> ObservationVectors:
    """Returns the schema of observations that were met.

    Raises:
        ModelPlayError: they have none.
    """
    try:
        return infer(observations)
    except ObservationVectorError as error:
        raise ModelPlayError(f"the model's observations cannot be written as vectors: {error}") from error


def training_limits(memory_mb: int = 1024) -> Limits:
    """Returns the caps on a worker between two renewals."""
    return Limits(memory_mb=memory_mb, cpu_s=24 * 3600, wall_s=120.0, reply_bytes=64 * 1024 * 1024)


def _started(sandbox: Sandbox, program: ProgramSource) -> Worker:
    worker = sandbox.start(program)
    try:
        value_of(worker.loaded)
    except BaseException:
        worker.close()
        raise
    return worker
