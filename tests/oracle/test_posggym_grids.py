"""posggym's grid games against ours, 10,000 random steps each: states, observations, rewards and ends are equal.

Skipped where the oracle is not built: `python tests/oracle/posggym_bridge.py --build DIR`, POSGGYM_ORACLE=DIR. The
variants `as-published` are compared, which have the faults of the published code; what `documented` does otherwise is
in the tests of the games.
"""

import random
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import pytest

from games.api import Json
from games.posg import registry
from games.posg.chance import enumerating, replaying
from tests.oracle.posggym_bridge import Bridge, folder

PLACE: Final = folder()
pytestmark = [pytest.mark.slow, pytest.mark.skipif(PLACE is None, reason="posggym's oracle is not built")]

STEPS: Final = 10_000
EPISODE: Final = 50
NO_CHANCE: Final = replaying({})


@dataclass
class Translation:
    """How a game of posggym is said in ours.

    Attributes:
        env_id: at posggym.
        game_id: ours.
        state: our state from its JSON, given our state before (None at the start) and whether the game is over.
        told: what our agent is told, from its JSON.
        theirs: parameters of posggym's.
        params: of ours.
    """

    env_id: str
    game_id: str
    state: Callable[[Any, Json, Any, bool], Any]
    told: Callable[[Any, int, Json], Any]
    theirs: Mapping[str, Any] = field(default_factory=dict)
    params: Mapping[str, Any] = field(default_factory=dict)


def reaching(model: Any, state: Json, before: Any, over: bool) -> Any:
    return model.state_from_json(state)


def reaching_told(model: Any, agent: int, told: Json) -> Any:
    own, other = told
    return model.observation_from_json(agent, {"own": own, "other": None if other == [5, 5] else other})


def driving(model: Any, state: Json, before: Any, over: bool) -> Any:
    roads, found = model.roads(), [0]
    for agent, car in enumerate(state):
        (column, row), (to_column, to_row) = car["coord"], car["dest_coord"]
        was_told = before is not None and before[5 * agent + 3] != 0
        pose = ((row * 14 + column) * 4 + car["facing_dir"]) * 4 + car["speed"]
        ended = car["dest_reached"] + 2 * car["crashed"] + 4 * was_told
        found += [pose, roads.ends.index(to_row * 14 + to_column), ended, car["min_dest_dist"], car["init_dest_dist"]]
    return tuple(found)


def driving_told(model: Any, agent: int, told: Json) -> Any:
    view, speed, (column, row), (to_column, to_row), reached, crashed = told
    return "".join("V#.D"[one] for one in view), speed - 1, row * 14 + column, to_row * 14 + to_column, reached, crashed


def foraging(model: Any, state: Json, before: Any, over: bool) -> Any:
    cells = [(10 * one["coord"][1] + one["coord"][0], one["level"]) for one in (*state["players"], *state["food"])]
    food = tuple(value for pair in cells[2:] for value in pair)
    return (*cells[0], *cells[1], state["food_spawned"], food)


def foraging_told(model: Any, agent: int, told: Json) -> Any:
    def at(first: int) -> list[int]:
        column, row, level = told[first : first + 3]
        return [-1, 0] if column < 0 else [5 * row + column, level]

    food = [value for first in range(6, 30, 3) if told[first] >= 0 for value in at(first)]
    return (told[2], *at(3), *food)


def prey(model: Any, state: Json, before: Any, over: bool) -> Any:
    cells = [10 * row + column for column, row in (*state["predator_coords"], *state["prey_coords"])]
    caught = sum(one << number for number, one in enumerate(state["prey_caught"]))
    return (*cells, caught, 0 if before is None else before[5])


def prey_told(model: Any, agent: int, told: Json) -> Any:
    return "".join(".#Pp"[one] for one in told)


def pursuit(model: Any, state: Json, before: Any, over: bool) -> Any:
    def cell(name: str) -> int:
        column, row = state[name]
        return int(row) * 16 + int(column)

    poses = [cell(f"{who}_coord") * 4 + state[f"{who}_dir"] for who in ("evader", "pursuer")]
    starts = [cell(name) for name in ("evader_start_coord", "pursuer_start_coord", "evader_goal_coord")]
    return (*poses, *starts, state["min_goal_dist"], int(over))


def pursuit_told(model: Any, agent: int, told: Json) -> Any:
    (*walls, sees, hears), *places = told
    cells = [16 * row + column for column, row in places]
    return sum(one << way for way, one in enumerate(walls)), sees, hears, *cells[:2], -1 if agent else cells[2]


