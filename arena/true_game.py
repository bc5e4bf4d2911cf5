"""The registered game that a model is a model of."""

from cwm.model.bundle import ModelBundle
from games import registry
from games.api import Game, state_to_json


def true_game(bundle: ModelBundle) -> Game | None:
    """Returns the registered game of a model, None if there is none.

    A user's own game may bear a registered one's name, and starts otherwise.
    """
    info = bundle.game_info
    if info.id not in registry.ids():
        return None
    game = registry.make(info.id)
    same = state_to_json(game, game.initial_state()) == bundle.initial_state
    return game if same and game.info.num_players == info.num_players else None
