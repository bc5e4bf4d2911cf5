"""Trainings of several seeds as one: every leaf of their states gets a leading axis of seeds."""

from collections.abc import Callable, Sequence
from typing import TypeVar

import jax

from search.learn.api import Array
from search.learn.play.several_policies import stacked

T = TypeVar("T")


def begun(begin: Callable[[Array], T], seeds: Sequence[int]) -> T:
    """Returns the states before the first update, leaves [seeds, ...].

    One after another: QR decompositions side by side may never return on processors with few cores (jaxlib 0.10).

    Args:
        begin: makes one state of a typed key; it is compiled.
        seeds: one state each, at least one.
    """
    compiled = jax.jit(begin)
    states: T = stacked([compiled(jax.random.key(seed)) for seed in seeds])
    return states
