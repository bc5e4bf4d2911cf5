"""Grid and signalling games of simultaneous moves keep the contract, in every variant."""

from typing import Any

import pytest

from games.posg import registry
from games.posg.contract import assert_posg

GAMES: list[tuple[str, dict[str, Any]]] = [
    ("button-game", {}),
    ("cat-dog", {}),
    ("cooperative-reaching", {"sight": 1}),
    ("driving", {"grid": "small roundabout", "agents": 3}),
    ("driving", {}),
    ("foraging", {}),
    ("foraging-random", {}),
    ("predator-prey", {}),
    ("predator-prey", {"variant": "documented"}),
    ("pursuit-evasion", {}),
    ("pursuit-evasion", {"variant": "documented", "grid": "8x8"}),
]


@pytest.mark.slow
@pytest.mark.parametrize(("game_id", "params"), GAMES)
def test_games_keep_the_contract(game_id: str, params: dict[str, Any]) -> None:
    assert_posg(registry.make(game_id, **params), games=4, samples=5_000)
