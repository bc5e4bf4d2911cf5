"""Which histories one agent cannot tell from the real one, exactly, where a game has few states.

A filter goes along the agent's own history and keeps every state that explains it, with its probability if the others
act uniformly at random; a history is drawn backwards through it, so its distribution is exact. Filters of histories
that were asked for lately are kept, since planners ask for very many histories of one decision.
"""

import itertools
import math
import random
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from games.api import Action, GameError, Json, ObsActionHistory, State
from games.posg.api import Joint, PosgModel, key_of, observation_to_json
from games.posg.exact import ExactModel, Start, Step, steps
from games.posg.serialised import SerialisedPosg, name_of

MOST_LAYERS: Final = 2_000
"""So many layers are kept; then all are forgotten."""


@dataclass
class _Layer:
    """What may be the case at one moment of an agent's history.

    Attributes:
        parent: the moment before; None at the start.
        told: what the agent was told here.
        action: what it did before; None where it was not active, and at the start.
        states: by key.
        weights: by key; they sum to 1.
        before: by key, the weights of the states one moment before, by their keys.
        ways: by such a key and a key, weights and actions of what may have happened between; filled when asked for.
        children: the moments that were asked for.
    """

    parent: "_Layer | None"
    told: "_Told"
    action: Action | None = None
    states: dict[Hashable, State] = field(default_factory=dict)
    weights: dict[Hashable, float] = field(default_factory=dict)
    before: dict[Hashable, dict[Hashable, float]] = field(default_factory=dict)
    ways: dict[Hashable, list[tuple[Any, ...]]] = field(default_factory=dict)
    children: "dict[Hashable, _Layer]" = field(default_factory=dict)

    def add(self, key: Hashable, state: State, weight: float, before: Hashable) -> None:
        self.states.setdefault(key, state)
        self.weights[key] = self.weights.get(key, 0.0) + weight
        ways = self.before.setdefault(key, {})
        ways[before] = ways.get(before, 0.0) + weight

    def normalised(self) -> "_Layer":
        """Makes the weights sum to 1, so that long histories do not underflow, and returns the layer."""
        total = sum(self.weights.values())
        self.weights = {key: weight / total for key, weight in self.weights.items()}
        return self


class _Next(NamedTuple):
    """A state that a step may lead to, where an agent is told something given."""

    key: Hashable
    state: State
    probability: float


