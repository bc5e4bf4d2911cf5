"""Games as they are recorded, and players who know them: what a language model learns a kitchen from."""

import random
from typing import Any

import pytest

from arena.runs.inputs import lessons
from cwm.trajectories.recorded import collect, play
from games import registry
from games.scripted import recorded, scripted

KITCHEN = "overcooked-v2-cramped-room"


def test_a_kitchen_is_recorded_for_so_many_steps_and_other_games_whole() -> None:
    whole: Any = registry.make(KITCHEN)
    short: Any = recorded(KITCHEN)
    assert (whole.model.info.step_limit, short.model.info.step_limit) == (400, 120)
    assert short.info.id == whole.info.id
    for game_id in ("tic_tac_toe", "tiger-2a"):
        assert registry.describe(game_id).recorded == {}
        assert recorded(game_id).info == registry.make(game_id).info


def test_random_chefs_and_scripted_ones_take_turns_and_other_games_are_random() -> None:
    games = lessons(recorded(KITCHEN), 6, 3)
    assert [game.index for game in games] == list(range(6))
    (random_one,) = collect(recorded(KITCHEN), 1, 3)
    assert games[0] == random_one
    assert [game.returns[0] > 0 for game in games[1:4]] == [True] * 3
    assert lessons(recorded(KITCHEN), 2, 3) == games[:2]
    assert lessons(recorded("tic_tac_toe"), 3, 0) == collect(registry.make("tic_tac_toe"), 3, 0)


@pytest.mark.parametrize("name", scripted(KITCHEN))
def test_a_chef_at_the_table_decides_as_one_who_is_told_everything_anew(name: str) -> None:
    """Chefs remember a game from one decision to the next: another game in between makes no difference."""
    game = recorded(KITCHEN)
    player = scripted(KITCHEN)[name]

    def interrupted(given: Any, state: Any, history: Any, agent: int, rng: random.Random) -> Any:
        state_of_rng = rng.getstate()
        action = player(given, state, history, agent, rng)
        player(given, state, [(dict(told), done) for told, done in history[:1]], agent, random.Random(1))
        rng.setstate(state_of_rng)
        assert player(given, state, history, agent, rng) == action
        return action

    assert play(game, [interrupted] * 2, 5, 0) == play(game, [player] * 2, 5, 0)


def test_games_without_players_of_their_own_have_none() -> None:
    assert scripted("tiger-2a") == {}
    assert set(scripted(KITCHEN)) >= {"a cook and a server", "one recipe, whatever is asked for"}
