"""What each method trains in: the batched game in a view, through symmetries, as images or as graphs."""

from typing import Any

from arena.training.recipes import Recipe
from games.batched import registry
from games.batched.api import BatchedEnv
from games.batched.other_play import OtherPlay
from search.learn.errors import LearnError
from search.learn.networks.config import GRAPHS


class ObservationError(LearnError):
    """A method cannot be trained on the observations that were asked for."""


def training_env(recipe: Recipe) -> BatchedEnv[Any]:
    """Returns the environment of a recipe whose players all learn.

    Raises:
        ObservationError: Other-Play was asked for on graphs, whose symmetries are not drawn here, or the game has no
            graphs.
    """
    game = registry.make(recipe.game)
    through_symmetries = recipe.method in game.symmetries
    if recipe.network.encoder in GRAPHS:
        if through_symmetries:
            raise ObservationError(
                f"{recipe.method} needs images: choose the encoder cnn or mlp, not {recipe.network.encoder}."
            )
        if game.graph_env is None:
            raise ObservationError(f"{game.id} has no graphs: choose another encoder than {recipe.network.encoder}.")
        return game.graph_env(recipe.view)
    env = game.env(recipe.view)
    return OtherPlay(env, game.symmetry(recipe.method)) if through_symmetries else env
