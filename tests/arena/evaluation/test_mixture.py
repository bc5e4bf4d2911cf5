import random
from typing import Any

import pytest

from arena.evaluation.mixture import (
    NamedPolicy,
    SearchPolicy,
    affordable,
    collect_mixed,
    draw_seats,
    scripted,
    standard_mixture,
)
from cwm.trajectories.recorded import random_policy
from games import registry
from games.api import GameError, ResamplesHistory, observe
from games.viewed import with_view


def test_seats_are_drawn_by_weight_and_from_the_seed_alone() -> None:
    mixture = [NamedPolicy("often", random_policy, 3.0), NamedPolicy("seldom", random_policy, 1.0)]
    drawn = [entry.name for seed in range(500) for entry in draw_seats(mixture, 2, seed)]
    assert 700 < drawn.count("often") < 800
    assert draw_seats(mixture, 2, 7) == draw_seats(mixture, 2, 7)


def test_script_for_a_whole_table_never_shares_it() -> None:
    mixture = [NamedPolicy("random", random_policy), NamedPolicy("script", random_policy, 1.0, True)]
    tables = [[entry.name for entry in draw_seats(mixture, 3, seed)] for seed in range(100)]
    assert {tuple(table) for table in tables} == {("random",) * 3, ("script",) * 3}


def test_empty_mixture_is_refused() -> None:
    with pytest.raises(GameError, match="at least one"):
        draw_seats([], 2, 0)


def test_search_policy_takes_the_winning_move() -> None:
    game = registry.make("tic_tac_toe")
    state = game.initial_state()
    for action in ("x(0,0)", "o(1,0)", "x(0,1)", "o(1,1)"):
        state = game.apply_action(state, action)
    history = [(game.observations(state)[0], None)]
    assert SearchPolicy(game, 100)(game, state, history, 0, random.Random(0)) == "x(0,2)"


def test_search_policy_needs_resampling_where_something_is_hidden(high_card: Any) -> None:
    with pytest.raises(GameError, match="cannot resample"):
        SearchPolicy(high_card)


def test_standard_mixture_holds_search_and_the_games_own_scripts() -> None:
    names = [entry.name for entry in standard_mixture(registry.make("yokai-9c-2p"))]
    assert names[:3] == ["random", "search-10", "search-100"]
    assert names[3:] == sorted(scripted("yokai-9c-2p"))
    assert scripted("tic_tac_toe") == {}


def test_searches_of_long_games_have_fewer_simulations() -> None:
    found = {
        name: affordable(registry.make(name)) for name in ("connect_four", "yokai-16c-3p", "backgammon", "gin_rummy")
    }
    assert found == {"connect_four": 100, "yokai-16c-3p": 100, "backgammon": 39, "gin_rummy": 37}
    assert [entry.name for entry in standard_mixture(registry.make("backgammon"))] == [
        "random", "search-10", "search-39"]  # fmt: skip


def test_games_of_a_mixture_do_not_depend_on_how_many_are_played() -> None:
    game = registry.make("leduc_poker")
    mixture = [NamedPolicy("random", random_policy), NamedPolicy("search", SearchPolicy(game, 5))]
    whole = collect_mixed(game, 6, 3, mixture)
    assert collect_mixed(game, 2, 3, mixture, first=4) == whole[4:]
    assert [trajectory.index for trajectory in whole] == list(range(6))


def test_game_shows_the_view_that_was_put_first() -> None:
    game = registry.make("yokai-9c-2p")
    viewed = with_view(game, "memory")
    state = random_state(game)
    assert viewed.observations(state) == [observe(game, state, player, "memory") for player in range(2)]
    assert viewed.info.views == ("memory", "default")
    assert isinstance(viewed, ResamplesHistory)
    assert game.info.views[0] == "default"
    assert with_view(game, "default") is game
    with pytest.raises(GameError, match="'dark'"):
        with_view(game, "dark")


def random_state(game: Any) -> Any:
    rng = random.Random(5)
    state = game.initial_state()
    for _ in range(16):
        state = game.apply_action(state, rng.choice([a for a in game.legal_actions(state) if a != "end"]))
    return state
