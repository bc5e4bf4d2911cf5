"""What is hidden from an agent, drawn from a filter over the rules of a game: inference where nothing better is known.

The filter goes along the agent's own history and keeps every state that explains it, with its probability if the
others act uniformly at random; where these are too many, so many drawn by it. Pasts are drawn backwards through it, so
that with states few enough draws are exact. Filters of histories that were asked for lately are kept.
"""

import itertools
import math
import random
from bisect import bisect
from collections.abc import Hashable, Iterator
from functools import cached_property
from itertools import accumulate
from typing import Any, Final, NamedTuple

from games.api import Action, State
from games.posg.api import Joint, Observation, PosgError, PosgHistory, PosgModel, key_of
from games.posg.chance import drawing
from games.posg.exact import Start, Step, starts, steps

MOST_STATES: Final = 300
"""That are kept from step to step."""
MOST_JOINT_ACTIONS: Final = 10
"""That others may choose in a step; where there are more, `DRAWS` of them are drawn, with what chance does then."""
DRAWS: Final = 20
MOST_MOMENTS: Final = 500
"""Of histories, that are remembered; then all are forgotten."""


class _Way(NamedTuple):
    """How a state may have been reached: from which of the states before, by what, and what all were told then."""

    before: int
    joint: Joint
    active: tuple[int, ...]
    told: tuple[Observation | None, ...]


class _Moment:
    """What may be the case at one moment of an agent's history.

    Attributes:
        states: distinct ones.
        sums: cumulative weights of theirs.
        ways: by state, how it may have been reached, and cumulative weights.
        parent: the moment before.
        children: moments that were asked for, by what the agent did and was told.
    """

    def __init__(self, parent: "_Moment | None") -> None:
        self.states: list[State] = []
        self.sums: list[float] = []
        self.ways: list[tuple[list[_Way], list[float]]] = []
        self.parent = parent
        self.children: dict[Hashable, _Moment] = {}

    def fill(self, found: "_Found", most: int, rng: random.Random) -> None:
        """Takes states with their ways, at most so many, drawn by weight where there are more."""
        rows = [(state, ways, weights, math.fsum(weights)) for state, ways, weights in found.rows.values()]
        total = math.fsum(row[3] for row in rows)
        reached, mark = 0.0, rng.random()
        for state, ways, weights, share in rows:
            weight = share / total
            if len(rows) > most:
                reached += weight * most
                weight = float(max(0, math.ceil(reached - mark)))
                mark += weight
            if weight:
                self.states.append(state)
                self.sums.append(weight)
                self.ways.append((ways, list(accumulate(weights))))
        self.sums = list(accumulate(self.sums))


class _Found:
    """States that explain what was told, with their ways."""

    def __init__(self) -> None:
        self.rows: dict[Hashable, tuple[State, list[_Way], list[float]]] = {}

    def add(self, state: State, way: _Way, weight: float) -> None:
        _, ways, weights = self.rows.setdefault(key_of(state), (state, [], []))
        ways.append(way)
        weights.append(weight)


