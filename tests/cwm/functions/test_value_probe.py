"""What value functions are asked about in random games: states, with what was paid before them."""

import random
from collections.abc import Callable
from typing import Any

import pytest

from cwm.functions.value_probe import measure
from games import registry
from games.api import State, state_to_json

GAME = "hanabi-tiny-2p"
HIGHEST = 5.0
"""Points of the smallest Hanabi; a lost game takes back all that was paid before."""


def fireworks(state: State) -> dict[str, int]:
    told: Any = state_to_json(registry.make(GAME), state)
    return dict(told["fireworks"])


class Valued:
    """A game with a value function beside it."""

    def __init__(self, game_id: str, still_to_come: Callable[[State], float]) -> None:
        self._game = registry.make(game_id)
        self._still_to_come = still_to_come

    def __getattr__(self, name: str) -> Any:
        return getattr(self._game, name)

    def value(self, state: State, player: int) -> float:
        over = self._game.current_player(state) < -1
        return self._game.rewards(state)[player] + (0.0 if over else self._still_to_come(state))


@pytest.mark.parametrize(
    ("still_to_come", "outside"),
    [
        (lambda state: 0.0, False),  # a bomb pays less than nothing, and the whole game still at least nothing
        (lambda state: HIGHEST - sum(fireworks(state).values()), False),
        (lambda state: HIGHEST, True),
        (lambda state: -HIGHEST, True),
    ],
)
def test_bounds_are_those_of_the_whole_game_what_was_paid_before_included(
    still_to_come: Callable[[State], float], outside: bool
) -> None:
    game = Valued(GAME, still_to_come)
    figures = measure(game, {"games": 40, "seconds": 0.0}, random.Random(3))
    assert (figures["out_of_bounds"] > 0) == outside
    assert figures["wrong_ends"] == 0
    assert figures["states"] > 400
