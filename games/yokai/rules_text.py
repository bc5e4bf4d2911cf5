"""The rules of one configuration as text, from the template `RULES.md`."""

from functools import cache
from importlib import resources
from string import Template
from typing import Final

from games.yokai.config import Config

NOTES: Final = "\n## Notes\n"
"""What follows this heading is for people, not part of the rules."""
COUNTS: Final = ("zero", "one", "two", "three", "four")

DEFAULT_COLOURS: Final = """\
**Colours, and when they are forgotten.** In `colours` every card is null, except where the phase is "play" and the
observing player is the one whose turn it is: then the cards that it has observed in the turn in progress (none at
sub-step 1, one card at sub-step 2, two at sub-steps 3 and 4) show their colours, by card id, wherever they have moved.
As soon as the turn is over they are null again. The cards that other players observe are never shown, nor are those of
earlier turns, not even if a hint was placed on them."""
MEMORY_COLOURS: Final = """\
**Colours.** In `colours` the cards that the observing player has ever observed (those in its own list in `observed`)
show their colours, by card id, wherever they have moved, at every state from then on, locked or not, whosever turn it
is. All others are null."""

START: Final = "* **Start**: "
AFTER_START: Final = "* **Hints**: "
RING_START: Final = """\
* **Start**: the cards form a ring: a square of $start by $start without its middle cell, [$middle, $middle], which is
  empty. The ids go row by row, from left to right: cards 0 to $last_card start at
  $start_cells.
"""
"""Stands in for what the template says of the start where the cards form a ring."""


@cache
def template() -> str:
    """Returns `RULES.md` as it is, with its `$` placeholders and its notes."""
    return resources.files("games.yokai").joinpath("RULES.md").read_text(encoding="utf-8")


def rules_text(config: Config, memory: bool = False) -> str:
    """Returns the rules with the numbers of `config` filled in, without the notes.

    Args:
        config: the configuration.
        memory: describe observations in the view `memory` instead of `default`.
    """
    text = template().split(NOTES)[0]
    if config.is_ring:
        before, rest = text.split(START)
        text = before + RING_START + AFTER_START + rest.split(AFTER_START)[1]
    return Template(text).substitute(_numbers(config), **_view(memory)).rstrip() + "\n"


def _view(memory: bool) -> dict[str, str]:
    if memory:
        return {"colours_rule": MEMORY_COLOURS, "end_rule": ""}
    return {"colours_rule": DEFAULT_COLOURS, "end_rule": ", so all its `colours` are null"}


def _numbers(config: Config) -> dict[str, str | int]:
    colours, hints, players = len(config.colours), config.hints, config.players
    return {
        "cards": config.cards,
        "last_card": config.cards - 1,
        "players": players,
        "last_player": players - 1,
        "player_ids": _listed([str(player) for player in range(players)]),
        "player_names": _listed([f'"player_{player}"' for player in range(players)]),
        "n_colours": colours,
        "colour_list": ", ".join(config.colours),
        "per_colour": config.cards_per_colour,
        "grid": config.grid,
        "last_cell": config.grid - 1,
        "start": config.start,
        "start_last": config.offset + config.start - 1,
        "middle": config.offset + config.start // 2,
        "start_cells": _listed([str(position) for position in config.start_positions()]),
        "hints": hints,
        "last_hint": hints - 1,
        "hints_less_one": hints - 1,
        "full_example": hints - 2,
        "hint_sizes": _hint_sizes(config),
        "example_hint": "-".join((config.colours[0], config.colours[min(2, colours - 1)])),
        "subset_list": ", ".join(f"`hint {'-'.join(subset)}`" for subset in config.subsets),
        "deals": config.cards + hints,
        "max_length": config.max_length,
        "turns": 2 * hints,
        "end_lost": -1 - colours,
        "min": -(colours + hints),
        "max": 5 * hints,
    }


def _listed(words: list[str]) -> str:
    return ", ".join(words[:-1]) + " and " + words[-1]


def _hint_sizes(config: Config) -> str:
    parts = []
    for size, count in enumerate(config.hints_by_size, start=1):
        if count:
            shows = "shows" if count == 1 else "show"
            parts.append(f"{count} {shows} {COUNTS[size]} colour{'s' if size > 1 else ''}")
    return _listed(parts)
