"""What one player sees, as JSON, and its whole information state, as a string.

Every view is made from public parts of the state and from the colours of cards that the player itself observed; the
tensors (`tensors.py`) are made from a view, so that they cannot show more.
"""

from typing import Any, Final, Literal, TypeAlias

from games.api import Observation
from games.yokai.config import ACTIONS_PER_TURN
from games.yokai.rules import HIDDEN_HINT, YokaiState, turn_start

View: TypeAlias = Literal["default", "memory"]
VIEWS: Final = ("default", "memory")
"""`default`: the colours observed in the turn in progress; `memory`: all colours ever observed."""


def observations(state: YokaiState, players: int, memory: bool) -> list[Observation]:
    """Returns what each player sees, by player id.

    Args:
        state: any state.
        players: number of players.
        memory: serve the view `memory` instead of `default`.
    """
    shared = _public(state, players)
    return [{"you": player, **shared, "colours": known_colours(state, player, memory)} for player in range(players)]


def observation(state: YokaiState, player: int, players: int, memory: bool) -> Observation:
    """Returns what `player` sees; see `observations`."""
    return {"you": player, **_public(state, players), "colours": known_colours(state, player, memory)}


def _public(state: YokaiState, players: int) -> dict[str, Any]:
    turn = state["turn"]
    return {
        "phase": state["phase"],
        "player": state["player"],
        "sub_step": state["sub_step"],
        "turn": turn,
        "colours": None,
        "positions": state["positions"],
        "locked": state["locked"],
        "hints": [HIDDEN_HINT if hint["status"] == "face down" else hint for hint in state["hints"]],
        "observed": state["observed"],
        "recent_actions": state["log"][ACTIONS_PER_TURN * (turn - players) if turn > players else 0 :],
    }


def known_colours(state: YokaiState, player: int, memory: bool) -> list[str | None]:
    """Returns, by card id, the colour that the view shows to `player`, or None.

    Without `memory` these are the cards that the player observed in its turn in progress, with `memory` all that it
    has ever observed.
    """
    colours = state["colours"]
    known: list[str | None] = [None] * len(colours)
    if memory:
        for card in state["observed"][player]:
            known[card] = colours[card]
    elif state["player"] == player:
        for card in seen_this_turn(state["log"][turn_start(state) :]):
            known[card] = colours[card]
    return known


def seen_this_turn(actions: list[str]) -> list[int]:
    """Returns the ids of the cards observed in a turn.

    Args:
        actions: the actions of that turn so far, oldest first.
    """
    return [int(action[8:]) for action in actions[:2] if action.startswith("observe")]


def information_state_string(state: YokaiState, player: int, players: int) -> str:
    """Returns all that `player` knows: every action, its own observations' colours, the colours of revealed hints.

    It is the same whatever the view, and complete (perfect recall), e.g.
    `you are player 0; 0: observe 4 (red); 0: observe 2 (blue); 0: move 2 to 5,5; 0: reveal 1 (red-blue)`.
    """
    parts = [f"you are player {player}"]
    if state["phase"] == "deal":
        parts.append("dealing")
    for index, action in enumerate(state["log"]):
        mover = index // ACTIONS_PER_TURN % players
        parts.append(f"{mover}: {action}{_learned(state, action, mover == player)}")
    return "; ".join(parts)


def _learned(state: YokaiState, action: str, own: bool) -> str:
    if own and action.startswith("observe"):
        return f" ({state['colours'][int(action[8:])]})"
    if action.startswith("reveal"):
        return f" ({'-'.join(state['hints'][int(action[7:])]['colours'])})"
    return ""
