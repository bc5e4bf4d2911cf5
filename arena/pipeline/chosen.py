"""What a recorded run chose beside its model: a replay need not play its tournaments again, which stop by the clock."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from cwm.functions.joint.kinds import kinds_for
from cwm.interface.answers import programs
from cwm.llm.recordings import Recording, RecordingError
from cwm.model.bundle import ModelBundle
from cwm.storage.keys import program_hash

FUNCTIONS: Final = "functions"
SCHEMA: Final = "schema"
ABOUT: Final = ("values", "priors", "resamples", "vectors", "plays_with")
"""What a model's bundle tells of the choices."""


def of_model(bundle: ModelBundle) -> dict[str, Any]:
    """Returns the choices of a finished model, as a recording's header holds them: hashes of programs by kind."""
    kinds = kinds_for(bundle.joint)
    sources = {kind.name: getattr(bundle, f"{kind.name}_source", bundle.further.get(kind.name)) for kind in kinds}
    return {
        FUNCTIONS: {name: program_hash(source) for name, source in sources.items() if source is not None},
        SCHEMA: bundle.schema,
        "about": {name: bundle.metadata[name] for name in ABOUT if name in bundle.metadata},
    }


def is_beside(bundle: ModelBundle, told: Mapping[str, Any]) -> bool:
    """Whether what a header tells stands beside a model."""
    return bool(of_model(bundle)[FUNCTIONS] == told[FUNCTIONS])


def added_to(bundle: ModelBundle, recording: Recording) -> ModelBundle:
    """Returns a recorded model with the functions that the recorded run chose beside it, out of the recorded answers.

    Raises:
        RecordingError: no recorded answer holds one of them.
    """
    told: Mapping[str, Any] = recording.header.chosen or {}
    for kind in kinds_for(bundle.joint):
        digest = told[FUNCTIONS].get(kind.name)
        if digest is not None:
            bundle = bundle.with_function(kind.name, _written(recording, kind.name, kind.functions, digest))
    return replace(bundle, schema=told[SCHEMA], metadata={**told["about"], **bundle.metadata})


def _written(recording: Recording, purpose: str, functions: tuple[str, ...], digest: str) -> str:
    answers = [record.completion.text for record in recording.records if record.request.purpose == purpose]
    for answer in answers:
        for source in programs(answer, functions, 1):
            if program_hash(source) == digest:
                return source
    raise RecordingError(
        f"The recording {recording.name} names a program of kind {purpose} ({digest[:12]}) that no answer in it holds: "
        "pack it again from its run."
    )
