"""How the command line fails: one sentence and an exit code for every error that a user can cause or mend."""

import sqlite3

from cwm.llm.api import BudgetExceededError, LanguageModelError
from cwm.trajectories import TrajectoryFormatError
from games.api import GameError
from search.api import PlannerConfigError

EXIT_NEGATIVE = 1
"""The work was done, and its result is negative (a model that is not exact, say)."""
EXIT_USAGE = 2
"""What was asked for cannot be done: an unknown game, a broken file, a contradiction between options."""
EXIT_PROVIDER = 3
"""The language model could not be reached, refused the key, or a budget is used up; `cwm resume` goes on."""
EXIT_SYSTEM = 4
"""The machine got in the way: a full disk, a locked or corrupt record, no sandbox."""


class UsageError(Exception):
    """What the user asked for cannot be done; the message says what was given, what is expected, what to do."""


def exit_code(error: BaseException) -> int | None:
    """Returns the exit code of an error that is explained in one sentence, None for a fault of ours."""
    if isinstance(error, BudgetExceededError | LanguageModelError):
        return EXIT_PROVIDER
    if isinstance(error, UsageError | GameError | TrajectoryFormatError | PlannerConfigError):
        return EXIT_USAGE
    if isinstance(error, OSError | sqlite3.Error):
        return EXIT_SYSTEM
    return None
