"""pgx's own environments, played as twins are."""

import importlib.util

import pytest

from arena.benchmarks import pgx_steps
from arena.usage import UsageError


def test_a_game_that_pgx_lacks_is_refused_with_those_that_it_has():
    with pytest.raises(UsageError, match="pgx has no quadranto with the same rules; beside it are timed: tic_tac_toe"):
        pgx_steps.rate_of("quadranto", 4, 2)


def test_without_pgx_the_command_that_installs_it_is_told(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(UsageError, match="run: pip install pgx"):
        pgx_steps.rate_of("tic_tac_toe", 4, 2)


@pytest.mark.extra("pgx")
@pytest.mark.parametrize("game", ["tic_tac_toe", "leduc_poker"])
def test_a_game_of_pgx_is_played_as_often_as_it_is_asked(game):
    pytest.importorskip("pgx")
    rate = pgx_steps.rate_of(game, 4, 2)
    assert rate() > 0
    assert rate() > 0
