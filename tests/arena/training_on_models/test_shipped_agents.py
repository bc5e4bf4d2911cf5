import pytest

from arena import cli
from arena.checkpoints import places
from arena.checkpoints.places import PPO, RECORDED, SHIPPED
from games import registry

LITTLE = ("--deals", "1", "--workers", "1")
GAMES = sorted(path.parent.name for path in SHIPPED.glob(f"*/{PPO}"))


def test_agents_of_some_games_ship():
    small = {"army5x5a", "bargaining", "connect_four", "hand_of_war", "leduc_poker", "mnk", "quadranto", "tic_tac_toe"}
    assert small <= set(GAMES)


@pytest.mark.parametrize("game", GAMES)
def test_shipped_agent_says_how_it_was_trained(game):
    for seat in range(registry.make(game).info.num_players):
        about = places.read_about(places.folder_of(RECORDED, game), seat)
        assert (about["game"], about["seat"]) == (game, seat)
        assert about["steps"] > 0
        assert about["results"]["mean_return"] > 0


@pytest.mark.parametrize("game", GAMES)
def test_shipped_agent_plays(game, capsys):
    assert cli.run(["arena", game, "--agent", "learned:recorded,greedy=true", "--agent", "random", *LITTLE]) == 0
    assert "learned:recorded" in capsys.readouterr().out
