"""Games as environments of PettingZoo: its own tests pass on everything that is registered."""

import random
import warnings
from typing import Any

import pytest

pytest.importorskip("pettingzoo", reason="the extra `interop` is not installed")

from pettingzoo.test import api_test, parallel_api_test, parallel_seed_test, seed_test
from pettingzoo.test.example_envs import generated_agents_parallel_v0

import cwm
from games import registry
from games.adapters.from_aec import FromAec
from games.adapters.from_pettingzoo import FromParallel
from games.adapters.pettingzoo import GameAecEnv, PosgParallelEnv
from games.api import CHANCE, TERMINAL, GameError
from games.posg import registry as posgs
from games.posg.api import PosgError
from games.posg.chance import drawing
from tests.games.interop.foreign import Dice

pytestmark = pytest.mark.extra("interop")

GAMES = ("tic_tac_toe", "leduc_poker", "kuhn_poker", "hand_of_war", "connect_four", "bargaining")
CYCLES = 60


@pytest.mark.parametrize("game_id", posgs.ids())
def test_the_parallel_tests_of_pettingzoo_pass(game_id: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        parallel_api_test(cwm.pettingzoo_env(game_id), CYCLES)
        parallel_seed_test(lambda: cwm.pettingzoo_env(game_id), CYCLES)


@pytest.mark.parametrize("game_id", GAMES)
def test_the_tests_of_pettingzoo_pass(game_id: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", ".*does not fit its encoder.*|.*is a single number.*|.*all zeros.*")
        api_test(cwm.pettingzoo_env(game_id), CYCLES)
        seed_test(lambda: cwm.pettingzoo_env(game_id), CYCLES)


@pytest.mark.parametrize("game_id", ["tiger-2a", "rps-repeated"])
def test_a_game_of_simultaneous_moves_is_an_aec_environment_too(game_id: str) -> None:
    game = registry.make(game_id)
    env = GameAecEnv(game, encoder=lengths())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        api_test(env, CYCLES)
    assert env.metadata["names"] == game.info.player_names


def lengths() -> Any:
    class Lengths:
        width = 2

        def encode(self, observation: Any) -> list[float]:
            return [1.0, float(len(str(observation)))]

    return Lengths()


def test_an_agent_whose_game_is_over_leaves_and_the_others_play_on() -> None:
    rules = FromParallel(Dice(), reward_bounds=(0.0, 2.0), step_limit=5)
    env = PosgParallelEnv(rules, encoder=lengths())
    parallel_api_test(env, 5)
    env.reset(seed=0)
    there = []
    while env.agents:
        before = list(env.agents)
        told, paid, ended, cut, infos = env.step(dict.fromkeys(before, 1))
        assert [set(told), set(ended), set(infos)] == [set(before)] * 3
        assert (paid, set(cut.values())) == (dict.fromkeys(before, 1.0), {False})
        there.append(env.agents)
    assert there == [["agent_0", "agent_1"], ["agent_0"], []]


@pytest.mark.parametrize(
    ("actions", "said"),
    [
        ({"agent_0": 0}, "agent_1 is to act, and no action was given for it"),
        ({"agent_0": 0, "agent_1": 9}, "has the actions 0 to 2, not 9"),
        ({"agent_0": 0, "agent_1": 0, "cat": 0}, "'cat' is not in the game; in it are agent_0, agent_1"),
    ],
)
def test_wrong_actions_are_refused(actions: dict[str, int], said: str) -> None:
    env = cwm.pettingzoo_env("tiger-2a")
    with pytest.raises(GameError, match=r"no game is under way; call reset\(\) first"):
        env.step(actions)
    env.reset(seed=0)
    with pytest.raises(GameError, match=said):
        env.step(actions)
    with pytest.raises(GameError, match="There is no agent 'cat'; there are agent_0, agent_1"):
        env.action_space("cat")


def test_a_game_of_turns_is_no_parallel_environment() -> None:
    with pytest.raises(GameError, match="tic_tac_toe is a game of turns: make a GameAecEnv of it"):
        PosgParallelEnv(registry.make("tic_tac_toe"))


def test_a_game_goes_out_and_comes_back_in_as_the_same_game() -> None:
    game, out = registry.make("tic_tac_toe"), cwm.pettingzoo_env("tic_tac_toe")
    names = out.actions["player_0"]
    back = FromAec(out, return_bounds=(-1.0, 1.0), max_length=9, utility="zero_sum")
    for seed in range(3):
        rng = random.Random(seed)
        state, copy = game.initial_state(), back.initial_state()
        while back.current_player(copy) == CHANCE:
            copy = back.apply_action(copy, rng.choice(back.legal_actions(copy)))
        while game.current_player(state) != TERMINAL:
            assert back.current_player(copy) == game.current_player(state)
            assert {names[int(number)] for number in back.legal_actions(copy)} == set(game.legal_actions(state))
            action = rng.choice(game.legal_actions(state))
            state, copy = game.apply_action(state, action), back.apply_action(copy, str(names.index(action)))
            assert back.rewards(copy) == game.rewards(state)
        assert back.current_player(copy) == TERMINAL


def test_a_model_goes_out_and_comes_back_in_with_its_chance() -> None:
    out = cwm.pettingzoo_env("tiger-2a")
    back = FromParallel(out, reward_bounds=(-101.0, 21.0), step_limit=20)
    state = back.initial_state(drawing(random.Random(0)))
    listen = tuple(str(out.actions[name].index("listen")) for name in out.possible_agents)
    assert back.active(state) == (0, 1)
    told = set()
    for seed in range(40):
        after, rewards, _ = back.move(state, listen, drawing(random.Random(seed)))
        assert list(rewards) == [-1.0, -1.0]
        told.add(back.observe(after, listen, drawing(random.Random(0)))[0])
    assert len(told) > 2


def test_an_environment_that_makes_agents_as_it_goes_is_refused() -> None:
    env = generated_agents_parallel_v0.parallel_env()
    env.reset(seed=0)
    with pytest.raises(PosgError, match="names no possible_agents"):
        FromParallel(env, reward_bounds=(-1e9, 1e9), step_limit=5)
