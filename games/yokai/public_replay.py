"""What a player saw at every step of a game, rebuilt from what it was shown at its own decision points alone.

Whoever acts only when it is its turn, but reads a view at every step (a network with a memory, trained so), needs the
views in between. They hold nothing that the player was not told later: actions are public, a hint that is face up now
was face down before, and colours are shown to a player at its own decision points alone.
"""

from collections.abc import Sequence
from typing import Any

from games.api import GameError, Observation
from games.yokai import observe
from games.yokai.config import Config
from games.yokai.resample import known_colours, public_log
from games.yokai.rules import HIDDEN_HINT, YokaiState, rules_of


def views(config: Config, history: Sequence[Observation], memory: bool, first: int = 0) -> list[Observation]:
    """Returns what the player saw before every action of the game, from action `first` up to its present decision.

    Args:
        config: the configuration.
        history: the player's own decision points, oldest first, all in one view.
        memory: whether that view is `memory`, not `default`.
        first: actions of the game before the first view that is wanted.

    Raises:
        GameError: the history is empty, has gaps, or is of another view.
    """
    if not history:
        raise GameError("the history is empty; a player's history holds at least its current decision point.")
    log = public_log(config, history)
    player = history[-1]["you"]
    rules = rules_of(config)
    state = _known_start(config, history)
    found = []
    for number, action in enumerate([*log, None]):
        if number >= first:
            found.append(observe.observation(state, player, config.players, memory))
        if action is not None:
            state = rules.apply_action(state, action)
    if found and found[-1] != history[-1]:
        raise GameError(
            f"the history of player {player} does not lead to its last view: pass every own decision point, all in "
            f"the view {'memory' if memory else 'default'}."
        )
    return found


def _known_start(config: Config, history: Sequence[Observation]) -> YokaiState:
    """Returns the start of the game, of whose deal nothing is set but what the player knows now."""
    hints = [_face_down(hint) for hint in history[-1]["hints"]]
    return {
        **rules_of(config).initial_state(),
        "phase": "play",
        "player": 0,
        "sub_step": 1,
        "colours": known_colours(config, history),
        "hints": hints,
    }


def _face_down(hint: dict[str, Any]) -> dict[str, Any]:
    return {**HIDDEN_HINT, "colours": hint["colours"]}
