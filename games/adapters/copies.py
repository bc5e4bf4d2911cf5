"""Environments that nobody looks into, as states: every step is played on a copy, and what it draws is drawn anew."""

import copy
import random
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

import numpy as np

from games.api import Json
from games.posg.api import Choose, PosgError
from games.posg.chance import uniform_over

DRAWS: Final = 4
SIDES: Final = 32
"""A seed is so many draws of so many outcomes: more seeds than anybody enumerates, by few and small draws."""

Generator: TypeAlias = random.Random | np.random.Generator | np.random.RandomState
Log: TypeAlias = tuple[tuple[Json, ...], ...]


class OpaqueState:
    """A state: an environment that nobody looks into, known by what led to it.

    Attributes:
        env: a copy of its own; None before the start.
        log: seeds and actions from the start on.
        facts: what is known of the position.
    """

    __slots__ = ("env", "facts", "log")

    def __init__(self, env: Any, log: Log, facts: Any) -> None:
        self.env, self.log, self.facts = env, log, facts

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OpaqueState) and self.log == other.log

    def __hash__(self) -> int:
        return hash(self.log)

    def __repr__(self) -> str:
        return f"OpaqueState({self.log!r})"


def copied(env: Any, game_id: str) -> Any:
    """Returns a copy of an environment.

    Raises:
        PosgError: it cannot be copied.
    """
    return _with_generators(env, game_id)[0]


def tried(env: Any, game_id: str, step: Callable[[Any], Any]) -> tuple[Any, Any, bool]:
    """Plays a step on a copy; returns that, what the step returned, and whether it drew from the generators."""
    own, generators = _with_generators(env, game_id)
    before = list(map(_mark, generators))
    result = step(own)
    return own, result, list(map(_mark, generators)) != before


def stepped(env: Any, game_id: str, step: Callable[[Any], Any], seed: int | None) -> tuple[Any, Any]:
    """Plays a step on a copy, its generators seeded anew if a seed is given; returns it, and what that returned."""
    own, generators = _with_generators(env, game_id)
    if seed is not None:
        for number, generator in enumerate(generators):
            _reseed(generator, seed * len(generators) + number)
    return own, step(own)


def _with_generators(env: Any, game_id: str) -> tuple[Any, list[Generator]]:
    """Returns a copy of an environment, and all generators in it: what was copied on the way tells them."""
    memo: dict[int, Any] = {}
    try:
        own = copy.deepcopy(env, memo)
    except Exception as error:
        raise PosgError(
            f"{game_id} cannot be copied ({type(error).__name__}: {error}), and its states are copies: make it without "
            "a window, and without a process or a connection of its own."
        ) from error
    return own, [found for found in memo.values() if isinstance(found, Generator)]


def _mark(generator: Generator) -> str:
    """Returns where a generator stands."""
    if isinstance(generator, random.Random):
        return repr(generator.getstate())
    if isinstance(generator, np.random.Generator):
        return repr(generator.bit_generator.state)
    return repr(generator.get_state(legacy=False))


def _reseed(generator: Generator, seed: int) -> None:
    if isinstance(generator, np.random.Generator):
        fresh: Any = type(generator.bit_generator)
        generator.bit_generator.state = fresh(seed).state
    else:
        generator.seed(seed)


def drawn_seed(choose: Choose) -> int:
    """Draws a seed."""
    sides = uniform_over(range(SIDES))
    return seed_of([int(choose(f"seed {number}", sides)) for number in range(DRAWS)])


def seed_of(digits: Sequence[int]) -> int:
    """Returns the seed of `DRAWS` draws, each below `SIDES`."""
    seed = 0
    for digit in digits:
        seed = seed * SIDES + digit
    return seed
