"""How a model's observations become the vectors that a policy on it reads."""

from typing import Any

from cwm.model.codec import ProgramCodec, SchemaCodec, VectorCodec
from cwm.observations.vectors import ObservationVectors
from cwm.sandbox.parent.host import Sandbox
from games.api import Json


def codec(vectors: dict[str, Json], info: dict[str, Any], sandbox: Sandbox) -> VectorCodec:
    """Returns what writes observations as vectors, as a lesson or a checkpoint says.

    Args:
        vectors: see `Lesson`.
        info: of the game, as a bundle has it.
        sandbox: where a language model's functions run.

    Raises:
        SchemaFormatError: the schema is damaged.
    """
    if "program" in vectors:
        return ProgramCodec(vectors["program"], vectors["width"], info, sandbox)
    return SchemaCodec(ObservationVectors.from_json(vectors["schema"]))


def width_of(vectors: dict[str, Json]) -> int:
    """Returns how many numbers the vectors of a lesson or a checkpoint have; arguments as for `codec`.

    Raises:
        SchemaFormatError: the schema is damaged.
        KeyError: there is neither a schema nor a program with its width.
    """
    if "program" in vectors:
        width: int = vectors["width"]
        return width
    return ObservationVectors.from_json(vectors["schema"]).width
