"""posggym's small games against ours: every step of its games has our probability; known faults are listed one by one.

Skipped where the oracle is not built: `python tests/oracle/posggym_bridge.py --build DIR`, POSGGYM_ORACLE=DIR.
"""

import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import pytest

from games.api import Json
from games.posg import registry
from games.posg.api import Joint, PosgModel
from games.posg.exact import ExactModel
from games.posg.grid import DIRECTIONS
from tests.oracle.posggym_bridge import Bridge, folder

PLACE: Final = folder()
pytestmark = [pytest.mark.slow, pytest.mark.skipif(PLACE is None, reason="posggym's oracle is not built")]

STEPS: Final = 10_000
EPISODE: Final = 50
SIGMAS: Final = 5.0


@dataclass
class Translation:
    """How a game of posggym is said in ours.

    Attributes:
        env_id: at posggym.
        game_id: ours.
        actions: our actions in the order of posggym's numbers, by agent.
        state: ours, as our model has it, from its JSON.
        told: what our agents are told, from its JSON.
        params: of ours.
        theirs: parameters of posggym's.
    """

    env_id: str
    game_id: str
    actions: tuple[Sequence[str], Sequence[str]]
    state: Callable[[PosgModel, Json], Any]
    told: Callable[[PosgModel, Sequence[Json]], tuple[Any, ...]]
    params: Mapping[str, Any] = field(default_factory=dict)
    theirs: Mapping[str, Any] = field(default_factory=dict)


SIDES = ("left", "right")
TIGER = Translation(
    "MultiAgentTiger-v0",
    "tiger-2a",
    (("open left", "open right", "listen"),) * 2,
    lambda model, state: SIDES[state],
    lambda model, told: tuple((SIDES[growl], ("left", "right", "silence")[creak]) for growl, creak in told),
)
MABC = Translation(
    "MultiAccessBroadcastChannel-v0",
    "mabc",
    (("send", "wait"),) * 2,
    lambda model, state: tuple(state),
    lambda model, told: tuple(("collision", "clear")[one] for one in told),
    {"variant": "posggym"},
)
SIGNS = ("rock", "paper", "scissors")
RPS = Translation(
    "RockPaperScissors-v0",
    "rps-repeated",
    (SIGNS,) * 2,
    lambda model, state: "play",
    lambda model, told: tuple(SIGNS[one] for one in told),
)


def places(model: Any, state: Json) -> tuple[int, int]:
    first, second = state
    return model.grid.cell(*first), model.grid.cell(*second)


def around(model: Any, told: Sequence[Json]) -> tuple[Any, ...]:
    return tuple(tuple(("opponent", "wall", "open")[one] for one in each) for each in told)


def hunted(model: Any, told: Sequence[Json]) -> tuple[Any, ...]:
    return places(model, told[0]), ("north", "south", "level", "nothing")[told[1]]


def two_paths(size: int = 7, slip: float = 0.0) -> Translation:
    theirs = {"grid_size": size, "action_probs": 1.0 - slip}
    return Translation(
        "TwoPaths-v0", "two-paths", (DIRECTIONS,) * 2, places, around, {"size": size, "slip": slip}, theirs
    )


def uav(variant: str) -> Translation:
    return Translation("UAV-v0", "uav", (DIRECTIONS,) * 2, places, hunted, {"variant": variant})


@dataclass(frozen=True)
class Played:
    """One step of posggym in our words."""

    before: Any
    joint: Joint
    after: Any
    rewards: tuple[float, float]
    over: tuple[bool, bool]
    told: tuple[Any, ...]