class Inference:
    """Draws what is hidden from an agent of a game, as if the others had acted uniformly at random."""

    def __init__(self, model: PosgModel, most: int = MOST_STATES) -> None:
        """Args:
        model: the game; chance has few ways in each step where the others have few joint actions.
        most: states that are kept from step to step.
        """
        self._model = model
        self._most = most
        self._count = 0
        self._roots: dict[Hashable, _Moment] = {}

    def resample(self, history: PosgHistory, agent: int, rng: random.Random) -> tuple[State, list[PosgHistory | None]]:
        """Returns a present state and the private histories of the others (`games.posg.api.InfersPosg`).

        Raises:
            PosgError: nothing explains the history.
        """
        moment: _Moment | None = self._moment(history, agent)
        assert moment is not None, "a history has one moment at least"
        index = _drawn(moment.sums, rng)
        state, passed = moment.states[index], list[_Way]()
        while moment is not None:
            ways, sums = moment.ways[index]
            passed.append(ways[_drawn(sums, rng)])
            moment, index = moment.parent, passed[-1].before
        return state, [
            None if other == agent else _private(passed[::-1], other) for other in range(self._model.info.num_agents)
        ]

    def _moment(self, history: PosgHistory, agent: int) -> _Moment:
        moment: _Moment | None = None
        children, action = self._roots, None
        for number, (told, acted) in enumerate(history):
            key = (agent if moment is None else action, key_of(told))
            found = children.get(key)
            if found is None:
                found = _Moment(moment)
                own = random.Random(f"inference {number} {key!r}")  # equal histories are inferred equally
                ways = self._started(told, agent) if moment is None else self._after(moment, action, told, agent, own)
                found.fill(ways, self._most, own)
                if not found.states:
                    raise PosgError(
                        f"nothing explains what agent {agent} saw and did in {len(history)} observations, up to number "
                        f"{number + 1}, {told!r}."
                    )
                self._make_room()
                children[key] = found
            moment, children, action = found, found.children, acted
        if moment is None:
            raise PosgError(f"the history of agent {agent} is empty; give what it was told, at least at the start.")
        return moment

    def _make_room(self) -> None:
        self._count += 1
        if self._count > MOST_MOMENTS:
            self._count, self._roots = 0, {}

    def _started(self, told: Observation, agent: int) -> _Found:
        found = _Found()
        for start in self._starts:
            if key_of(start.observations[agent]) == key_of(told):
                found.add(start.state, _Way(0, (), (), tuple(start.observations)), start.probability)
        return found

    def _after(
        self, moment: _Moment, action: Action | None, told: Observation, agent: int, rng: random.Random
    ) -> _Found:
        found, key, low = _Found(), key_of(told), 0.0
        for index, state in enumerate(moment.states):
            weight, low = moment.sums[index] - low, moment.sums[index]
            for joint, active, step, chance in self._steps(state, action, agent, rng):
                if not step.over[agent] and key_of(step.observations[agent]) == key:
                    way = _Way(index, joint, active, tuple(step.observations))
                    found.add(step.state, way, weight * chance * step.probability)
        return found

    def _steps(
        self, state: State, action: Action | None, agent: int, rng: random.Random
    ) -> Iterator[tuple[Joint, tuple[int, ...], Step, float]]:
        """Yields what may happen in a step if the agent does `action`: the joint action, who was active, how it ends,
        and how likely others at random are to act so."""
        active = tuple(self._model.active(state))
        offered = [
            self._model.legal_actions(state, other) if other in active else actions[:1]
            for other, actions in enumerate(self._model.info.actions)
        ]
        if action is not None:
            offered[agent] = (action,)
        count = math.prod(map(len, offered))
        if count > MOST_JOINT_ACTIONS:
            for _ in range(DRAWS):
                drawn = tuple(rng.choice(legal) for legal in offered)
                yield drawn, active, self._drawn_step(state, drawn, rng), 1.0 / DRAWS
            return
        for joint in itertools.product(*offered):
            for step in steps(self._model, state, joint):
                yield joint, active, step, 1.0 / count

    def _drawn_step(self, state: State, joint: Joint, rng: random.Random) -> Step:
        choose = drawing(rng)
        after, rewards, over = self._model.move(state, joint, choose)
        return Step(1.0, {}, after, rewards, over, self._model.observe(after, joint, choose))

    @cached_property
    def _starts(self) -> list[Start]:
        return starts(self._model)


class InfersByItsRules:
    """What gives a model `resample` by a filter over its own rules."""

    @cached_property
    def _inference(self) -> Inference:
        model: Any = self
        return Inference(model)

    def resample(self, history: PosgHistory, agent: int, rng: random.Random) -> tuple[State, list[PosgHistory | None]]:
        """Returns a present state and the others' histories that `agent` cannot tell from the true ones.

        Raises:
            PosgError: nothing explains the history.
        """
        return self._inference.resample(history, agent, rng)


def _private(ways: list[_Way], agent: int) -> PosgHistory:
    """Returns what an agent saw and did on a way; nothing after the game was over for it."""
    told = [way.told[agent] for way in ways]
    acts = [way.joint[agent] if agent in way.active else None for way in ways[1:]]
    shown = list(zip(told, [*acts, None], strict=True))
    last = next((number for number, (one, _) in enumerate(shown) if one is None), len(shown))
    return [*shown[: last - 1], (shown[last - 1][0], None)] if last < len(shown) else shown


def _drawn(sums: list[float], rng: random.Random) -> int:
    return bisect(sums, rng.random() * sums[-1], 0, len(sums) - 1) if len(sums) > 1 else 0
