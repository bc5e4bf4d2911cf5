"""Pursuit and evasion: sight, capture, pay of both variants; shortest paths; and that rollouts agree with steps."""

import random

import pytest

from games.posg.api import PosgError
from games.posg.chance import drawing, enumerating, replaying
from games.posg.policies import play_policies
from games.posg.pursuit_evasion.maze import ACTIONS, Maze
from games.posg.pursuit_evasion.model import UNKNOWN, Chase, PursuitEvasion
from games.posg.pursuit_evasion.partners import PARTNERS, policies

MODEL = PursuitEvasion()
DOCUMENTED = PursuitEvasion(variant="documented")
NO_CHANCE = replaying({})
OPEN = ["0 2 7 8 9 5  ", *[" " * 13] * 11, "1" + " " * 12]


def chase(evader: tuple[list[int], str], pursuer: tuple[list[int], str], goal: list[int], least: int = 23) -> Chase:
    (cell, heading), (cell_1, heading_1) = evader, pursuer
    return MODEL.state_from_json(
        {
            "evader": {"cell": cell, "heading": heading, "start": [0, 13]},
            "pursuer": {"cell": cell_1, "heading": heading_1, "start": [5, 7]},
            "goal": goal,
            "least": least,
            "over": False,
        }
    )


@pytest.mark.parametrize(("is_lopsided", "across"), [(True, 54), (False, 95)])
def test_a_cone_in_the_open_has_the_published_number_of_cells(is_lopsided: bool, across: int) -> None:
    maze = Maze(OPEN, is_lopsided)
    assert [len(maze.cone(12 * 13 + 6, 0)), len(maze.cone(6 * 13, 1))] == [95, across]
    assert [len(maze.cone(6, 2)), len(maze.cone(6 * 13 + 12, 3))] == [95, across]


def test_walls_block_sight() -> None:
    sight = MODEL.maze.cone(15 * 16 + 3, 1)  # in the lowest street, looking east
    assert {15 * 16 + column for column in range(3, 9)} <= sight
    assert 15 * 16 + 9 not in sight


def test_starts_are_those_of_the_map() -> None:
    starts = [(branch.probability, state) for branch, state in enumerating(MODEL.initial_state)]
    assert sum(probability for probability, _ in starts) == pytest.approx(1.0)
    assert len({state for _, state in starts}) == 2 * (3 + 3 + 2 + 2 + 3 + 3)
    assert MODEL.maze.longest == 23


@pytest.mark.parametrize(("model", "scale"), [(MODEL, 1.24), (DOCUMENTED, 1.0)])
def test_a_goal_pays_less_as_published(model: PursuitEvasion, scale: float) -> None:
    state = chase(([11, 2], "north"), ([0, 14], "north"), [11, 1], 1)
    after, rewards, over = model.move(state, ("forward", "forward"), NO_CHANCE)
    assert rewards == (pytest.approx(1.01 / scale), pytest.approx(-1.01 / scale))
    assert (over, model.ending(after)) == ((True, True), {"ending": "reached"})


def test_being_seen_is_being_caught_even_on_the_goal() -> None:
    state = chase(([7, 15], "north"), ([3, 15], "north"), [7, 15], 0)
    after, rewards, over = MODEL.move(state, ("backward", "right"), NO_CHANCE)
    assert (rewards[0], over) == (pytest.approx(-1 / 1.24), (True, True))
    assert MODEL.ending(after) == {"ending": "caught"}
    assert MODEL.active(after) == ()


def test_a_pursuer_who_steps_on_the_evader_holds_it() -> None:
    state = chase(([4, 15], "west"), ([3, 15], "south"), [11, 1], 0)
    after, rewards, _ = MODEL.move(state, ("backward", "left"), NO_CHANCE)
    assert (after[0] >> 2, after[1] >> 2) == (15 * 16 + 4, 15 * 16 + 4)
    assert rewards[0] == pytest.approx(-1 / 1.24)


def test_the_pursuer_is_not_told_the_goal() -> None:
    state = chase(([4, 15], "west"), ([5, 7], "north"), [11, 1])
    evader, pursuer = MODEL.observe(state, None, NO_CHANCE)
    assert MODEL.observation_to_json(0, evader) == {
        "walls": ["north", "south"],
        "sees": False,
        "hears": False,
        "evader start": [0, 13],
        "pursuer start": [5, 7],
        "goal": [11, 1],
    }
    assert pursuer[5] == UNKNOWN
    for agent, told in enumerate((evader, pursuer)):
        assert MODEL.observation_from_json(agent, MODEL.observation_to_json(agent, told)) == told
    assert "G" not in MODEL.render(state, 1)


def test_a_start_is_drawn_given_what_an_agent_is_told() -> None:
    rng = random.Random(4)
    for _ in range(20):
        state = MODEL.initial_state(drawing(rng))
        evader, pursuer = MODEL.observe(state, None, NO_CHANCE)
        assert MODEL.initial_state_given(0, evader, NO_CHANCE) == state
        given = {one for _, one in enumerating(lambda choose, told=pursuer: MODEL.initial_state_given(1, told, choose))}
        assert state in given
        assert {one[4] for one in given} == set(MODEL.maze.goals[state[2]])
    with pytest.raises(PosgError, match="no start of pursuit-evasion shows the pursuer"):
        MODEL.initial_state_given(1, (0, 0, 0, 1, 1, UNKNOWN), NO_CHANCE)


def test_fast_rollouts_agree_with_steps_in_their_mean() -> None:
    rng, slow, fast = random.Random(3), 0.0, 0.0
    start = chase(([6, 13], "north"), ([3, 13], "west"), [7, 15], 5)
    for _ in range(2000):
        state, scale = start, 1.0
        for _ in range(10):
            if state[6]:
                break
            state, rewards, _ = MODEL.sample_step(state, (rng.choice(ACTIONS), rng.choice(ACTIONS)), rng)
            slow, scale = slow + scale * rewards[1] / 2000, scale * 0.9
        fast += MODEL.rollout(start, 1, rng, 10, 0.9) / 2000
    assert fast == pytest.approx(slow, abs=0.06)


def test_an_evader_on_a_shortest_path_arrives_as_soon_as_can_be() -> None:
    rng = random.Random(1)
    walker = policies(MODEL)["shortest-path"]
    arrived = 0
    for _ in range(40):
        game = play_policies(MODEL, [walker, walker], rng)
        if MODEL.ending(game.state)["ending"] == "reached":
            arrived += 1
            assert game.steps == MODEL.maze.far[game.state[4]][game.state[2]]
    assert arrived > 5


def test_a_pursuer_looks_where_the_evader_started_and_then_elsewhere() -> None:
    walker = policies(MODEL)["shortest-path"]
    start, post = MODEL.maze.starts[0], MODEL.maze.posts[0]
    told = (0, 0, 0, start, post, UNKNOWN)
    memory = walker.update(walker.start(1), None, told)
    seen = []
    rng = random.Random(2)
    for _ in range(200):
        action = walker.act(memory, rng)
        memory = walker.update(memory, action, told)
        if memory[2] not in seen:  # type: ignore[index]
            seen.append(memory[2])  # type: ignore[index]
    assert seen[0] == start
    assert set(seen) == set(MODEL.maze.starts)
    view = {"agent": 1, "step": 0, "seen": MODEL.observation_to_json(1, told)}
    assert PARTNERS["shortest-path"]([(view, None)], ACTIONS, rng) in ACTIONS