def by_agent(values: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(values[str(agent)] for agent in range(2))


def random_steps(bridge: Bridge, game: Translation, model: PosgModel, steps: int = STEPS) -> Iterator[Played]:
    """Yields random steps of games of at most `EPISODE` steps."""
    rng = random.Random(0)
    at, number = bridge.start(0), 0
    for _ in range(steps):
        chosen = [rng.randrange(len(actions)) for actions in game.actions]
        joint = tuple(actions[one] for actions, one in zip(game.actions, chosen, strict=True))
        after = bridge.step(at["handle"], {str(agent): one for agent, one in enumerate(chosen)})
        yield Played(
            game.state(model, at["state"]),
            joint,
            game.state(model, after["state"]),
            by_agent(after["rewards"]),
            by_agent(after["terminated"]),
            game.told(model, by_agent(after["observations"])),
        )
        at, number = after, number + 1
        if after["all_done"] or number == EPISODE:
            at, number = bridge.start(), 0


class Tally:
    """Compares the probabilities that our rules give to what happened with those that they say it should have."""

    def __init__(self, model: PosgModel) -> None:
        self._exact = ExactModel(model)
        self._given, self._expected, self._variance = 0.0, 0.0, 0.0

    def add(self, step: Played, shown: Callable[[Any, Any], Any] = lambda state, told: told) -> None:
        """Adds a step; one that our rules do not allow fails.

        Args:
            step: of posggym.
            shown: what is compared of what agents are told in a state.
        """
        chances: dict[Any, float] = {}
        for way in self._exact.steps(step.before, step.joint):
            outcome = way.state, shown(way.state, tuple(way.observations)), tuple(way.rewards), tuple(way.over)
            chances[outcome] = chances.get(outcome, 0.0) + way.probability
        happened = step.after, shown(step.after, step.told), step.rewards, step.over
        assert happened in chances, step
        squares = math.fsum(chance**2 for chance in chances.values())
        self._given += chances[happened]
        self._expected += squares
        self._variance += math.fsum(chance**3 for chance in chances.values()) - squares**2

    def check(self) -> None:
        assert abs(self._given - self._expected) <= SIGMAS * math.sqrt(max(self._variance, 0.0)) + 1e-6


def opened(game: Translation) -> Bridge:
    assert PLACE is not None
    return Bridge(PLACE, game.env_id, **game.theirs)


@pytest.mark.parametrize(
    "game",
    [RPS, MABC, uav("posggym"), two_paths(slip=0.3)],
    ids=["rps", "mabc", "uav", "two paths with slips"],
)
def test_random_steps_are_ours_with_our_probabilities(game: Translation) -> None:
    model = registry.make(game.game_id, **game.params)
    tally = Tally(model)
    with opened(game) as bridge:
        for step in random_steps(bridge, game, model):
            tally.add(step, *([around_at_capture] if game.game_id == "two-paths" else []))
    tally.check()


def around_at_capture(state: Any, told: Any) -> Any:
    """Where the chaser stands on the runner, posggym shows walls as the opponent, ours as walls: the game is over."""
    if state[0] != state[1]:
        return told
    return tuple(tuple("opponent" if one == "wall" else one for one in each) for each in told)


@pytest.mark.parametrize("size", [3, 4, 7])
def test_steps_of_two_paths_are_ours_but_for_walls_at_a_capture(size: int) -> None:
    game = two_paths(size)
    model = registry.make(game.game_id, **game.params)
    start = ExactModel(model).starts()[0]
    tally = Tally(model)
    with opened(game) as bridge:
        at = bridge.start(0)
        assert places(model, at["state"]) == start.state
        assert around(model, by_agent(at["observations"])) == tuple(start.observations)
        for step in random_steps(bridge, game, model):
            tally.add(step, around_at_capture)
    tally.check()


def test_starts_of_the_hunt_are_ours() -> None:
    game = uav("posggym")
    model = registry.make(game.game_id)
    ways = {start.state for start in ExactModel(model).starts()}
    with opened(game) as bridge:
        found = {places(model, bridge.start(seed)["state"]) for seed in range(4000)}
    assert found <= ways
    assert len(found) > 0.99 * len(ways)


# Expected differences: faults of posggym 0.6.0, one by one. If one of these fails, posggym was mended.


def test_of_the_tiger_only_growls_and_creaks_heard_beside_an_opened_door_differ() -> None:
    model = registry.make("tiger-2a")
    tally = Tally(model)
    with opened(TIGER) as bridge:
        for step in random_steps(bridge, TIGER, model):
            if step.joint.count("listen") == 1:
                listener = step.joint.index("listen")
                tally.add(step, lambda _, told, other=1 - listener: told[other])
            else:
                tally.add(step)
    tally.check()


def heard(bridge: Bridge, tiger: int, actions: Mapping[str, int], times: int = 4000) -> list[tuple[int, int, int]]:
    """Returns (tiger afterwards, growl, creak) as agent 0 hears it, from a state with the tiger at a side."""
    at = next(one for seed in range(50) if (one := bridge.start(seed))["state"] == tiger)
    return [(one["state"], *one["observations"]["0"]) for one in bridge.sample(at["handle"], actions, times)]


def test_fault_a_listener_hears_where_the_tiger_was_before_a_door_was_opened() -> None:
    with opened(TIGER) as bridge:
        found = heard(bridge, 0, {"0": 2, "1": 0})
    moved = [growl for after, growl, _ in found if after == 1]
    assert moved.count(0) / len(moved) == pytest.approx(0.85, abs=0.03)


def test_fault_an_opened_right_door_is_never_heard_as_the_left_one() -> None:
    with opened(TIGER) as bridge:
        creaks = [creak for _, _, creak in heard(bridge, 0, {"0": 2, "1": 1})]
    assert creaks.count(0) == 0
    assert creaks.count(2) / len(creaks) == pytest.approx(0.05, abs=0.02)
    assert creaks.count(1) / len(creaks) == pytest.approx(0.95, abs=0.02)


def test_fault_the_tigers_observation_function_contradicts_its_samples() -> None:
    with opened(TIGER) as bridge:
        actions = {"0": 2, "1": 0}
        found = heard(bridge, 0, actions)
        distances = []
        for after in (0, 1):
            sampled = [(growl, creak) for state, growl, creak in found if state == after]
            distance = 0.0
            for growl in range(2):
                for creak in range(3):
                    told = math.fsum(
                        bridge.call("observation_fn", {"0": [growl, creak], "1": [one, other]}, after, actions)
                        for one in range(2)
                        for other in range(3)
                    )
                    distance += abs(told - sampled.count((growl, creak)) / len(sampled)) / 2
            distances.append(distance)
    assert distances[0] == pytest.approx(0.0, abs=0.05)
    assert distances[1] > 0.3


def test_fault_a_collision_loses_the_messages_that_the_documentation_keeps() -> None:
    model = registry.make("mabc")
    exact = ExactModel(model)
    differing = set()
    with opened(MABC) as bridge:
        for step in random_steps(bridge, MABC, model, 4_000):
            if all(way.state != step.after for way in exact.steps(step.before, step.joint)):
                differing.add(step.joint)
    assert differing == {("send", "send")}


def test_fault_transitions_of_the_broadcast_channel_do_not_sum_to_one() -> None:
    states = [[first, second] for first in range(2) for second in range(2)]
    with opened(MABC) as bridge:
        sums = [
            math.fsum(bridge.call("transition_fn", state, {"0": a, "1": b}, after) for after in states)
            for state in states
            for a in range(2)
            for b in range(2)
        ]
        rewards = bridge.call("reward_fn", [1, 1], {"0": 0, "1": 1})
    wrong = [total for total in sums if abs(total - 1.0) > 1e-9]
    assert len(wrong) == 7
    assert {round(total, 9) for total in wrong} == {0.1, 0.9, 0.09}
    assert rewards == [1.0, 1.0]  # a tuple, where `step` has an object by agent


def test_fault_the_observation_function_of_rock_paper_scissors_takes_the_own_action_for_the_others() -> None:
    with opened(RPS) as bridge:
        actions = {"0": 0, "1": 1}
        told = bridge.step(bridge.start(0)["handle"], actions)["observations"]
        assert told == {"0": 1, "1": 0}
        assert bridge.call("observation_fn", told, 0, actions) == 0.0


def test_fault_the_fugitives_directions_are_mixed_up_and_too_often_right() -> None:
    game = uav("posggym")
    model = registry.make("uav")
    house = model.house  # type: ignore[attr-defined]
    width = model.grid.width  # type: ignore[attr-defined]
    beside = {house - width: "level", house + width: "south", house - 1: "north", house + 1: "level"}
    told: dict[int, list[str]] = {cell: [] for cell in beside}
    with opened(game) as bridge:
        for step in random_steps(bridge, game, model):
            if step.after[1] in told:
                told[step.after[1]].append(step.told[1])
    for cell, words in told.items():
        assert words.count(beside[cell]) / len(words) == pytest.approx(0.8 + 0.2 / 3, abs=0.05)