class ResampledPosg(SerialisedPosg):
    """A serialised game of few states, which resamples histories exactly."""

    def __init__(self, model: PosgModel, has_chance: bool = True) -> None:
        super().__init__(model, has_chance)
        self._exact = ExactModel(model)
        self._roots: dict[Hashable, _Layer] = {}
        self._steps: dict[Hashable, dict[Hashable, list[_Next]]] = {}
        self._count = 0

    def resample_history(self, history: ObsActionHistory, player: int, rng: random.Random) -> list[Action]:
        """Returns a history that `player` cannot tell from the real one, drawn with its probability if all the others
        act uniformly at random.

        Args:
            history: the player's decision points.
            player: who looks.
            rng: source of the choice.

        Raises:
            GameError: no history explains what the player saw.
        """
        layer = self._layer_of(history, player)
        key = _drawn(layer.weights, rng)
        present = self._chosen_before(layer.states[key], player, rng)
        parts: list[tuple[Action, ...]] = []
        at: _Layer | None = layer
        while at is not None:
            before = _drawn(at.before[key], rng)
            ways = at.ways.get((before, key))
            if ways is None:
                ways = at.ways[before, key] = [*zip(*self._between(at, before, key, player), strict=True)]
            parts.append(rng.choices(ways[1], ways[0])[0])
            at, key = at.parent, before
        return [*itertools.chain.from_iterable(reversed(parts)), *present]

    def _between(
        self, layer: _Layer, before: Hashable, key: Hashable, player: int
    ) -> Iterator[tuple[float, tuple[Action, ...]]]:
        """Yields what agents and chance may have done from one state to another, so that the agent was told what it
        was, with its weight."""
        if layer.parent is None:
            for start in self._exact.starts():
                if key_of(start.state) == key and self._fits(start, layer.told, player):
                    yield start.probability, _draws(start)
            return
        state = layer.parent.states[before]
        for chosen, joint, chance in self._joints(state, player, layer.action):
            for step in self._exact.steps(state, joint):
                if key_of(step.state) == key and self._fits(step, layer.told, player):
                    yield chance * step.probability, (*chosen, *_draws(step))

    def _layer_of(self, history: ObsActionHistory, player: int) -> _Layer:
        """Returns what may be the case at the end of a history, from what is kept or made anew."""
        layer: _Layer | None = None
        children, before = self._roots, None
        for told in _told(history):
            key = player, key_of(told.seen), told.acts, before
            found = children.get(key)
            if found is None:
                found = self._start(told, player) if layer is None else self._step(layer, before, told, player)
                if not found.states:
                    raise GameError(
                        f"{self.info.id}: no history explains that agent {player} was told {told.seen!r} after "
                        f"{len(list(_above(layer)))} steps; give observations as the game made them."
                    )
                self._make_room()
                children[key] = found
            layer, children, before = found, found.children, told.action
        if layer is None:
            raise GameError(f"{self.info.id}: the history of agent {player} is empty; give its decision points.")
        return layer

    def _make_room(self) -> None:
        """Counts a new layer, and forgets all that are not in use where there are too many."""
        self._count += 1
        if self._count > MOST_LAYERS:
            self._count, self._roots = 0, {}

    def _start(self, told: "_Told", player: int) -> _Layer:
        layer = _Layer(None, told)
        for start in self._exact.starts():
            if self._fits(start, told, player):
                layer.add(key_of(start.state), start.state, start.probability, None)
        return layer.normalised()

    def _step(self, before: _Layer, action: Action | None, told: "_Told", player: int) -> _Layer:
        layer = _Layer(before, told, action)
        seen = key_of(told.seen)
        for key, state in before.states.items():
            weight = before.weights[key]
            for _, joint, chance in self._joints(state, player, action):
                for after in self._merged(key, state, joint, player).get((seen, told.acts), ()):
                    layer.add(after.key, after.state, weight * chance * after.probability, key)
        return layer.normalised()

    def _merged(self, key: Hashable, state: State, joint: Joint, player: int) -> dict[Hashable, list[_Next]]:
        """Returns where a step may lead, by what an agent is told there and whether it is to act then."""
        kept = self._steps.get((key, joint, player))
        if kept is None:
            found: dict[Hashable, dict[Hashable, _Next]] = {}
            for step in steps(self.model, state, joint):
                seen = key_of(observation_to_json(self.model, player, step.observations[player]))
                after, acts = key_of(step.state), player in self.model.active(step.state)
                group = found.setdefault((seen, acts), {})
                chance = step.probability + (group[after].probability if after in group else 0.0)
                group[after] = _Next(after, step.state, chance)
            kept = {told: [*group.values()] for told, group in found.items()}
            self._steps[key, joint, player] = kept
        return kept

    def _joints(
        self, state: State, player: int, action: Action | None
    ) -> Iterator[tuple[tuple[Action, ...], Joint, float]]:
        """Yields what the active agents may choose, if `player` chooses `action`, with its probability."""
        own = [] if action is None else [action]
        offered = [
            own if agent == player else self.model.legal_actions(state, agent) for agent in self.model.active(state)
        ]
        chance = 1.0 / math.prod(map(len, offered))
        for chosen in itertools.product(*offered):
            yield chosen, self.joint(state, chosen), chance

    def _fits(self, what: Start | Step, told: "_Told", player: int) -> bool:
        seen = observation_to_json(self.model, player, what.observations[player])
        return bool(seen == told.seen) and (player in self.model.active(what.state)) == told.acts

    def _chosen_before(self, state: State, player: int, rng: random.Random) -> list[Action]:
        """Returns what the agents before `player` may have chosen in the present step."""
        earlier = itertools.takewhile(lambda agent: agent != player, self.model.active(state))
        return [rng.choice(self.model.legal_actions(state, agent)) for agent in earlier]


class _Told(NamedTuple):
    """One moment of an agent's history: what it was told, whether it was to act then, and what it did."""

    seen: Json
    acts: bool
    action: Action | None


def _told(history: ObsActionHistory) -> Iterator[_Told]:
    """Yields an agent's history step by step, with the moments at which it was told something and did not act."""
    for shown, action in history:
        yield from (_Told(seen, acts=False, action=None) for seen in shown.get("missed", ()))
        yield _Told(shown["seen"], acts=True, action=action)


def _draws(what: Start | Step) -> tuple[Action, ...]:
    return tuple(name_of(label, outcome) for label, outcome in what.log.items())


def _above(layer: _Layer | None) -> Iterator[_Layer]:
    while layer is not None:
        yield layer
        layer = layer.parent


def _drawn(weights: Mapping[Hashable, float], rng: random.Random) -> Hashable:
    return rng.choices([*weights], [*weights.values()])[0] if len(weights) > 1 else next(iter(weights))
