"""How the command line fails: one sentence and an exit code for every error that a user can cause or mend."""

import re
import sqlite3
from typing import Final

from arena.agents.api import InfrastructureError, NoAnswerError
from arena.agents.human import HumanQuitError
from arena.agents.specs import AgentSpecError
from arena.machine.process_pool import WorkerDiedError
from arena.matches.plan import TournamentError
from arena.matches.replay import RecordError
from arena.matches.store import ConfigMismatchError, StoreError
from arena.usage import UsageError
from cwm.functions.types import FunctionConfigError
from cwm.interface.templates import WordingError
from cwm.llm.api import LanguageModelError
from cwm.llm.caps import CapsError
from cwm.model.bundle import ModelBundleError
from cwm.model.world_model import WorldModelError
from cwm.observations.values import ObservationVectorError
from cwm.record.record import RunConfigError, RunMissingError
from cwm.sandbox.wire.api import SandboxUnavailableError
from cwm.speed.task import SpeedConfigError
from cwm.storage.journal import RunRecordError
from cwm.suite.contract import ContractCheckError
from cwm.synthesis.candidate import TesterError
from cwm.synthesis.config import SynthesisConfigError
from cwm.trajectories.recorded import EndlessGameError, TrajectoryFormatError
from cwm.twins.proof import ProofConfigError
from cwm.twins.stored import StoredTwinError
from cwm.twins.task import NoTwinError, TwinConfigError
from cwm.twins.traced import TwinProblemError
from games.api import GameError
from search.api import PlannerConfigError
from search.errors import SearchFailedError
from search.learn.errors import LearnError

EXIT_NEGATIVE = 1
"""The work was done, and its result is negative: a model that is not exact or that fails, a game that was left."""
EXIT_USAGE = 2
"""What was asked for cannot be done: an unknown game, a broken file, a contradiction between options."""
EXIT_PROVIDER = 3
"""No answer of the language model is to be had: its name, key or address is wrong, it could not be reached, a recording
lacks the answer, or a cap on calls, tokens, money or time is reached; `cwm resume` goes on."""
EXIT_SYSTEM = 4
"""The machine got in the way: a full disk, a file that cannot be written, a locked or damaged record, no sandbox."""
EXIT_INTERRUPTED = 130
"""Ctrl-C; what was finished is kept."""

DOCUMENTED: Final = (
    "Exit codes: 0 done; 1 done, with a negative result (a model that is not exact, a game that was left); "
    "2 cannot be done as asked (unknown game, broken file, contradicting options); 3 no answer of the language model "
    "(name, key, address, recording, or a cap is reached); 4 the machine (disk, locked or damaged record, sandbox); "
    "130 interrupted."
)


_CODES: Final[tuple[tuple[int, tuple[type[BaseException], ...]], ...]] = (
    (EXIT_PROVIDER, (LanguageModelError, NoAnswerError)),
    (
        EXIT_NEGATIVE,
        (WorldModelError, EndlessGameError, SearchFailedError, HumanQuitError, NoTwinError, TwinProblemError),
    ),
    (
        EXIT_USAGE,
        (
            UsageError,
            CapsError,
            WordingError,
            GameError,
            TrajectoryFormatError,
            PlannerConfigError,
            AgentSpecError,
            TournamentError,
            ModelBundleError,
            ObservationVectorError,
            SynthesisConfigError,
            FunctionConfigError,
            SpeedConfigError,
            TwinConfigError,
            ProofConfigError,
            StoredTwinError,
            RunConfigError,
            RunMissingError,
            ConfigMismatchError,
            LearnError,
        ),
    ),
    (
        EXIT_SYSTEM,
        (
            RunRecordError,
            StoreError,
            RecordError,
            SandboxUnavailableError,
            ContractCheckError,
            TesterError,
            InfrastructureError,
            WorkerDiedError,
            OSError,
            sqlite3.Error,
        ),
    ),
    (EXIT_INTERRUPTED, (KeyboardInterrupt,)),
)
"""The first row that holds an error's class, or one that it derives from, counts."""


_OPTIONS: Final = re.compile(r"(?:[Tt]he |(?P<both>both ))options?,? (?P<names>`[a-z_]+`(?: (?:and|or) `[a-z_]+`)*)")
"""How a library names its options, e.g. the option `price_in`: the command line's are called the same."""


def exit_code(error: BaseException) -> int | None:
    """Returns the exit code of an error that is explained in one sentence, None for a fault of ours."""
    return next((code for code, classes in _CODES if isinstance(error, classes)), None)


def sentence(error: BaseException) -> str:
    """Returns what the user is told of an error; options are named as the command line writes them."""
    return _OPTIONS.sub(_flags, _sentence(error))


def _flags(options: re.Match[str]) -> str:
    flags = re.sub("`([a-z_]+)`", lambda name: f"--{name[1].replace('_', '-')}", options["names"])
    return (options["both"] or "") + flags


def _sentence(error: BaseException) -> str:
    if isinstance(error, KeyboardInterrupt):
        return "interrupted."
    if isinstance(error, OSError) and error.strerror is not None:
        place = error.filename2 or error.filename
        named = "A file" if place is None else str(place)
        return (
            f"{named} cannot be used: {error.strerror}; give a path that can be read and written, and make its folder."
        )
    return str(error)
