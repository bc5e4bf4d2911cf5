import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from arena.checkpoints import on_game
from arena.checkpoints.on_game import LearnedPolicy
from arena.policy_play import cross_play
from arena.policy_play.cross_play import PolicyTable, by_method, load_all, seatings
from games.batched.yokai.border_cells import border_moves
from search.learn import checkpoint
from search.learn.errors import CheckpointError
from search.learn.networks.actor_critic import ActorCritic
from search.learn.networks.config import NetworkConfig
from search.learn.play.evaluation import PolicyEvaluator

GAME = "yokai-8c-2p"
NETWORK = NetworkConfig(encoder="mlp", filters=8, layers=1, hidden=8, head_scale=1.0)


def untrained(folder: Path, name: str, seed: int, view: str = "memory", method: str = "sp") -> Path:
    env = on_game.environment(GAME, view, NETWORK)
    network = ActorCritic(NETWORK, env.num_actions)
    params = jax.jit(network.init)(jax.random.key(seed), jnp.zeros((1, 1, *env.image_shape)))
    about = {"name": name, "game": GAME, "view": view, "method": method, "seed": seed, "steps": 0}
    checkpoint.save_policy(folder / name, params, {**about, "network": NETWORK.to_json(), "ppo": {}})
    return folder / name


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("checkpoints")
    untrained(place, "sp-s0", 0)
    untrained(place, "sp-s1", 1)
    return place


@pytest.fixture(scope="module")
def chosen(folder: Path) -> list[LearnedPolicy]:
    return load_all(GAME, [str(folder)])


@pytest.fixture(scope="module")
def found(chosen: list[LearnedPolicy]) -> Any:
    told: list[tuple[int, int]] = []
    result = cross_play.run(chosen, games=40, on_seating=lambda done, total: told.append((done, total)))
    assert told == [(1, 4), (2, 4), (3, 4), (4, 4)]
    return result


def test_everybody_meets_everybody_in_both_seats_on_the_deals(found: Any) -> None:
    assert set(found.seatings) == {"sp-s0 + sp-s0", "sp-s0 + sp-s1", "sp-s1 + sp-s0", "sp-s1 + sp-s1"}
    assert found.found.table.games == 160
    assert [(result.lineup, result.games) for result in found.found.lineups(alone=False)] == [(("sp-s0", "sp-s1"), 80)]
    pair = found.found.table.matrix[0][1]
    assert pair.n == 40
    assert pair.mean == pytest.approx((found.seatings["sp-s0 + sp-s1"] + found.seatings["sp-s1 + sp-s0"]) / 2)
    (method,) = found.methods
    assert method.policies == ("sp-s0", "sp-s1")
    assert method.cross_play.score.mean == pytest.approx(pair.mean)
    assert 0 < method.border_alone.mean < 1
    assert found.between == ()


def test_figures_are_json(found: Any) -> None:
    read = json.loads(json.dumps(found.to_json(), allow_nan=False))
    assert read["settings"] == {"games": 40, "seed": 0, "greedy": False}
    assert read["policies"]["sp-s1"]["seed"] == 1


def test_a_game_is_the_one_that_its_policies_play_step_by_step(chosen: list[LearnedPolicy]) -> None:
    """Greedy play against the network itself, read one position at a time without evaluator or memory carried by it."""
    table = PolicyTable(chosen)
    games = 5
    evaluator = PolicyEvaluator(table.env, table.steps, True, border_moves(table.env.sizes))
    deals = table.deals(games, 3)
    played = table.play(evaluator, ("sp-s0", "sp-s1"), deals, 3)
    env = chosen[0].env()
    state = jax.jit(env.init)(deals)
    show = jax.jit(lambda state: (env.observe(state), env.legal_mask(state)))
    step, read = jax.jit(env.step), jax.jit(chosen[0].network.apply)
    memories = [chosen[0].network.initial_memory(games)] * 2
    for number in range(table.steps):
        image, legal = show(state)
        actions = []
        for seat, policy in enumerate(chosen):
            starts = jnp.full((1, games), number == 0)
            memories[seat], said = read(policy.params, memories[seat], image[None, :, seat], starts)
            actions.append(np.where(legal[:, seat], said.logits[0], -np.inf).argmax(axis=1))
        state, _ = step(state, jnp.stack(actions, axis=1))
    outcome = jax.jit(env.outcome)(state)
    np.testing.assert_array_equal(played.outcome.total, outcome.total)
    np.testing.assert_array_equal(played.outcome.length, outcome.length)


