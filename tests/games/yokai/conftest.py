"""Positions that several tests need."""

import random
from collections.abc import Callable
from typing import Any

import pytest

from games.yokai.game import YokaiGame, make

CONFIGURATIONS = [(9, 2), (9, 3), (9, 4), (16, 2), (16, 3), (16, 4), (8, 2)]


@pytest.fixture(params=CONFIGURATIONS, ids=lambda c: f"{c[0]}c-{c[1]}p")
def game(request: pytest.FixtureRequest) -> YokaiGame:
    """Every configuration in turn."""
    return make(*request.param)


@pytest.fixture
def small() -> YokaiGame:
    """Nine cards, two players."""
    return make(9, 2)


@pytest.fixture
def ring() -> YokaiGame:
    """Eight cards, two players: the reduced setting."""
    return make(8, 2)


@pytest.fixture
def deal() -> Callable[..., Any]:
    """Returns a function that deals given colours (one letter a card) and hints (e.g. `r gb rb rg`), or random ones."""

    def dealt(game: YokaiGame, colours: str = "", hints: str = "", seed: int = 0) -> Any:
        rng = random.Random(seed)
        words = {word[0]: word for word in game.config.colours}
        actions = [f"deal {words[letter]}" for letter in colours]
        actions += ["hint " + "-".join(words[letter] for letter in hint) for hint in hints.split()]
        state = game.initial_state()
        for index in range(game.config.cards + game.config.hints):
            outcomes = game.chance_outcomes(state)
            drawn = rng.choices([a for a, _ in outcomes], [p for _, p in outcomes])[0]
            state = game.apply_action(state, actions[index] if index < len(actions) else drawn)
        return state

    return dealt


@pytest.fixture
def play() -> Callable[..., Any]:
    """Returns a function that applies several actions."""

    def played(game: YokaiGame, state: Any, *actions: str) -> Any:
        for action in actions:
            state = game.apply_action(state, action)
        return state

    return played


@pytest.fixture
def random_states() -> Callable[..., list[Any]]:
    """Returns a function that lists the states of random games whose players never end, deals left out."""

    def listed(game: YokaiGame, games: int, seed: int) -> list[Any]:
        rng = random.Random(seed)
        states = []
        for _ in range(games):
            state = game.initial_state()
            while game.current_player(state) != -4:
                if state["phase"] == "play":
                    states.append(state)
                state = game.apply_action(state, rng.choice([a for a in game.legal_actions(state) if a != "end"]))
            states.append(state)
        return states

    return listed
