"""What seats see as vectors of fixed length and bounds, and their actions as numbers: what learners elsewhere read."""

import random
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from games.adapters.action_table import ActionTable, action_tables
from games.adapters.seats import MOST_ACTIONS, chance_by, posg_in, turns_in
from games.api import CHANCE, TERMINAL, Action, Game, GameError, Json, Observation
from games.posg.api import PosgModel, Vectors

Floats: TypeAlias = npt.NDArray[np.float32]
Mask: TypeAlias = npt.NDArray[np.int8]

LARGEST: Final = 1e30
"""Numbers of an encoder that states no bounds are cut off here: larger ones do not fit where single precision is enough
for learning."""


class ObservationEncoder(Protocol):
    """Writes observations, as JSON, as vectors of one length."""

    @property
    def width(self) -> int:
        """Length of every vector."""
        ...

    def encode(self, observation: Json) -> Sequence[float]:
        """Returns an observation as numbers.

        Raises:
            ValueError: it cannot be written so; the message says why.
        """
        ...


class SeatVectors:
    """Vectors of one seat: the game's own where it has them, else those of an encoder.

    Attributes:
        low: bounds from below, float32 [width].
        high: bounds from above.
        own: whether the game's own, which are made of what it tells without a detour over JSON.
        unfit: observations so far that the encoder could not write; they are all zeros.
    """

    def __init__(self, game: Game | PosgModel, seat: int, encoder: ObservationEncoder | None) -> None:
        """Args:
        game: whose.
        seat: which.
        encoder: of observations; None for the game's own vectors.

        Raises:
            GameError: there is no encoder, and the game has no vectors of its own; or vectors would be empty.
        """
        self._seat, self._encoder, self.unfit = seat, encoder, 0
        self._id = game.info.id
        model = posg_in(game)
        self._vectors = model if encoder is None and isinstance(model, Vectors) else None
        self.own = self._vectors is not None
        if self._vectors is not None:
            low, high = self._vectors.vector_bounds(seat)
            self.low: Floats = np.asarray(low, np.float32)
            self.high: Floats = np.asarray(high, np.float32)
        elif encoder is not None:
            self.high = np.full(encoder.width, LARGEST, np.float32)
            self.low = np.full(encoder.width, -LARGEST, np.float32)
        else:
            raise GameError(
                f"{self._id} has no vectors of its own: give an encoder, or use `cwm.gymnasium_env`, which infers one "
                "from sample games."
            )
        if not self.low.size:
            raise GameError(f"{self._id}: all sample observations are the same, so that nothing is left to encode.")

    def write(self, raw: Json, seen: Observation) -> Floats:
        """Returns what the seat was told as a vector, float32 [width]; zeros, with one warning, where it does not fit.

        Args:
            raw: as the game itself has it.
            seen: as JSON.
        """
        if self._vectors is not None:
            return np.asarray(self._vectors.encode(self._seat, raw), np.float32)
        assert self._encoder is not None
        try:
            numbers = self._encoder.encode(seen)
        except ValueError as error:
            self.unfit += 1
            if self.unfit == 1:
                warnings.warn(
                    f"{self._id}: an observation does not fit its encoder and is told as zeros ({error}); let it be "
                    "inferred from more sample games.",
                    stacklevel=2,
                )
            return np.zeros_like(self.low)
        return np.clip(np.asarray(numbers, np.float64), -LARGEST, LARGEST).astype(np.float32)


def table_of(game: Game | PosgModel, agent: int, actions: Sequence[Action] | None) -> ActionTable:
    """Returns the numbers of an agent's actions.

    Args:
        game: whose.
        agent: which; of a game of turns all have the same table.
        actions: the list, None for the one that the rules of simultaneous moves state or that a search finds.

    Raises:
        GameError: the list is empty, or names an action twice.
    """
    if actions is None:
        model = posg_in(game)
        if model is not None:
            return ActionTable(game.info.id, model.info.actions[agent])
        return action_tables(turns_in(game), None, None)[0]
    if not actions or len(set(actions)) < len(actions):
        raise GameError(f"{game.info.id}: the list of actions must name at least one, and none twice.")
    return ActionTable(game.info.id, actions)


def mask_of(table: ActionTable, legal: Sequence[Action]) -> Mask:
    """Returns which actions are legal, int8 [N]; the first alone where nothing is asked.

    Raises:
        GameError: none of the legal ones is in the table.
    """
    allowed = set(legal)
    mask = np.fromiter((name in allowed for name in table.names), np.int8, len(table.names))
    if not mask.any():
        if legal:
            raise GameError(
                f"{table.game_id}: none of the legal actions {', '.join(list(legal)[:5])} is among the "
                f"{len(table.names)} known; give the list of all actions."
            )
        mask[0] = 1
    return mask


def legal_choice(table: ActionTable, number: object, mask: Mask) -> tuple[Action, bool]:
    """Returns the action of a number, and whether it was legal: else it is the legal one of the lowest number.

    Raises:
        GameError: it is no number of the table.
    """
    chosen = int(number) if isinstance(number, int | np.integer | np.ndarray) and np.ndim(number) == 0 else -1
    if not 0 <= chosen < len(table.names):
        raise GameError(f"{table.game_id} has the actions 0 to {len(table.names) - 1}, not {number!r}.")
    is_legal = bool(mask[chosen])
    return table.names[chosen if is_legal else int(mask.argmax())], is_legal


@dataclass(frozen=True)
class Samples:
    """What random games met.

    Attributes:
        observations: by player, at every decision of anybody's and at the end.
        actions: by player, sorted.
    """

    observations: tuple[list[Observation], ...]
    actions: tuple[tuple[Action, ...], ...]


def sample_games(game: Game | PosgModel, games: int, seed: int = 0) -> Samples:
    """Plays uniformly random games.

    Args:
        game: which.
        games: how many.
        seed: of all that happens.

    Raises:
        GameError: no game is asked for.
    """
    if games < 1:
        raise GameError(f"{game.info.id}: a schema needs at least 1 sample game, not {games}.")
    played, rng = turns_in(game), random.Random(seed)
    most = played.info.max_length or MOST_ACTIONS
    seen: list[list[Observation]] = [[] for _ in range(played.info.num_players)]
    actions: list[set[Action]] = [set() for _ in seen]
    for _ in range(games):
        state, number = played.initial_state(), 0
        while (player := played.current_player(state)) == CHANCE or number < most:
            if player == CHANCE:
                state = played.apply_action(state, chance_by(played, state, rng))
                continue
            for own, observation in zip(seen, played.observations(state), strict=True):
                own.append(observation)
            if player == TERMINAL:
                break
            legal, number = played.legal_actions(state), number + 1
            actions[player].update(legal)
            state = played.apply_action(state, rng.choice(legal))
    return Samples(tuple(seen), tuple(tuple(sorted(own)) for own in actions))
