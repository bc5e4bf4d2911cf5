import sys

import jax
import numpy as np
import pytest

from arena.benchmarks import yokai_paper_method, yokai_speed
from arena.machine import accelerated
from games.api import GameError
from games.batched.yokai.environment import YokaiEnv, make
from games.batched.yokai.moves import legal_moves


@pytest.mark.parametrize("game_id", ["yokai-9c-2p", pytest.param("yokai-16c-2p", marks=pytest.mark.slow)])
def test_the_papers_method_finds_the_same_moves(game_id):
    env = make(game_id)
    state = jax.jit(env.init)(jax.random.split(jax.random.key(0), 4))
    step, sample = jax.jit(env.step), jax.jit(env.sample)
    for number in range(1, 24):
        drawn = np.asarray(sample(state, jax.random.uniform(jax.random.key(number), (4,))))
        state, _ = step(state, np.where(drawn == env.num_actions - 1, 1, drawn))
    paper = jax.jit(lambda s: yokai_paper_method.legal_moves(env.sizes, s.cells, s.locked))
    ours = jax.jit(lambda s: legal_moves(env.sizes, s.cells, s.locked))
    np.testing.assert_array_equal(paper(state), ours(state))
    assert np.asarray(ours(state)).any()


def test_squarings_reach_the_longest_path():
    assert yokai_paper_method.squarings(make("yokai-9c-2p").sizes) == 3
    assert yokai_paper_method.squarings(make("yokai-16c-2p").sizes) == 4
    assert yokai_paper_method.squarings(make("yokai-8c-2p").sizes) == 3
    assert yokai_paper_method.flops(make("yokai-9c-2p").sizes) == 729 * 3 * 2 * 729


def test_the_measured_program_folds_everything_into_its_checksum():
    loop = yokai_speed.program(YokaiEnv(9, 2), lanes=4, steps=6, device="cpu")
    first = loop.run(loop.carry, jax.random.key(1))
    again = loop.run(loop.carry, jax.random.key(1))
    assert int(first[3]) == int(again[3]) != 0
    assert loop.rate() > 0


def test_without_jax_one_sentence_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "jax", None)
    monkeypatch.delitem(sys.modules, "arena.benchmarks.yokai_speed")
    with pytest.raises(GameError, match="pip install"):
        accelerated.load("arena.benchmarks.yokai_speed")
