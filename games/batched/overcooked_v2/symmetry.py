"""The symmetries of OvercookedV2: ingredients of recipes trade places in what a player sees; actions stay the same.

As in the OvercookedV2 paper (section 7): ingredients that are in no recipe stay where they are.
"""

from collections.abc import Sequence
from itertools import permutations
from typing import Any

import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

DIRECTIONS = 4
FIXED = 6
"""Layers of walls, goals, pots, indicators, buttons and plates."""
HELD = 2
"""Layers of an item beside its ingredients: whether it is plated, and whether it is cooked."""


class IngredientSymmetries:
    """All permutations of the recipes' ingredients that leave the recipes what they are, as a set; 0 changes nothing.

    Attributes:
        ingredient_to: int32 [E, n], the image of every ingredient.
        layer_from: int32 [E, C], by layer of an image, which one it is.
    """

    def __init__(self, ingredients: int, recipes: Sequence[Sequence[int]], layers: int) -> None:
        """Builds the tables of a layout.

        Args:
            ingredients: n, those of no recipe included.
            recipes: three ingredients each.
            layers: C, of an observation.
        """
        self.ingredient_to = np.array(_permutations(ingredients, recipes), np.int32)
        self.layer_from = np.stack([_layers(np.argsort(to), layers) for to in self.ingredient_to])

    def __len__(self) -> int:
        return len(self.ingredient_to)

    def action(self, number: Any, action: Any) -> Any:
        """Returns the image of an action, int32 []: itself."""
        return action

    def inverse_action(self, number: Any, action: Any) -> Any:
        """Returns the action, int32 [], whose image is the given one: itself."""
        return action

    def mask(self, number: Any, mask: Any) -> Any:
        """Returns the image of a mask of legal actions, bool [N]: itself."""
        return mask

    def image(self, number: Any, image: Any) -> Any:
        """Returns the image of what a player sees, float32 [h, w, C]."""
        return image[..., jnp.asarray(self.layer_from)[number]]


def _permutations(ingredients: int, recipes: Sequence[Sequence[int]]) -> list[list[int]]:
    """Returns the images of all ingredients, by permutation; the first one is the identity."""
    known = {tuple(sorted(recipe)) for recipe in recipes}
    used = sorted({ingredient for recipe in known for ingredient in recipe})
    found = []
    for images in permutations(used):
        to = list(range(ingredients))
        for ingredient, image in zip(used, images, strict=True):
            to[ingredient] = image
        if {tuple(sorted(to[ingredient] for ingredient in recipe)) for recipe in known} == known:
            found.append(to)
    return found


def _layers(source: NDArray[np.intp], layers: int) -> NDArray[np.int32]:
    """Returns by layer which one it is, given from which ingredient each comes."""
    found = np.arange(layers, dtype=np.int32)
    ingredients = len(source)
    chef = 1 + DIRECTIONS + HELD + ingredients
    piles = 2 * chef + FIXED
    items = piles + ingredients
    recipe = items + HELD + ingredients
    for first in (chef - ingredients, 2 * chef - ingredients, piles, items + HELD, recipe + HELD):
        found[first : first + ingredients] = first + source
    return found
