"""A state drawn as text, whole or as one player sees it."""

from typing import Any

from games.yokai.config import Config
from games.yokai.observe import observation
from games.yokai.rules import YokaiState

EMPTY = "  .  "


def render(config: Config, state: YokaiState, player: int | None = None, memory: bool = False) -> str:
    """Returns a drawing of the grid, the hints and the latest actions.

    A card is its colour's first letter and its id, e.g. `r4`; `?4` if the colour is not known; `[r4]` if it is locked.

    Args:
        config: the configuration.
        state: any state.
        player: draw no more than this player sees; None draws everything.
        memory: with `player`: draw the view `memory` instead of `default`.
    """
    shown: dict[str, Any] = state if player is None else observation(state, player, config.players, memory)
    recent = state["log"][-4 * config.players :] if player is None else shown["recent_actions"]
    lines = [_title(config, shown, player), *_board(config, shown), *_hints(shown)]
    lines.append("Latest actions: " + (", ".join(recent) if recent else "none"))
    return "\n".join(lines)


def _title(config: Config, shown: dict[str, Any], player: int | None) -> str:
    seen_by = "" if player is None else f", as player {player} sees it"
    if shown["phase"] == "play":
        now = f"turn {shown['turn']}, sub-step {shown['sub_step']}, player {shown['player']} to act"
    else:
        now = "dealing" if shown["phase"] == "deal" else f"over after {shown['turn']} turns"
    return f"{config.id}: {now}{seen_by}"


def _board(config: Config, shown: dict[str, Any]) -> list[str]:
    cells = {(row, column): card for card, (row, column) in enumerate(shown["positions"])}
    lines = ["    " + "".join(f"{column:^5}" for column in range(config.grid)).rstrip()]
    for row in range(config.grid):
        drawn = [_card(shown, cells.get((row, column))) for column in range(config.grid)]
        lines.append(f"{row:>2}  " + "".join(drawn).rstrip())
    return lines


def _card(shown: dict[str, Any], card: int | None) -> str:
    if card is None:
        return EMPTY
    colour = shown["colours"][card]
    name = f"{colour[0] if colour else '?'}{card}"
    return f"{f'[{name}]' if shown['locked'][card] else name:^5}"


def _hints(shown: dict[str, Any]) -> list[str]:
    lines = []
    for index, hint in enumerate(shown["hints"]):
        colours = "-".join(hint["colours"]) if hint["colours"] else "?"
        where = f" on card {hint['card']}" if hint["card"] is not None else ""
        lines.append(f"Hint {index}: {colours}, {hint['status']}{where}")
    return lines
