"""OvercookedV2 of JaxMARL with figures: how often dishes were delivered, rightly or wrongly, and buttons pressed."""

from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
from jaxmarl.environments.overcooked_v2.common import DynamicObject, OvercookedActionsEnum, StaticObject
from jaxmarl.environments.overcooked_v2.overcooked import OvercookedV2

from games.batched.api import Array
from games.batched.from_jaxmarl import FromJaxMarl


def environment(layout: str, settings: Mapping[str, Any]) -> FromJaxMarl:
    """Returns a layout as a batched environment.

    Args:
        layout: JaxMARL's name.
        settings: what JaxMARL is told.
    """
    return FromJaxMarl(
        OvercookedV2(layout, **settings), paid_alike=True, count=counted, seen_in_state=True, restart=restarted
    )


def counted(before: Any, actions: Array, after: Any) -> dict[str, Array]:
    """Returns what a step adds to the figures, int32 []: `deliveries` (right ones), `wrong` ones, `button` presses.

    Whoever interacts stays where he is, and what he holds changes by his own interaction alone, so that the state
    before the step tells what he does.
    """
    agents = before.agents
    ahead = jax.vmap(lambda agent: agent.get_fwd_pos())(agents)
    facing = before.grid[ahead.y, ahead.x, 0]
    acts = actions == OvercookedActionsEnum.interact
    holds = agents.inventory
    delivers = acts & (facing == StaticObject.GOAL) & ((holds & DynamicObject.COOKED) != 0)
    right = holds == (before.recipe | DynamicObject.PLATE | DynamicObject.COOKED)
    presses = acts & (facing == StaticObject.BUTTON_RECIPE_INDICATOR) & (holds == 0)
    return {
        "deliveries": (delivers & right).sum(dtype=jnp.int32),
        "wrong": (delivers & ~right).sum(dtype=jnp.int32),
        "button": presses.sum(dtype=jnp.int32),
    }


def restarted(state: Any) -> Any:
    """Returns a state as the beginning of a game: kitchen, recipe and chefs stay, time and signal do not."""
    return state.replace(
        step=jnp.zeros_like(state.step),
        done=jnp.zeros_like(state.done),
        new_correct_delivery=jnp.zeros_like(state.new_correct_delivery),
    )
