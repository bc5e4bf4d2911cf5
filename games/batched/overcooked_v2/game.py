"""Batched OvercookedV2 as learners know it: environments, symmetries, metrics."""

from functools import cache, partial
from typing import Final

import jax
from jaxmarl.environments.overcooked_v2.layouts import overcooked_v2_layouts

from games.api import DEFAULT_VIEW, GameError
from games.batched.api import GAMES, LENGTH, TOTAL, Means
from games.batched.from_jaxmarl import FromJaxMarl
from games.batched.game import BatchedGame
from games.batched.overcooked_v2.environment import environment
from games.batched.overcooked_v2.symmetry import IngredientSymmetries
from games.batched.overcooked_v2.table import OvercookedTable
from games.posg.overcooked_v2 import layouts

MEANS: Final[Means] = {
    "return": (TOTAL, GAMES),
    "deliveries": ("deliveries", GAMES),
    "wrong": ("wrong", GAMES),
    "button": ("button", GAMES),
    "LEN": (LENGTH, GAMES),
}
REDUCED_STEPS: Final = 3_000_000
"""Environment steps of a small network on a processor, on a small layout."""


@cache
def make(game_id: str) -> BatchedGame:
    """Returns a layout, always the same one: what is compiled for its environments is so once.

    Raises:
        GameError: there is no such layout, or no such option of it.
    """
    layout, chosen = layouts.parse(game_id)
    told = layouts.settings(chosen)
    plan = overcooked_v2_layouts[layout.name]

    @cache
    def env(view: str) -> FromJaxMarl:
        if view != DEFAULT_VIEW:
            raise GameError(f"{game_id} has no view {view!r}; it has {DEFAULT_VIEW}.")
        with (
            jax.ensure_compile_time_eval()
        ):  # JaxMARL makes arrays there, which outlive a trace that asks for them first
            return environment(layout.name, told)

    def symmetries() -> IngredientSymmetries:
        return IngredientSymmetries(plan.num_ingredients, plan.possible_recipes, env(DEFAULT_VIEW).image_shape[-1])

    return BatchedGame(
        id=game_id,
        num_players=len(plan.agent_positions),
        max_length=told["max_steps"],
        round_length=1,
        reduced_steps=REDUCED_STEPS,
        env=env,
        symmetries={"op-ing": symmetries} if layout.symmetric else {},
        means=MEANS,
        table=partial(OvercookedTable, game_id),
        simultaneous=True,
    )
