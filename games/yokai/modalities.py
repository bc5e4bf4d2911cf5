"""Which channels of a node mean one thing together, and how wide a network embeds them (the Yōkai paper, D.2)."""

from itertools import pairwise

from games.yokai.config import Config
from games.yokai.tensors import channels

WIDTH = 4
CURRENT_WIDTH = 2
"""Of the flag that says whether the observer is the current player."""


def modalities(config: Config) -> tuple[tuple[int, int, int], ...]:
    """Returns (first channel, channel after the last, width of the embedding) of the seven modalities, 26 wide in all.

    They are colour (those of a card and those of a hint), position, locked, current player, sub-step, identity and
    observed in the turn in progress, and cover every channel once.
    """
    at = channels(config)
    bounds = (0, at.row, at.locked, at.is_current, at.sub_step, at.identity, at.observed, at.total)
    return tuple((first, end, CURRENT_WIDTH if first == at.is_current else WIDTH) for first, end in pairwise(bounds))
