"""Steps of a game of few states: gone through once, and looked up afterwards."""

import itertools
import random
from bisect import bisect
from collections.abc import Hashable, Sequence
from itertools import accumulate
from typing import Any, Final

from games.api import Action, State
from games.posg.api import FastRollout, Joint, Observation, PosgModel
from games.posg.chance import drawing
from search.posg.steps import DrawnSteps, Opening, Outcome, Place, Seen, Steps

MOST_ROWS: Final = 300_000
"""Steps kept in tables; then all are forgotten."""
PROBE_STEPS: Final = 1_500
"""Random steps by which it is found out whether a game has few states."""


class TabledState:
    """A state of a table.

    Attributes:
        state: the model's own.
        offered: what each agent may do.
        rows: by joint action, how the step ends: outcomes, and their cumulative probabilities (None: there is one).
        joints: every joint action.
        bare: by joint action, the same of random play: where it leads, what it pays, whether it is over.
    """

    __slots__ = ("bare", "joints", "offered", "rows", "state")

    def __init__(self, state: State, offered: Sequence[Sequence[Action]]) -> None:
        self.state = state
        self.offered = offered
        self.rows: dict[Joint, tuple[Sequence[float] | None, Sequence[Outcome]]] = {}
        self.joints = list(itertools.product(*offered))
        self.bare: list[Any] = [None] * len(self.joints)


class TabledSteps:
    """Steps that are gone through once and looked up afterwards; a place is a `TabledState`, one for equal states."""

    def __init__(self, model: PosgModel, ego: int, most_rows: int = MOST_ROWS) -> None:
        self.model = model
        self.ego = ego
        self._drawn = DrawnSteps(model, ego)
        self._rollout = model if isinstance(model, FastRollout) else None
        self._scenes: dict[Hashable, TabledState] = {}
        self._rows = 0
        self._most = most_rows
        self._starts: Sequence[tuple[float, Opening]] | None = None
        self._start_sums: Sequence[float] = ()
        self.begin(random.Random(0))

    def begin(self, rng: random.Random) -> None:
        self._rng, self._uniform = rng, rng.random
        self._drawn.begin(rng)

    def legal(self, place: Place, agent: int) -> Sequence[Action]:
        return place.offered[agent]  # type: ignore[no-any-return]

    def step(self, place: Place, joint: Joint) -> Outcome:
        row = place.rows.get(joint)
        if row is None:
            row = self._row(place, joint)
        sums, outcomes = row
        if sums is None:
            return outcomes[0]  # type: ignore[no-any-return]
        return outcomes[bisect(sums, self._uniform())]  # type: ignore[no-any-return]

    def glide(self, place: Place, joint: Joint) -> tuple[Place, float, bool, Sequence[Seen]]:
        return self.step(place, joint)[:4]

    def rollout(self, place: Place, limit: int, discount: float) -> float:
        if self._rollout is not None:
            return self._rollout.rollout(place.state, self.ego, self._rng, limit, discount)
        uniform = self._uniform
        total, factor = 0.0, 1.0
        while limit > 0:
            bare = place.bare
            index = int(uniform() * len(bare))
            row = bare[index]
            if row is None:
                row = self._bare(place, index)
            sums = row[0]
            _, place, paid, done = row if sums is None else row[1][bisect(sums, uniform())]
            if paid:
                total += factor * paid
            if done:
                break
            factor *= discount
            limit -= 1
        return total

    def ways(self, place: Place, joint: Joint, limit: int) -> Sequence[tuple[float, Outcome]] | None:
        sums, outcomes = place.rows.get(joint) or self._row(place, joint)
        if sums is None:
            return [(1.0, outcomes[0])]
        return list(zip(_differences(sums), outcomes, strict=True))

    def opening(self) -> Opening:
        starts = self._openings()
        return starts[bisect(self._start_sums, self._uniform())][1]

    def openings(self, limit: int) -> Sequence[tuple[float, Opening]] | None:
        return self._openings()

    def opening_given(self, observation: Observation) -> Opening | None:
        return None

    @property
    def draws_given(self) -> bool:
        return False

    def step_given(self, place: Place, joint: Joint, observation: Observation) -> tuple[float, Outcome] | None:
        return None

    def key(self, place: Place) -> Hashable:
        return id(place)

    def place(self, state: State) -> Place:
        key = self._drawn.key(state)
        scene = self._scenes.get(key)
        if scene is None:
            scene = self._scenes[key] = TabledState(state, self._offered(state))
        return scene

    def state(self, place: Place) -> State:
        return place.state

    def _offered(self, state: State) -> Sequence[Sequence[Action]]:
        offered = [self._drawn.legal(state, agent) for agent in range(self.model.info.num_agents)]
        return [legal if isinstance(legal, tuple) else tuple(legal) for legal in offered]

    def _openings(self) -> Sequence[tuple[float, Opening]]:
        if self._starts is None:
            drawn = self._drawn.openings(MOST_ROWS) or ()
            self._starts = [(chance, opening._replace(place=self.place(opening.place))) for chance, opening in drawn]
            self._start_sums = _sums([chance for chance, _ in self._starts])
        return self._starts

    def _row(self, scene: TabledState, joint: Joint) -> tuple[Sequence[float] | None, Sequence[Outcome]]:
        self._make_room()
        merged: dict[Hashable, list[Any]] = {}
        for chance, outcome in self._drawn.ways(scene.state, joint, MOST_ROWS) or ():
            outcome = outcome._replace(place=self.place(outcome.place), seen=tuple(outcome.seen))
            key = (id(outcome.place), outcome.paid, outcome.done, outcome.seen, outcome.key)
            merged.setdefault(key, [0.0, outcome])[0] += chance
        outcomes = [outcome for _, outcome in merged.values()]
        sums = None if len(outcomes) == 1 else _sums([chance for chance, _ in merged.values()])
        row = scene.rows[joint] = (sums, outcomes)
        return row

    def _bare(self, scene: TabledState, index: int) -> tuple[Any, ...]:
        """Returns a row of random play: (None, place, paid, done), or cumulative probabilities and such rows."""
        joint = scene.joints[index]
        sums, outcomes = scene.rows.get(joint) or self._row(scene, joint)
        merged: dict[tuple[Any, ...], float] = {}
        for chance, outcome in zip([1.0] if sums is None else _differences(sums), outcomes, strict=True):
            bare = (None, outcome.place, outcome.paid, outcome.done)
            merged[bare] = merged.get(bare, 0.0) + chance
        row = next(iter(merged)) if len(merged) == 1 else (_sums([*merged.values()]), [*merged])
        scene.bare[index] = row
        return row

    def _make_room(self) -> None:
        self._rows += 1
        if self._rows > self._most:
            # Places that are in use keep what leads on from them, and make new ones of the rest.
            for scene in self._scenes.values():
                scene.rows.clear()
                scene.bare = [None] * len(scene.joints)
            self._scenes.clear()
            self._starts, self._rows = None, 1


