"""Sampled histories as a search keeps them, and small integers for what each player saw in them.

Particles also know the private history of every other player, because in the tree an opponent's node belongs to what
that opponent saw.
"""

import json
import marshal
from collections.abc import Iterator, Sequence

from games.api import Action, Game, ObsActionHistory, Observation, State, WalksHistories

_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), check_circular=False)


class HistoryKeys:
    """Small integers for private histories: equal exactly if a player saw and did the same.

    A history begins as `start(player)`, and grows by what the player sees and does at its own decision points.
    """

    def __init__(self, first: int = 0) -> None:
        """Args:
        first: the smallest key of a history that is not empty.
        """
        self._first = first
        self._keys: dict[tuple[int, int | Action], int] = {}
        self._views: dict[bytes, int] = {}
        self._canonical: dict[str, int] = {}

    @staticmethod
    def start(player: int) -> int:
        """Returns the key of an empty history of `player`, which no other history has."""
        return -1 - player

    def seen(self, key: int, observation: Observation) -> int:
        """Returns the key of the history `key` after which the player saw `observation`."""
        # marshal is several times faster than json, but sees the order of a dict's keys: it is the first of two steps.
        raw = marshal.dumps(observation, 0)
        view = self._views.get(raw)
        if view is None:
            text = canonical(observation)
            view = self._views[raw] = self._canonical.setdefault(text, len(self._canonical))
        return self._keys.setdefault((key, view), self._first + len(self._keys))

    def done(self, key: int, action: Action) -> int:
        """Returns the key of the history `key` after which the player did `action`."""
        return self._keys.setdefault((key, action), self._first + len(self._keys))

    def of(self, history: ObsActionHistory, player: int) -> int:
        """Returns the key of a whole history of `player`."""
        key = self.start(player)
        for observation, action in history:
            key = self.seen(key, observation)
            key = key if action is None else self.done(key, action)
        return key


class Particle:
    """One sampled history, replayed.

    Attributes:
        state: where it leads.
        actions: the history.
        trail: the other players' decisions in it, see `decisions`; None where the game walks along histories quickly;
            who, in which state, what; those of a player go once its key is worked out.
        own: where in `actions` the player's own ones stand.
        strict: whether its whole past is as the player saw it, not only the present.
        cache: room for what the search wants to keep with the particle.
    """

    __slots__ = ("_keys", "actions", "cache", "own", "state", "strict", "trail")

    def __init__(
        self,
        state: State,
        actions: tuple[Action, ...],
        trail: list[tuple[int, State, Action]] | None,
        own: list[int],
        strict: bool,
        players: int,
    ) -> None:
        self.state = state
        self.actions = actions
        self.trail = trail
        self.own = own
        self.strict = strict
        self.cache: object = None
        self._keys: list[int | None] = [None] * players

    def key(self, player: int, game: Game, keys: HistoryKeys) -> int:
        """Returns the key of `player`'s history up to its last own action; worked out when first asked for."""
        key = self._keys[player]
        if key is None:
            key = keys.start(player)
            for mover, state, action in self.decisions(game):
                if mover == player:
                    key = keys.done(keys.seen(key, game.observations(state)[player]), action)
            self._keys[player] = key
            if self.trail is not None:
                # A state may take tens of kilobytes, and each particle of a long game has many.
                self.trail = [entry for entry in self.trail if entry[0] != player]
        return key

    def decisions(self, game: Game) -> Iterator[tuple[int, State, Action]]:
        """Yields the other players' decisions: who, in which state, what. A state may not outlive its turn."""
        if self.trail is not None or not isinstance(game, WalksHistories):
            yield from self.trail or ()
            return
        own = set(self.own)
        for index, (state, action) in enumerate(zip(game.walk(self.actions), self.actions, strict=False)):
            mover = game.current_player(state)
            if mover >= 0 and index not in own:
                yield mover, state, action

    def know(self, keys: Sequence[int]) -> None:
        """Takes each player's key as worked out elsewhere; the trail is not needed any more."""
        self._keys = list(keys)
        self.trail = []


def same(left: Observation, right: Observation) -> bool:
    """Returns whether two observations are the same JSON (a model may use a tuple where the record has a list)."""
    return left == right or canonical(left) == canonical(right)


def canonical(observation: Observation) -> str:
    """Returns JSON text that does not depend on the order of the keys."""
    return _ENCODER.encode(observation)
