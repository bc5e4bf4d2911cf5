"""What a worker tells of games on a model, checked: shapes, types, ranges and counts.

All of it may have been written by the program that runs in the worker: nothing of it is taken for granted.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from cwm.model.world_model import WorldModelError
from cwm.sandbox.wire.api import Outcome, Reply, SandboxUnavailableError
from cwm.sandbox.wire.arrays import BinaryArray
from cwm.sandbox.wire.blame import Ours, blame
from games.api import Json

Floats = npt.NDArray[np.float32]
Bools = npt.NDArray[np.bool_]
FORGED: Final = Reply(Outcome.PROTOCOL_ERROR)


class ModelPlayError(WorldModelError):
    """A model cannot be learned on: its program failed, hit a limit, or answered as no honest worker does."""

    def __init__(self, message: str, reply: Reply = FORGED) -> None:
        super().__init__(message, reply)


class WorkerBrokenError(SandboxUnavailableError):
    """Our side failed: the worker cannot be started, or was ended from outside; the model is not to blame."""


@dataclass(frozen=True)
class Arrival:
    """Where E games stand: each at a decision of the learner.

    Attributes:
        observations: float32 [E, W].
        legal: bool [E, N], some action of each game.
        rewards: float32 [E], what the learner was paid since its last action.
        ended: bool [E], whether the game ended and this is the first decision of the next one.
        cut: bool [E], whether it ended by a failure of the model or as too long.
        finished: (which of the E, returns of all players) for each game that ended of itself.
        failures: of the model, by message, each of which cut a game.
        counts: `endless` games that were cut; `masked` legal actions without a number; `unlisted` and `unfit` decisions
            that were made by chance, since no legal action has a number or the observation is no vector.
        seconds: `model` and `encoding`, as the worker tells them.
    """

    observations: Floats
    legal: Bools
    rewards: Floats
    ended: Bools
    cut: Bools
    finished: list[tuple[int, list[float]]]
    failures: Mapping[str, int]
    counts: Mapping[str, int]
    seconds: Mapping[str, float]


def value_of(reply: Reply) -> Any:
    """Returns the value of a worker's answer.

    Raises:
        ModelPlayError: the program failed or hit a limit.
        WorkerBrokenError: ours is at fault.
    """
    fault = blame(reply)
    if fault is None:
        return reply.value
    detail = f"{fault.outcome.value}: {fault.sentence}"
    if isinstance(fault, Ours):
        raise WorkerBrokenError(detail)
    raise ModelPlayError(f"the model's program failed ({detail}).", reply)


def forged(what: str) -> ModelPlayError:
    """Returns the error of an answer that no honest worker gives."""
    return ModelPlayError(f"the worker's answer holds {what} as no honest worker tells: did the program write it?")


def _array(arrays: Mapping[str, BinaryArray], name: str, dtype: str, shape: tuple[int, ...]) -> npt.NDArray[Any]:
    found = arrays.get(name)
    if found is None or found.dtype != dtype or found.shape != shape:
        raise forged(f"the array {name!r}")
    little = np.dtype(dtype).newbyteorder("<")
    return np.frombuffer(found.data, little).reshape(shape)


def flags(arrays: Mapping[str, BinaryArray], name: str, shape: tuple[int, ...]) -> Bools:
    """Returns an array of truth values.

    Raises:
        ModelPlayError: it is none of this shape.
    """
    found = _array(arrays, name, "uint8", shape)
    if (found > 1).any():
        raise forged(f"the array {name!r}")
    return found.astype(np.bool_)


def floats(arrays: Mapping[str, BinaryArray], name: str, shape: tuple[int, ...]) -> Floats:
    """Returns an array of finite numbers.

    Raises:
        ModelPlayError: it is none of this shape.
    """
    found = _array(arrays, name, "float32", shape).astype(np.float32)
    if not np.isfinite(found).all():
        raise forged(f"the array {name!r}")
    return found


def is_number(value: Json) -> bool:
    """Returns whether a JSON value is a finite number that is no truth value."""
    return (
        isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e300 and math.isfinite(value)
    )


def seconds(told: dict[str, Any], name: str) -> float:
    """Returns a time, in seconds.

    Raises:
        ModelPlayError: it is no finite number.
    """
    found = told.get(name)
    if found is None or not is_number(found):
        raise forged(name)
    return max(0.0, float(found))


def count(told: dict[str, Any], name: str) -> int:
    """Returns a count.

    Raises:
        ModelPlayError: it is no whole number from 0.
    """
    found = told.get(name)
    if type(found) is not int or not 0 <= found < 1 << 53:
        raise forged(name)
    return found


def counts(told: Json) -> dict[str, int]:
    """Returns counts by message.

    Raises:
        ModelPlayError: they are none, or too many.
    """
    if not isinstance(told, dict) or len(told) > 100:
        raise forged("failures")
    return {message[:200]: count(told, message) for message in told}