def steps_of(model: PosgModel, ego: int, tables: str) -> Steps:
    """Returns the steps of a game.

    Args:
        model: the game.
        ego: who looks.
        tables: see `PosgPlannerConfig`.

    Raises:
        PosgError: chance breaks the rules of `Choose`.
    """
    if tables == "always" or (tables == "auto" and _has_few_states(model)):
        return TabledSteps(model, ego)
    return DrawnSteps(model, ego)


def _has_few_states(model: PosgModel, most_ways: int = 256) -> bool:
    """Returns whether random play meets states again and again, and chance takes few ways in one step."""
    rng = random.Random(0)
    steps = DrawnSteps(model, 0)
    steps.begin(rng)
    if steps.openings(MOST_ROWS // 100) is None:
        return False
    limit = PROBE_STEPS if model.info.step_limit is None else model.info.step_limit
    met: set[Hashable] = set()
    place, played = steps.opening().place, 0
    for count in range(1, PROBE_STEPS + 1):
        active = model.active(place)
        if not active or played >= limit:
            place, played = steps.opening().place, 0
            continue
        joint = tuple(
            legal[int(rng.random() * len(legal))]
            for legal in (steps.legal(place, agent) for agent in range(model.info.num_agents))
        )
        if count <= 10 and steps.ways(place, joint, most_ways) is None:
            return False
        place, played = model.move(place, joint, drawing(rng))[0], played + 1
        met.add(steps.key(place))
        if count == PROBE_STEPS // 4 and len(met) > 0.8 * count:
            return False
    return len(met) <= PROBE_STEPS // 2


def _sums(chances: Sequence[float]) -> list[float]:
    """Returns cumulative probabilities, without the last: what lies above all others is the last outcome."""
    return list(accumulate(chances))[:-1]


def _differences(sums: Sequence[float]) -> list[float]:
    edges = [0.0, *sums, 1.0]
    return [above - below for below, above in itertools.pairwise(edges)]