def test_views_may_be_mixed_at_one_table(chosen: list[LearnedPolicy], folder: Path, tmp_path: Path) -> None:
    other = on_game.load(untrained(tmp_path, "plain", 1, view="default"))
    table = PolicyTable([*chosen, other])
    assert table.seats["sp-s0"].reader == table.seats["sp-s1"].reader != table.seats["plain"].reader
    assert by_method([*chosen, other]) == {"sp, memory view": ["sp-s0", "sp-s1"], "sp, default view": ["plain"]}
    evaluator = PolicyEvaluator(table.env, table.steps, watch=border_moves(table.env.sizes))
    played = table.play(evaluator, ("sp-s0", "plain"), table.deals(4, 0), 0)
    assert played.outcome.length.shape == (4,)


def test_policies_that_were_trained_otherwise_are_no_seeds_of_one_method(chosen: list[LearnedPolicy]) -> None:
    def told(name: str, **about: Any) -> LearnedPolicy:
        return replace(chosen[0], name=name, about={"method": "sp", "ppo": {"entropy": 0.05}, "steps": 9} | about)

    same = [told("a", seed=0), told("b", seed=1)]
    assert by_method(same) == {"sp": ["a", "b"]}
    # E.g. the ages of a population of Fictitious Co-Play.
    assert by_method([*same, told("c", steps=3)]) == {"sp, steps 9": ["a", "b"], "sp, steps 3": ["c"]}
    other = told("d", ppo={"entropy": 0.01}, network={"hidden": 8})
    assert by_method([*same, other]) == {"sp, ppo.entropy 0.05": ["a", "b"], "sp, ppo.entropy 0.01": ["d"]}
    assert by_method([told("e", method="op"), *same]) == {"op": ["e"], "sp": ["a", "b"]}


def test_pairs_are_ordered_and_more_players_sit_in_tuples_of_one_methods_seeds() -> None:
    methods = {"sp": ["a", "b"], "op": ["c"]}
    assert len(seatings(methods, 2, 0)) == 9
    assert seatings({"sp": ["a", "b", "c"]}, 3, 0)[3:] == [
        ("a", "b", "c"), ("a", "c", "b"), ("b", "a", "c"), ("b", "c", "a"), ("c", "a", "b"), ("c", "b", "a")
    ]  # fmt: skip
    assert len(seatings({"sp": ["a", "b"]}, 3, 0)) == 2 + 6
    many = {"sp": [str(number) for number in range(12)]}
    drawn = seatings(many, 4, 0)[12:]
    assert len(drawn) == len(set(drawn)) == 30
    assert all(len(set(seating)) == 4 for seating in drawn)
    assert drawn == seatings(many, 4, 0)[12:] != seatings(many, 4, 1)[12:]


def test_checkpoints_of_other_games_and_of_one_name_are_refused(folder: Path) -> None:
    with pytest.raises(CheckpointError, match="was trained on yokai-8c-2p, not on yokai-9c-2p"):
        load_all("yokai-9c-2p", [str(folder)])
    with pytest.raises(CheckpointError, match="Two checkpoints are named sp-s0"):
        load_all(GAME, [str(folder), str(folder / "sp-s0")])
    with pytest.raises(CheckpointError, match="No checkpoint 'nobody'"):
        load_all(GAME, ["nobody"])


def test_a_policy_plays_the_same_games_whoever_else_is_compared(chosen: list[LearnedPolicy], found: Any) -> None:
    alone = cross_play.run([replace(chosen[0])], games=40)
    assert alone.seatings["sp-s0 + sp-s0"] == found.seatings["sp-s0 + sp-s0"]
    assert alone.found.cross_play is alone.found.gap is None
