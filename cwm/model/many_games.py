"""Many games of one model side by side, for an agent that learns at one seat: all else is played by chance.

Loaded into workers: standard library alone. The parent asks for `begin`
once and then for `step` after `step`; what it learns is arrays, beside a small JSON. A game is a function of its seed,
of its number, and of the learner's actions in it, so that a `snapshot` is as small as those.
"""

import random
from struct import pack
from time import perf_counter
from typing import Any, Final

from cwm.model.walk import LARGEST, EndlessWalkError, Walk, count, message_of
from cwm.observations.values import ObservationVectorError
from cwm.observations.vectors import ObservationVectors
from cwm.sandbox.wire.arrays import BinaryArray
from cwm.sandbox.wire.plain_json import normalise
from games.api import Action, Json, Observation

PAYLOAD: Final = (
    "cwm.observations.values",
    "cwm.observations.structures",
    "cwm.observations.schema",
    "cwm.observations.vectors",
    "cwm.model.walk",
    "cwm.model.many_games",
)
"""The modules that a worker must load, each after those it imports."""
MOST_FRUITLESS: Final = 200
"""So many games in a row without a decision for the learner are no accident."""


class ModelBrokenError(Exception):
    """The model cannot be learned on: game after game ends before the learner is asked."""


class _Slot:
    """One of the games side by side, and those that follow it at its place."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.episode = -1
        self.choices: list[int] = []
        self.walk: Walk | None = None
        self.vector: list[float] | None = None
        self.observation: Json = None
        self.mask = b""


class VectorGames:
    """Games side by side; see `begin`."""

    def __init__(self, game: Any, argument: dict[str, Any]) -> None:
        self._game = game
        self._seat: int = argument["seat"]
        self._actions: list[Action] = argument["actions"]
        self._numbers = {name: number for number, name in enumerate(self._actions)}
        self._seed: int = argument["seed"]
        self._most: int = argument["max_actions"]
        schema = argument["schema"]
        self._vectors = None if schema is None else ObservationVectors.from_json(schema)
        self._slots = [_Slot(number) for number in range(argument["games"])]
        self._model_s = self._encode_s = 0.0
        self._told: dict[str, Any] = {}
        self._counts_anew()

    def begin(self) -> None:
        """Begins all games."""
        for slot in self._slots:
            self._begin_next(slot)

    def restore(self, snapshot: list[list[Any]]) -> None:
        """Plays to where a snapshot was taken.

        Raises:
            ModelBrokenError: the model plays the same games otherwise than before.
        """
        for slot, (episode, choices) in zip(self._slots, snapshot, strict=True):
            slot.episode = episode - 1
            self._begin_next(slot)
            if slot.episode != episode or any(self._play(slot, choice)[1] for choice in choices):
                raise ModelBrokenError("the model does not play a game again as it did before: it is not a function.")
        self._counts_anew()

    def snapshot(self) -> list[list[Any]]:
        """Returns [number of the game at its place, the learner's actions in it] for each place."""
        return [[slot.episode, list(slot.choices)] for slot in self._slots]

    def step(self, choices: list[int]) -> tuple[list[float], list[int], list[int]]:
        """Plays one action in every game; returns (rewards, ended, cut), one a game."""
        rewards, ended, cut = [], [], []
        for slot, choice in zip(self._slots, choices, strict=True):
            reward, done, broken = self._play(slot, choice)
            rewards.append(reward)
            ended.append(int(done))
            cut.append(int(broken))
        return rewards, ended, cut

    def answer(self, rewards: list[float], ended: list[int], cut: list[int]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Returns what the parent is told: JSON, and arrays by name."""
        lanes = len(self._slots)
        arrays = {
            "legal": BinaryArray("uint8", (lanes, len(self._actions)), b"".join(slot.mask for slot in self._slots)),
            "rewards": BinaryArray("float32", (lanes,), pack(f"<{lanes}f", *rewards)),
            "ended": BinaryArray("uint8", (lanes,), bytes(ended)),
            "cut": BinaryArray("uint8", (lanes,), bytes(cut)),
        }
        told = self._told | {"model_s": self._model_s, "encode_s": self._encode_s}
        if self._vectors is None:
            told["observations"] = [slot.observation for slot in self._slots]
        else:
            width = self._vectors.width
            numbers = [number for slot in self._slots for number in slot.vector or ()]
            arrays["observations"] = BinaryArray("float32", (lanes, width), pack(f"<{lanes * width}f", *numbers))
        self._counts_anew()
        return told, arrays

    def _counts_anew(self) -> None:
        self._told = {"finished": [], "failures": {}, "endless": 0, "unlisted": 0, "unfit": 0, "masked": 0}
        self._model_s = self._encode_s = 0.0

    def _play(self, slot: _Slot, choice: int) -> tuple[float, bool, bool]:
        """Plays the learner's action; returns (reward, whether the game ended, whether it was cut)."""
        assert slot.walk is not None
        walk, began = slot.walk, perf_counter()
        action = self._actions[choice]
        if not slot.mask[choice]:
            raise ValueError(f"action {choice}, {action!r}, was not offered in game {slot.number}")
        slot.choices.append(choice)
        try:
            walk.act(action)
            goes_on = self._to_decision(slot, walk)
        except MemoryError:
            raise
        except BaseException as error:
            self._failed(error)
            self._model_s += perf_counter() - began
            self._begin_next(slot)
            return walk.paid, True, True
        self._model_s += perf_counter() - began
        if not goes_on:
            self._told["finished"].append([slot.number, walk.returns])
            self._begin_next(slot)
        return walk.paid, not goes_on, False

    def _begin_next(self, slot: _Slot) -> None:
        """Begins games at a place until there is one in which the learner is asked."""
        began = perf_counter()
        last = "each ended before that"
        for _ in range(MOST_FRUITLESS):
            slot.episode += 1
            slot.choices = []
            rng = random.Random(f"vector games/{self._seed}/{slot.number}/{slot.episode}")
            try:
                slot.walk = walk = Walk(self._game, self._seat, rng, self._most)
                if self._to_decision(slot, walk):
                    self._model_s += perf_counter() - began
                    return
                self._told["finished"].append([slot.number, walk.returns])
            except MemoryError:
                raise
            except BaseException as error:
                last = self._failed(error)
        raise ModelBrokenError(f"in {MOST_FRUITLESS} games in a row seat {self._seat} had nothing to decide: {last}")

    def _to_decision(self, slot: _Slot, walk: Walk) -> bool:
        """Plays on to a decision that can be told the learner; those that cannot are made by chance."""
        while walk.advance():
            places = [self._numbers[action] for action in walk.legal if action in self._numbers]
            self._told["masked"] += len(walk.legal) - len(places)
            if not places:
                self._told["unlisted"] += 1
            elif self._encoded(slot, walk.observation()):
                mask = bytearray(len(self._actions))
                for place in places:
                    mask[place] = 1
                slot.mask = bytes(mask)
                return True
            else:
                self._told["unfit"] += 1
            walk.act_by_chance()
        return False

    def _encoded(self, slot: _Slot, observation: Observation) -> bool:
        """Writes an observation as the parent wants it; returns False if it does not fit."""
        if self._vectors is None:
            slot.observation = normalise(observation)
            return True
        began = perf_counter()
        try:
            slot.vector = _vector(self._vectors, observation)
            return True
        except ObservationVectorError:
            return False
        finally:
            took = perf_counter() - began
            self._encode_s += took
            self._model_s -= took

    def _failed(self, error: BaseException) -> str:
        message = message_of(error)
        if isinstance(error, EndlessWalkError):
            self._told["endless"] += 1
        else:
            count(self._told["failures"], message)
        return message


_OPEN: list[VectorGames] = []


def begin(game: Any, argument: dict[str, Any], rng: random.Random) -> tuple[dict[str, Any], dict[str, BinaryArray]]:
    """Begins games side by side, in place of those before.

    Args:
        game: the model.
        argument: `games`, E of them; `seat` of the learner; `actions`, N strings: what the learner can choose; `schema`
            of observations, as `cwm.observations.schema` writes it, None to be told them as JSON; `seed`; `max_actions`
            of one game; `snapshot`, where to go on, or None.
        rng: not used: the games' seeds are their own.

    Returns:
        As `step`; nothing was paid yet.
    """
    games = VectorGames(game, argument)
    snapshot = argument["snapshot"]
    lanes = argument["games"]
    try:
        games.begin() if snapshot is None else games.restore(snapshot)
    except ModelBrokenError as error:
        return {"broken": str(error)}, {}
    _OPEN[:] = [games]
    return games.answer([0.0] * lanes, [0] * lanes, [0] * lanes)


def step(game: Any, argument: dict[str, Any], rng: random.Random) -> tuple[dict[str, Any], dict[str, BinaryArray]]:
    """Plays one action of the learner in every game and goes on to its next decision; a new game follows an old one.

    Args:
        game: the model.
        argument: `choices`, numbers of actions, one a game.
        rng: not used.

    Returns:
        JSON: `finished`, [place, returns of all players] for each game that ended; `failures` of the model by message;
        `endless`, games that were cut; `masked`, legal actions without a number; `unlisted` and `unfit`, decisions made
        by chance since no action had a number, or the observation does not fit the schema; `model_s`, `encode_s`; the
        `observations` if there is no schema. Or `broken`, why the games cannot go on; `lost`, if there are none.
        Arrays: `observations` float32 [E, W]; `legal` uint8 [E, N]; `rewards` float32 [E], paid since the learner's
        last action; `ended` uint8 [E]; `cut` uint8 [E]: it ended by a failure of the model, or as too long.
    """
    if not _OPEN:
        return {"lost": True}, {}
    games = _OPEN[0]
    try:
        return games.answer(*games.step(argument["choices"]))
    except ModelBrokenError as error:
        return {"broken": str(error)}, {}


def snapshot(game: Any, argument: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    """Returns `snapshot`, where the games stand, for `begin`; None if there are none."""
    return {"snapshot": _OPEN[0].snapshot() if _OPEN else None}


def _vector(vectors: ObservationVectors, observation: Observation) -> list[float]:
    try:
        vector = vectors.encode(observation)
    except ObservationVectorError:
        # A mapping or a text of a program's own type is told apart from JSON's only here.
        vector = vectors.encode(normalise(observation))
    if vector and max(map(abs, vector)) > LARGEST:
        raise ObservationVectorError(f"the observation holds numbers of more than {LARGEST:g}.")
    return vector
