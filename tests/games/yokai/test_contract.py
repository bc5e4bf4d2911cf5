import pytest

from games import registry
from games.contract import game as contract
from games.yokai.game import make


def test_every_configuration_keeps_the_contract(game):
    contract.assert_game(game, games=2, seed=81)


@pytest.mark.parametrize("memory", [False, True])
def test_nothing_leaks_in_either_view(game, memory):
    assert contract.check_leaks(make(game.config.cards, game.config.players, memory), games=1, seed=82) == []


def test_the_registry_makes_every_configuration(game):
    assert registry.make(game.info.id).info == game.info
    assert registry.make(game.info.id, memory=True).info.views == ("memory", "default")
