"""Compiled loops of many games, timed."""

import itertools

import jax.numpy as jnp
import pytest

from arena.benchmarks import batched_steps


def test_a_loop_carries_its_state_and_its_rate_counts_the_steps_of_all_lanes(monkeypatch):
    seconds = itertools.count(step=2.0)
    monkeypatch.setattr(batched_steps.time, "perf_counter", lambda: next(seconds))
    begun = []

    def begin(key):
        begun.append(key)
        return jnp.zeros(3)

    def step(state, key):
        return state + 1, state.sum()

    rate = batched_steps.loop_rate(begin, step, lanes=3, steps=8)
    assert [rate(), rate()] == [12.0, 12.0]
    assert len(begun) == 1


@pytest.mark.slow
def test_a_batched_game_is_played_as_often_as_it_is_asked():
    rate = batched_steps.rate_of("hanabi-tiny-2p", 4, 2)
    assert rate() > 0
    assert rate() > 0