LAYOUT: Final = {"num_agents": 2, "size": 10, "max_food": 8, "sight": 2, "max_agent_level": 3}
GAMES: Final = {
    "cooperative-reaching": Translation("CooperativeReaching-v0", "cooperative-reaching", reaching, reaching_told),
    "cooperative-reaching, sight 1": Translation(
        "CooperativeReaching-v0", "cooperative-reaching", reaching, reaching_told, {"obs_distance": 1}, {"sight": 1}
    ),
    "driving": Translation("Driving-v1", "driving", driving, driving_told),
    "foraging": Translation(
        "LevelBasedForaging-v3", "foraging", foraging, foraging_told, LAYOUT | {"static_layout": True}
    ),
    "foraging-random": Translation(
        "LevelBasedForaging-v3", "foraging-random", foraging, foraging_told, LAYOUT | {"static_layout": False}
    ),
    "predator-prey": Translation("PredatorPrey-v0", "predator-prey", prey, prey_told),
    "pursuit-evasion": Translation("PursuitEvasion-v1", "pursuit-evasion", pursuit, pursuit_told),
}


@pytest.mark.parametrize("name", GAMES)
def test_random_steps_are_ours(name: str) -> None:
    game = GAMES[name]
    model: Any = registry.make(game.game_id, **game.params)
    rng = random.Random(0)
    assert PLACE is not None
    with Bridge(PLACE, game.env_id, **game.theirs) as bridge:
        at, number = bridge.start(0), 0
        state = game.state(model, at["state"], None, False)
        for _ in range(STEPS):
            for agent, told in enumerate(model.observe(state, None, NO_CHANCE)):
                if told is not None:
                    assert told == game.told(model, agent, at["observations"][str(agent)])
            chosen = [rng.randrange(len(actions)) for actions in model.info.actions]
            joint = tuple(actions[one] for actions, one in zip(model.info.actions, chosen, strict=True))
            at = bridge.step(at["handle"], {str(agent): one for agent, one in enumerate(chosen)})
            after = game.state(model, at["state"], state, at["all_done"])
            ways = [way for _, way in enumerating(lambda choose, s=state, j=joint: model.move(s, j, choose))]
            found = next((way for way in ways if way[0] == after), None)
            assert found is not None, (state, joint, after)
            assert list(found[1]) == pytest.approx([at["rewards"][str(agent)] for agent in range(2)], abs=1e-12)
            assert list(found[2]) == [at["terminated"][str(agent)] for agent in range(2)]
            state, number = after, number + 1
            if at["all_done"] or number == EPISODE:
                at, number = bridge.start(), 0
                state = game.state(model, at["state"], None, False)


def test_prey_flee_with_our_probabilities() -> None:
    game, rng, times = GAMES["predator-prey"], random.Random(1), 2_000
    model: Any = registry.make(game.game_id)
    assert PLACE is not None
    with Bridge(PLACE, game.env_id) as bridge:
        at = bridge.start(3)
        state = game.state(model, at["state"], None, False)
        for _ in range(12):
            seen = Counter(
                game.state(model, one["state"], state, False)
                for one in bridge.sample(at["handle"], {"0": 0, "1": 0}, times)
            )
            chances: Counter[Any] = Counter()
            for branch, moved in enumerating(lambda choose, s=state: model.move(s, ("stay", "stay"), choose)):
                chances[moved[0]] += branch.probability  # type: ignore[assignment]
            assert set(seen) <= set(chances)
            for after, chance in chances.items():
                assert abs(seen[after] - times * chance) <= 5.0 * (times * chance * (1.0 - chance)) ** 0.5 + 1e-6
            at = bridge.step(at["handle"], {"0": rng.randrange(5), "1": rng.randrange(5)})
            state = game.state(model, at["state"], state, False)


def test_documented_prey_does_not_flee_from_as_far_as_published_prey() -> None:
    """The fault of the published code: prey nine cells away in the same column is fled from."""
    model: Any = registry.make("predator-prey", variant="documented")
    published: Any = registry.make("predator-prey")
    state = published.state_from_json(
        {
            "predators": [[5, 0], [9, 0]],
            "prey": [{"cell": [5, 9], "caught": False, "gone": False}]
            + [{"cell": [9, 9], "caught": True, "gone": True}] * 2,
        }
    )
    counts = [
        len({way[0] for _, way in enumerating(lambda choose, m=one: m.move(state, ("stay", "stay"), choose))})
        for one in (published, model)
    ]
    assert counts == [1, 3]
