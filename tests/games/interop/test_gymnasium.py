"""One seat as an environment of Gymnasium: its own check passes on everything that is registered."""

import random
import warnings
from typing import Any

import numpy as np
import pytest

pytest.importorskip("gymnasium", reason="the extra `interop` is not installed")

from gymnasium.utils.env_checker import check_env

import cwm
from games import registry
from games.adapters.from_pettingzoo import FromGymnasium
from games.adapters.gymnasium import SeatEnv
from games.adapters.seats import Asked
from games.api import GameError
from games.posg import registry as posgs
from games.posg.chance import drawing

pytestmark = pytest.mark.extra("interop")

GAMES = ("tic_tac_toe", "leduc_poker", "kuhn_poker", "hand_of_war", "connect_four", "bargaining")


@pytest.mark.parametrize("game_id", [*posgs.ids(), *GAMES])
def test_the_check_of_gymnasium_passes(game_id: str) -> None:
    for seat in range(2):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.filterwarnings("ignore", ".*alternative render modes.*|.*does not fit its encoder.*")
            check_env(cwm.gymnasium_env(game_id, seat, sample=30))


def played(env: Any, seed: int) -> list[Any]:
    """Plays a game by the first legal action in turn, and returns all that was told."""
    rng = random.Random(seed)
    observation, info = env.reset(seed=seed)
    told, is_over = [(observation.tolist(), 0.0, info["action_mask"].tolist())], False
    while not is_over:
        legal = np.flatnonzero(env.action_masks())
        observation, paid, ended, cut, info = env.step(np.int64(rng.choice(list(legal))))
        is_over = ended or cut
        assert info["illegal"] is False
        told.append((observation.tolist(), paid, info["action_mask"].tolist()))
    return told


@pytest.mark.parametrize("game_id", ["predator-prey", "leduc_poker", "tiger-2a"])
def test_equal_seeds_play_equally_and_others_do_not(game_id: str) -> None:
    one, other = cwm.gymnasium_env(game_id), cwm.gymnasium_env(game_id)
    games = [played(one, seed) for seed in range(6)]
    assert [played(other, seed) for seed in range(6)] == games
    assert len({str(game) for game in games}) > 1


def test_a_game_is_broken_off_at_its_limit_and_over_at_its_end() -> None:
    env = cwm.gymnasium_env("tiger-2a", most=3)
    env.reset(seed=0)
    assert [env.step(env.actions.index("listen"))[2:4] for _ in range(3)] == [
        (False, False),
        (False, False),
        (False, True),
    ]
    with pytest.raises(GameError, match=r"tiger-2a: no game is under way; call reset\(\) first"):
        env.step(0)
    with pytest.raises(GameError, match="tiger-2a has the actions 0 to 2, not 7"):
        env.reset() and env.step(7)


def test_of_an_illegal_action_the_lowest_legal_one_is_played() -> None:
    def last(asked: Asked) -> str:
        return asked.legal[-1]

    env = SeatEnv(registry.make("tic_tac_toe"), 0, last, encoder=cells())
    env.reset(seed=0)
    taken = env.actions.index("x(1,1)")
    assert env.step(taken)[4]["illegal"] is False
    assert env.step(taken)[4]["illegal"] is True
    assert env.step(env.actions.index("x(0,0)"))[4]["illegal"] is True


def cells() -> Any:
    class Cells:
        width = 1

        def encode(self, observation: Any) -> list[float]:
            return [float(len(str(observation)))]

    return Cells()


def test_the_seats_own_view_is_rendered_as_text() -> None:
    env = cwm.gymnasium_env("leduc_poker", render_mode="ansi")
    env.reset(seed=1)
    assert isinstance(env.render(), str)
    assert cwm.gymnasium_env("leduc_poker").render() is None
    with pytest.raises(GameError, match="leduc_poker can be rendered as 'ansi', not as 'human'"):
        cwm.gymnasium_env("leduc_poker", render_mode="human")


def test_a_seat_goes_out_and_comes_back_in_as_the_same_game() -> None:
    env = SeatEnv(posgs.make("cooperative-reaching"), 0, lambda asked: asked.legal[0])
    rules = FromGymnasium(env, reward_bounds=(-1.0, 1.0), step_limit=50, game_id="reaching")
    state = rules.initial_state(drawing(random.Random(4)))
    first = rules.observe(state, None, drawing(random.Random(0)))[0]
    assert len(rules.observation_to_json(0, first)) == 4
    one, paid, _ = rules.move(state, ("1",), drawing(random.Random(1)))
    again, repaid, _ = rules.move(state, ("1",), drawing(random.Random(1)))
    assert (one.facts.told, list(paid)) == (again.facts.told, list(repaid))
    assert rules.observe(state, None, drawing(random.Random(0)))[0] == first
