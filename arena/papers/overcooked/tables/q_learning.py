"""Independent Q-learning in tables on games of two steps, and what any Alice and any Bob come to together, exactly."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from statistics import mean
from typing import TypeAlias

from arena.papers.overcooked.tables.two_steps import PETS, TwoSteps

Values: TypeAlias = tuple[tuple[float, ...], ...]
"""What each action is thought to be worth, by what is seen."""


@dataclass(frozen=True)
class QSettings:
    """How the tables are learned; the paper leaves its settings open.

    Attributes:
        games: played by every pair.
        rate: share of the difference that a value moves towards what was paid.
        exploration: share of actions drawn uniformly; of the others, the best is taken, and one of several at random.
    """

    games: int = 1_000
    rate: float = 0.1
    exploration: float = 0.002


@dataclass(frozen=True)
class Pair:
    """An Alice and a Bob.

    Attributes:
        name: for tables.
        alice: her values by pet.
        bob: his values by what he may see.
    """

    name: str
    alice: Values
    bob: Values


def untrained(game: TwoSteps, name: str = "U") -> Pair:
    """Returns a pair that thinks all actions worth the same: uniformly random."""
    return Pair(name, ((0.0,) * len(game.alice),) * len(PETS), ((0.0,) * len(game.bob),) * game.seen)


def learned(game: TwoSteps, seed: int, settings: QSettings, random_alice: bool = False) -> Pair:
    """Returns a pair that learned with each other.

    Args:
        game: what they play.
        seed: everything random derives from it.
        settings: how they learn.
        random_alice: Alice plays uniformly and learns nothing, so that Bob is a best response to that.
    """
    source = random.Random(f"two steps/{game.name}/{seed}/{random_alice}")
    begun = untrained(game)
    alice, bob = [list(row) for row in begun.alice], [list(row) for row in begun.bob]
    for _ in range(settings.games):
        pet = source.randrange(len(PETS))
        action = _chosen(alice[pet], 1.0 if random_alice else settings.exploration, source)
        seen = game.sees(pet, action)
        guess = None if seen is None else _chosen(bob[seen], settings.exploration, source)
        paid = game.pays(pet, action, guess)
        if seen is not None and guess is not None:
            bob[seen][guess] += settings.rate * (paid - bob[seen][guess])
        if not random_alice:
            alice[pet][action] += settings.rate * (paid - alice[pet][action])
    return Pair(str(seed), tuple(map(tuple, alice)), tuple(map(tuple, bob)))


def population(game: TwoSteps, seeds: Sequence[int], settings: QSettings) -> list[Pair]:
    """Returns independent pairs, and last the best response to a random Alice with that Alice."""
    response = learned(game, 0, settings, random_alice=True)
    return [*(learned(game, seed, settings) for seed in seeds), replace(response, name="U, BR")]


def together(game: TwoSteps, alice: Values, bob: Values) -> float:
    """Returns what an Alice and a Bob are paid on average; of several best actions each is as likely."""
    total = 0.0
    for pet, row in enumerate(alice):
        acts = _best(row)
        for action in acts:
            seen = game.sees(pet, action)
            guesses = [None] if seen is None else _best(bob[seen])
            total += mean(game.pays(pet, action, guess) for guess in guesses) / len(acts)
    return total / len(alice)


def matrix(game: TwoSteps, pairs: Sequence[Pair]) -> list[list[float]]:
    """Returns what every Alice, by row, comes to with every Bob, by column."""
    return [[together(game, one.alice, other.bob) for other in pairs] for one in pairs]


def gap(played: Sequence[Sequence[float]]) -> tuple[float, float]:
    """Returns the means of a square matrix on its diagonal, SP, and off it, XP."""
    size = range(len(played))
    apart = [played[row][column] for row, column in product(size, size) if row != column]
    return mean(played[row][row] for row in size), mean(apart)


def _chosen(row: Sequence[float], exploration: float, source: random.Random) -> int:
    if source.random() < exploration:
        return source.randrange(len(row))
    return source.choice(_best(row))


def _best(row: Sequence[float]) -> list[int]:
    most = max(row)
    return [number for number, value in enumerate(row) if value == most]
