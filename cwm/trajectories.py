"""Recorded games: what happened at every step, as versioned JSON lines."""

import json
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from games.api import CHANCE, TERMINAL, Action, Game, Json, ObsActionHistory, Observation, State, state_to_json

FORMAT_VERSION = 1
MAX_STEPS = 100_000
"""A game that has not ended by then is given up as endless."""

Policy: TypeAlias = Callable[[Game, State, ObsActionHistory, int, random.Random], Action]
"""Chooses an action: (game, state, the player's own history, player, rng). May look at the whole state."""


class TrajectoryFormatError(ValueError):
    """A trajectory file breaks the schema; the message names the file, the line and the field."""


@dataclass(frozen=True)
class Step:
    """One state of a game and what was done there.

    Attributes:
        state: the hidden state as JSON; None in a closed-deck recording.
        player: who moves: 0, 1, …, -1 (chance) or -4 (over).
        legal_actions: of the player to move; chance's outcomes at a chance node; [] at the end.
        chance: (action, probability) at a chance node, else [].
        rewards: what the action before paid, one float a player.
        observations: what each player sees, by player id.
        action: what was done; None at the end.
    """

    state: Json
    player: int
    legal_actions: tuple[Action, ...]
    chance: tuple[tuple[Action, float], ...]
    rewards: tuple[float, ...]
    observations: tuple[Observation, ...]
    action: Action | None


@dataclass(frozen=True)
class Trajectory:
    """A whole game, from the initial state to the end.

    Attributes:
        game: id of the game.
        index: number within its file.
        seed: what the game was drawn with, None if unknown.
        player_names: by player id.
        steps: the last one has `action` None.
    """

    game: str
    index: int
    seed: int | None
    player_names: tuple[str, ...]
    steps: tuple[Step, ...]

    @property
    def returns(self) -> list[float]:
        """Sum of the rewards, shape [num_players]."""
        return [sum(column) for column in zip(*(step.rewards for step in self.steps), strict=True)]

    def history(self, player: int, end: int) -> list[tuple[Observation, Action | None]]:
        """Returns `player`'s own decision points among steps 0..end, the last action None.

        Args:
            player: whose.
            end: index of a step at which `player` moves.
        """
        own = [(step.observations[player], step.action) for step in self.steps[: end + 1] if step.player == player]
        return [*own[:-1], (own[-1][0], None)]
