"""What goes wrong in a search, and the count of what a model raised. A search never hides a model's exception."""

import math
import time
from collections import Counter
from collections.abc import Callable

from games.api import Action, Game, State

MESSAGE_LENGTH = 200
"""A model's message is cut after that many characters."""
FEWEST_ERRORS = 10
"""A search is never given up for fewer errors than this."""


class BrokenModelError(Exception):
    """The model broke a rule of `Game` in a way that only the search could see."""


class NoHistoryError(Exception):
    """No sampled history recreates what the player saw."""


class SearchFailedError(Exception):
    """A search found no action at all, not even a random legal one; the message says why."""


class ErrorCount:
    """Exceptions that a model raised, by message.

    Attributes:
        by_message: "KeyError: 'board'" -> how often, in order of first appearance.
        total: how many there were.
    """

    def __init__(self) -> None:
        self.by_message: Counter[str] = Counter()
        self.total = 0

    def add(self, error: Exception) -> None:
        self.total += 1
        self.by_message[describe(error)] += 1

    def to_json(self) -> dict[str, int]:
        return dict(self.by_message)


def describe(error: Exception) -> str:
    """Returns one line: the exception's class and message (a message that cannot be had is left out)."""
    name = type(error).__name__
    try:
        message = " ".join(str(error).split())
    except MemoryError:
        raise
    except Exception:
        # An exception class that the model defined may fail in its own __str__; the class name is then all there is.
        return name
    return f"{name}: {message}"[:MESSAGE_LENGTH] if message else name


def root_actions(game: Game, state: State) -> list[Action]:
    """Returns the legal actions of the position to decide, once it is sure that the model keeps to the types of `Game`.

    The simulations trust the model for speed; one that breaks the types does so at the root already, as a rule.

    Raises:
        BrokenModelError: `current_player` is no whole number, or `legal_actions` no list of strings.
    """
    player = game.current_player(state)
    if type(player) is not int:
        raise BrokenModelError(f"current_player returned a {type(player).__name__}, expected a whole number")
    legal = game.legal_actions(state)
    if not isinstance(legal, list | tuple):
        raise BrokenModelError(f"legal_actions returned a {type(legal).__name__}, expected a list of strings")
    odd = [type(action).__name__ for action in legal if not isinstance(action, str)]
    if odd:
        raise BrokenModelError(f"legal_actions returned a list that holds a {odd[0]}, expected strings alone")
    return list(legal)


def run_simulations(
    simulate: Callable[[], None],
    abandon: Callable[[], None],
    simulations: int,
    errors: ErrorCount,
    seconds: float | None = None,
) -> tuple[int, str | None]:
    """Runs simulations, dropping those in which the model raises.

    Args:
        simulate: runs one.
        abandon: undoes what a failed one left in the tree.
        simulations: how many to try.
        errors: is added to.
        seconds: no other one begins after so many; None for no limit.

    Returns:
        How many succeeded, and why the search was given up: None, or errors in at least half of the simulations.

    Raises:
        MemoryError: the model or the tree ran out of memory.
    """
    limit = max(FEWEST_ERRORS, simulations // 2)
    done = failed = 0
    first = ""
    end = math.inf if seconds is None else time.monotonic() + seconds
    for _ in range(simulations):
        if seconds is not None and done and time.monotonic() >= end:
            break
        try:
            simulate()
        except MemoryError:
            raise
        except Exception as error:
            errors.add(error)
            abandon()
            failed += 1
            first = first or describe(error)
            if failed >= limit:
                return done, f"the model raised in {failed} of {failed + done} simulations, first {first}"
        else:
            done += 1
    if not done:
        return done, f"the model raised in all {failed} simulations, first {first}"
    return done, None
