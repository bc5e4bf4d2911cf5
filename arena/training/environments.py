"""What each method trains in: the batched game in a view, through symmetries, as images or as graphs."""

from typing import Any, Final

from arena.training.recipes import Recipe
from games.batched.api import BatchedEnv
from games.batched.other_play import OtherPlay
from games.batched.yokai.environment import make
from games.batched.yokai.graph import YokaiGraphEnv
from games.yokai.symmetry import Symmetries
from search.learn.errors import LearnError
from search.learn.networks.config import GRAPHS

SYMMETRIES: Final[dict[str, dict[str, bool]]] = {
    "op": {"colours": True, "turns": True},
    "op-rot": {"colours": False, "turns": True},
    "op-col": {"colours": True, "turns": False},
    "op-paper": {"colours": True, "turns": True, "relabel": False},
    "op-rot-paper": {"colours": False, "turns": True, "relabel": False},
}
"""Which symmetries each kind of Other-Play draws from (`games.yokai.symmetry.Symmetries`)."""


class ObservationError(LearnError):
    """A method cannot be trained on the observations that were asked for."""


def training_env(recipe: Recipe) -> BatchedEnv[Any]:
    """Returns the environment of a recipe whose players all learn.

    Raises:
        ObservationError: Other-Play was asked for on graphs, whose symmetries are not drawn here.
    """
    config = make(recipe.game).sizes.config
    if recipe.network.encoder in GRAPHS:
        if recipe.method in SYMMETRIES:
            raise ObservationError(
                f"{recipe.method} needs images: choose the encoder cnn or mlp, not {recipe.network.encoder}."
            )
        return YokaiGraphEnv(config.cards, config.players, recipe.memory)
    env = make(recipe.game, memory=recipe.memory)
    if recipe.method in SYMMETRIES:
        return OtherPlay(env, Symmetries(config, **SYMMETRIES[recipe.method]))
    return env
