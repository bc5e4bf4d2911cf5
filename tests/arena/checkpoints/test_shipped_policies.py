"""The policies that ship: what they say of themselves, and that half the precision plays as the whole did."""

import json
import sys
from functools import lru_cache
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from arena.checkpoints import on_game
from arena.checkpoints.methods import TITLES
from arena.checkpoints.on_game import LearnedPolicy
from arena.checkpoints.places import SHIPPED
from arena.training.recipes import recipe
from games.batched.yokai.environment import make
from search.learn import checkpoint
from search.learn.masked_categorical import greedy
from search.learn.networks.actor_critic import ActorCritic
from search.learn.networks.config import NetworkConfig

GREEDY = Path(__file__).parents[2] / "data" / "greedy_actions.json"
"""Of every policy that ships, the greedy actions of its float32 parameters in the states of `decisions`."""
STATES = 1000
GAMES = 160
POLICIES = sorted((path.parent.parent.name, path.parent.name) for path in SHIPPED.glob(f"yokai-*/*/{checkpoint.ABOUT}"))


@lru_cache
def states(game: str):
    """Returns what player 0 sees in random games, the legal actions, and where it decides; time first."""
    env = make(game, memory=True)
    state = jax.jit(env.init)(jax.random.split(jax.random.key(11), GAMES))

    def step(state, key):
        decides = (state.player == 0) & ~env.is_over(state)
        following, _ = env.step(state, env.sample(state, jax.random.uniform(key, (GAMES,))))
        return following, (env.observe(state)[:, 0], env.legal_mask(state)[:, 0], decides)

    keys = jax.random.split(jax.random.key(12), env.sizes.config.max_length)
    found = jax.tree.map(np.asarray, jax.jit(lambda state: jax.lax.scan(step, state, keys)[1])(state))
    # A network reads steps in their order: what comes after the last state that is asked about changes nothing.
    needed = 1 + int(np.searchsorted(found[2].sum(axis=1).cumsum(), STATES))
    return jax.tree.map(lambda leaf: leaf[:needed], found)


@lru_cache
def chooser(config: NetworkConfig, num_actions: int):
    """Returns a compiled function from parameters and states to greedy actions."""
    network = ActorCritic(config, num_actions)

    def choose(params, seen, legal):
        starts = jnp.zeros(legal.shape[:2], bool).at[0].set(True)
        _, outputs = network.apply(params, network.initial_memory(GAMES), seen, starts)
        return greedy(outputs.logits, legal)

    return jax.jit(choose)


def decisions(policy: LearnedPolicy) -> np.ndarray:
    """Returns the greedy actions of player 0 where it decides, in random games that all policies share, int [1000]."""
    seen, legal, decides = states(policy.game)
    choose = chooser(policy.network.config, policy.network.num_actions)
    return np.asarray(choose(policy.params, seen, legal))[decides][:STATES]


def test_policies_ship_and_take_little_room():
    assert POLICIES
    assert sum(path.stat().st_size for path in SHIPPED.rglob("*.safetensors")) < 40_000_000


@pytest.mark.parametrize(("game", "name"), POLICIES)
def test_policy_says_how_it_was_trained(game, name):
    about = checkpoint.load_about(SHIPPED / game / name)
    assert (about["game"], about["name"], about["view"]) == (game, name, "memory")
    assert about["scale"] == "reduced"
    assert name == f"{about['method']}-s{about['seed']}"
    method = "obl" if about["method"].startswith("obl") else about["method"]
    made = recipe(game, method, about["scale"])
    assert method in TITLES
    assert about["network"] == json.loads(json.dumps(made.network.to_json()))
    assert about["ppo"]["entropy"] == made.ppo.entropy
    assert 0 < about["steps"] <= made.ppo.total_steps


@pytest.mark.parametrize(("game", "name"), POLICIES)
def test_half_the_precision_plays_as_the_whole_did(game, name):
    whole = np.array(json.loads(GREEDY.read_text())[f"{game}/{name}"])
    half = decisions(on_game.load(SHIPPED / game / name))
    assert half.shape == whole.shape == (STATES,)
    # Where two actions are all but equally good, other processors may round to the other one.
    assert (half == whole).mean() >= 0.995


def write() -> None:
    """Writes the greedy actions of trainings' float32 policies; their folders are the arguments."""
    found = json.loads(GREEDY.read_text()) if GREEDY.exists() else {}
    for folder in (Path(argument) for argument in sys.argv[1:]):
        policy = on_game.load(folder)
        whole = decisions(policy)
        shipped = decisions(on_game.load(SHIPPED / policy.game / policy.name))
        sys.stdout.write(f"{policy.name}: {(whole == shipped).sum()} of {len(whole)}\n")
        found[f"{policy.game}/{policy.name}"] = whole.tolist()
    GREEDY.write_text(json.dumps(found, sort_keys=True, separators=(",", ":")).replace("],", "],\n") + "\n")


if __name__ == "__main__":
    write()
