"""What every stage of a synthesis works with."""

from collections.abc import Callable
from dataclasses import dataclass

from arena.runs.inputs import Inputs
from arena.runs.settings import RunSettings
from cwm.record.record import RunRecord
from cwm.synthesis.events import OnEvent, ignore


@dataclass(frozen=True)
class Stage:
    """A run, as its stages see it; what a stage finished is served from the record.

    Attributes:
        record: the run's folder, open for writing.
        settings: as stored.
        inputs: rules and games.
        workers: processes or games at once; changes no result.
        on_event: told of everything.
        on_stage: told in words what begins.
    """

    record: RunRecord
    settings: RunSettings
    inputs: Inputs
    workers: int = 1
    on_event: OnEvent = ignore
    on_stage: Callable[[str], None] = lambda text: None
