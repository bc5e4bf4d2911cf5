"""Observations as vectors at play: by a stored schema, or by a language model's functions in a sandbox."""

from collections.abc import Sequence
from math import isfinite
from types import TracebackType
from typing import Any, Protocol, Self

from cwm.functions.vectors_check import is_vector
from cwm.interface.vectors import DECODE, ENCODE
from cwm.model.bundle import ModelBundle
from cwm.observations.values import ObservationVectorError, VectorLengthError
from cwm.observations.vectors import ObservationVectors
from cwm.sandbox.parent.host import Sandbox, Worker
from cwm.sandbox.wire.api import Outcome, ProgramSource
from cwm.sandbox.wire.blame import blame
from games.api import Json


class MissingVectorsError(ObservationVectorError):
    """A model says nothing of how its observations become vectors."""


class VectorProgramError(ObservationVectorError):
    """A language model's function raised, hit a limit, or answered with something that is no vector."""


class VectorCodec(Protocol):
    """Observations as vectors and back; a context manager."""

    @property
    def width(self) -> int:
        """Length of every vector."""
        ...

    def encode(self, observation: Json, player: int) -> list[float]:
        """Returns what a player sees as a vector, shape [width].

        Raises:
            ObservationVectorError: the observation does not fit.
        """
        ...

    def decode(self, vector: Sequence[float], player: int) -> Json:
        """Returns the observation of a vector.

        Raises:
            ObservationVectorError: the vector does not fit.
        """
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


def open_codec(bundle: ModelBundle, sandbox: Sandbox) -> VectorCodec:
    """Returns how the observations of a model become vectors.

    Args:
        bundle: the model.
        sandbox: where a language model's functions run.

    Raises:
        MissingVectorsError: the model has no vectors; the message says which fields none could bring back, if any was
            tried.
        SchemaFormatError: the stored schema is damaged.
        SandboxUnavailableError: no worker can be started.
    """
    if bundle.schema is not None:
        return SchemaCodec(ObservationVectors.from_json(bundle.schema))
    told = bundle.metadata.get("vectors")
    about: dict[str, Any] = told if isinstance(told, dict) else {}
    if bundle.vectors_source is not None and type(about.get("width")) is int:
        return ProgramCodec(bundle.vectors_source, about["width"], bundle.info, sandbox)
    why = f": {about['message']}" if "message" in about else "; synthesise it with the option `vectors`"
    raise MissingVectorsError(f"the model of {bundle.info['id']} has no vectors of observations{why}.")


class SchemaCodec:
    """Vectors by a schema.

    Args:
        vectors: the schema.
    """

    def __init__(self, vectors: ObservationVectors) -> None:
        self._vectors = vectors

    @property
    def width(self) -> int:
        return self._vectors.width

    def encode(self, observation: Json, player: int) -> list[float]:
        return self._vectors.encode(observation)

    def decode(self, vector: Sequence[float], player: int) -> Json:
        return self._vectors.decode(vector)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """There is nothing to close."""


class ProgramCodec:
    """Vectors by a language model's functions, in a worker of their own; one that died is replaced at the next call.

    Args:
        source: the functions.
        width: length of every vector, as it was found when they were chosen.
        info: of the game, as a bundle has it.
        sandbox: where they run.
    """

    def __init__(self, source: str, width: int, info: dict[str, Any], sandbox: Sandbox) -> None:
        self._program = ProgramSource(source, {}, info)
        self._width = width
        self._sandbox = sandbox
        self._worker: Worker | None = None

    @property
    def width(self) -> int:
        return self._width

    def encode(self, observation: Json, player: int) -> list[float]:
        answer = self._call(ENCODE, observation, player)
        if not is_vector(answer) or len(answer) != self._width:
            raise VectorProgramError(f"{ENCODE} returned no list of {self._width} finite numbers.")
        return [float(number) for number in answer]

    def decode(self, vector: Sequence[float], player: int) -> Json:
        if len(vector) != self._width:
            raise VectorLengthError(f"the vector has {len(vector)} numbers; these functions have {self._width}.")
        if not all(map(isfinite, vector)):
            raise ObservationVectorError("the vector holds numbers that are not finite; give finite ones.")
        return self._call(DECODE, list(vector), player)

    def _call(self, function: str, argument: Json, player: int) -> Json:
        if self._worker is None or not self._worker.alive:
            self._worker = self._sandbox.start(self._program)
        loaded = self._worker.loaded
        reply = loaded if loaded.outcome is not Outcome.OK else self._worker.call(function, [argument, player], seed=0)
        fault = blame(reply)
        if fault is not None:
            failure = fault.failure
            said = fault.outcome.value if failure is None else f"{failure.type}: {failure.message}"
            raise VectorProgramError(f"{function} failed ({said}).")
        return reply.value

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._worker is not None:
            self._worker.close()
