"""What an agent was told at the table, as a search can compare it with what a model shows."""

from collections.abc import Hashable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

from games.api import Action, Json, ObsActionHistory
from games.posg.api import Observation, PosgModel, key_of, observation_to_json
from search.posg.steps import WAITS, Seen, own


class Told(NamedTuple):
    """One moment of an agent's game.

    Attributes:
        json: what it was told, as JSON.
        acts: whether it was to act then.
        action: what it did; None where it did not act, or has not yet.
    """

    json: Json
    acts: bool
    action: Action | None

    @property
    def key(self) -> Hashable:
        """What the agent can tell, without what it did."""
        return self.acts, key_of(self.json)


def moments(history: ObsActionHistory) -> list[Told]:
    """Returns the moments of an agent's game, oldest first.

    Args:
        history: its decision points; observations are those of a game in turns (`agent`, `step`, `seen`, `missed`), or
            the model's own as JSON.
    """
    return list(_moments(history))


def _moments(history: ObsActionHistory) -> Iterator[Told]:
    for shown, action in history:
        if isinstance(shown, dict) and {"agent", "step", "seen"} <= shown.keys():
            yield from (Told(seen, acts=False, action=None) for seen in shown.get("missed", ()))
            yield Told(shown["seen"], acts=True, action=action)
        else:
            yield Told(shown, acts=True, action=action)


@runtime_checkable
class ReadsObservations(Protocol):
    """A game that can read what it wrote of an observation."""

    def observation_from_json(self, agent: int, described: Json) -> Observation: ...


class Hearing:
    """Compares what the ego was told with what places of a search show it; remembers what it has compared."""

    def __init__(self, model: PosgModel, ego: int) -> None:
        self._model = model
        self._ego = ego
        self._keys: dict[Hashable, Hashable] = {}
        self._own: dict[Hashable, Observation] = {}

    def key_of(self, key: Hashable) -> Hashable:
        """Returns `Told.key` of what the search calls `key` (`Outcome.key`)."""
        found = self._keys.get(key)
        if found is None:
            found = self._keys[key] = self.told_of(key).key
        return found

    def told_of(self, key: Hashable) -> Told:
        """Returns what the search calls `key` as the ego is told it."""
        waits = isinstance(key, tuple) and len(key) == 2 and key[0] is WAITS
        seen: Any = key[1] if waits else key  # type: ignore[index]
        observation = own(seen)
        described = observation_to_json(self._model, self._ego, observation)
        self._own.setdefault(key_of(described), observation)
        return Told(described, acts=not waits, action=None)

    def own_of(self, told: Told) -> Seen:
        """Returns an observation as the model made it; None: it cannot be had.

        A model writes its observations as JSON, and need not read them: one that a search has met is remembered, and
        others are taken to be JSON with tuples for lists, where that gives the same JSON again.
        """
        described = key_of(told.json)
        if described not in self._own and isinstance(self._model, ReadsObservations):
            self._own[described] = self._model.observation_from_json(self._ego, told.json)
        if described not in self._own:
            for guess in (told.json, described):
                try:
                    if key_of(observation_to_json(self._model, self._ego, guess)) == described:
                        self._own[described] = guess
                        break
                except Exception:
                    # The model was asked to describe what may be none of its observations: any error means just that.
                    continue
        return self._own.get(described)


def same_beginning(before: Sequence[Told], now: Sequence[Told]) -> bool:
    """Returns whether a game that was followed up to `before` has come to `now`, with no other beginning."""
    if not before or len(before) > len(now):
        return False
    last = len(before) - 1
    return list(before[:last]) == list(now[:last]) and before[last].key == now[last].key
