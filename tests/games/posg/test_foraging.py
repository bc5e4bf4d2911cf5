"""Foraging: moves, lifting, views, what can be inferred, foragers; and that fast ways agree with slow ones."""

import random

import pytest

from games.posg.api import InfersPosg, PosgError
from games.posg.chance import drawing, replaying
from games.posg.foraging.field import ACTIONS, Field, Foraging
from games.posg.foraging.model import ForagingInPlaces
from games.posg.foraging.partners import PARTNERS, policies
from games.posg.policies import play_policies

MODEL = ForagingInPlaces()
POLICIES = policies(MODEL)
NO_CHANCE = replaying({})


def field(agents: list[tuple[list[int], int]], food: list[tuple[list[int], int]], total: int = 10) -> Field:
    return MODEL.state_from_json(
        {
            "agents": [{"cell": cell, "level": level} for cell, level in agents],
            "food": [{"cell": cell, "level": level} for cell, level in food],
            "total": total,
        }
    )


@pytest.mark.parametrize(
    ("first", "second", "actions", "after"),
    [
        ([4, 4], [6, 4], ("east", "west"), ([4, 4], [6, 4])),
        ([4, 4], [5, 4], ("east", "west"), ([5, 4], [4, 4])),
        ([4, 4], [5, 4], ("east", "stay"), ([4, 4], [5, 4])),
        ([0, 0], [9, 9], ("north", "east"), ([0, 0], [9, 9])),
        ([0, 0], [9, 9], ("south", "north"), ([0, 1], [9, 8])),
        ([2, 3], [9, 9], ("east", "load"), ([2, 3], [9, 9])),
    ],
)
def test_agents_move_unless_something_is_in_the_way(
    first: list[int], second: list[int], actions: tuple[str, str], after: tuple[list[int], list[int]]
) -> None:
    moved, rewards, over = MODEL.move(field([(first, 1), (second, 1)], [([3, 3], 1)]), actions, NO_CHANCE)
    assert tuple(agent["cell"] for agent in MODEL.state_to_json(moved)["agents"]) == after
    assert (rewards, over) == ((0.0, 0.0), (False, False))


def test_food_is_lifted_by_levels_that_suffice_and_paid_by_level() -> None:
    state = field([([3, 4], 1), ([4, 3], 2)], [([3, 3], 3), ([5, 3], 2)], 5)
    assert MODEL.move(state, ("load", "stay"), NO_CHANCE)[0] == state
    both, rewards, over = MODEL.move(state, ("load", "load"), NO_CHANCE)
    assert rewards == (pytest.approx(1 / 5), pytest.approx(2 / 5 + 2 / 5))
    assert (both[5], over, MODEL.active(both)) == ((), (True, True), ())
    alone, rewards, over = MODEL.move(state, ("stay", "load"), NO_CHANCE)
    assert (rewards, alone[5], over) == ((0.0, pytest.approx(2 / 5)), (33, 3), (False, False))


def test_agents_see_two_cells_far() -> None:
    state = field([([3, 4], 1), ([5, 2], 2)], [([1, 6], 3), ([6, 4], 2), ([5, 5], 4)])
    told = MODEL.observe(state, None, NO_CHANCE)
    first, second = (MODEL.observation_to_json(agent, told[agent]) for agent in range(2))
    assert first == {
        "level": 1,
        "other": {"at": [2, -2], "level": 2},
        "food": [{"at": [-2, 2], "level": 3}, {"at": [2, 1], "level": 4}],
    }
    assert second == {"level": 2, "other": {"at": [-2, 2], "level": 1}, "food": [{"at": [1, 2], "level": 2}]}
    assert MODEL.observation_from_json(0, first) == MODEL.observe(state, None, NO_CHANCE)[0]
    assert MODEL.encode(1, MODEL.observe(state, None, NO_CHANCE)[1])[:9] == (2, 2, 2, 0, 4, 1, 3, 4, 2)
    assert "b2" not in MODEL.render(field([([3, 4], 1), ([6, 2], 2)], []), 0)


def test_drawn_food_lies_apart_and_off_the_border() -> None:
    model, rng = Foraging(), random.Random(4)
    for _ in range(50):
        cell, _, cell_1, _, total, food = model.initial_state(drawing(rng))
        places = [divmod(one, 10) for one in food[::2]]
        assert cell != cell_1
        assert {cell, cell_1}.isdisjoint(food[::2])
        assert all(0 < row < 9 and 0 < column < 9 for row, column in places)
        assert all(max(abs(a - c), abs(b - d)) > 1 for k, (a, b) in enumerate(places) for c, d in places[:k])
        assert total == sum(food[1::2])
    assert not isinstance(model, InfersPosg)


def test_a_start_is_drawn_given_the_own_level() -> None:
    start = MODEL.initial_state_given(1, (3, -1, 0), drawing(random.Random(1)))
    assert (start[0], start[2], start[3]) == (0, 99, 3)
    with pytest.raises(PosgError, match="no start of foraging shows agent 1"):
        MODEL.initial_state_given(1, (4, -1, 0), drawing(random.Random(1)))


def test_levels_that_were_seen_are_known_and_bound_those_that_were_not() -> None:
    first = MODEL.ways([((2, -1, 0), None)], 0)
    assert sorted((way.state[3], way.weight, way.bounds[33]) for way in first) == [
        (1, 1.0, (1, 3)),
        (2, 1.0, (1, 4)),
        (3, 1.0, (1, 5)),
    ]
    seen = MODEL.ways([((2, -1, 0), "south"), ((2, -1, 0), "east"), ((2, -1, 0, 24, 5, 14, 1), None)], 0)
    assert {(way.state[3], way.bounds[33]) for way in seen} == {(3, (5, 5))}


def test_what_is_resampled_explains_what_an_agent_saw() -> None:
    rng = random.Random(9)
    state = MODEL.initial_state(drawing(rng))
    told = MODEL.observe(state, None, NO_CHANCE)
    history = []
    for _ in range(12):
        joint = (rng.choice(ACTIONS), rng.choice(ACTIONS))
        history.append((told[0], joint[0]))
        state = MODEL.move(state, joint, NO_CHANCE)[0]
        told = MODEL.observe(state, None, NO_CHANCE)
    drawn, histories = MODEL.resample([*history, (told[0], None)], 0, rng)
    assert MODEL.observe(drawn, None, NO_CHANCE)[0] == told[0]
    assert histories[0] is None
    private = histories[1]
    assert private is not None
    assert len(private) == 13
    assert MODEL.observe(drawn, None, NO_CHANCE)[1] == private[-1][0]
    with pytest.raises(PosgError, match="nothing explains what agent 0 saw"):
        MODEL.resample([((2, -1, 0), "stay"), ((3, -1, 0), None)], 0, rng)


def test_fast_rollouts_agree_with_steps_in_their_mean() -> None:
    rng, slow, fast = random.Random(3), 0.0, 0.0
    start = field([([4, 4], 3), ([4, 2], 3)], [([3, 3], 2), ([5, 3], 1), ([3, 1], 4)], 7)
    for _ in range(1500):
        state, scale = start, 1.0
        for _ in range(10):
            if not state[5]:
                break
            state, rewards, _ = MODEL.sample_step(state, (rng.choice(ACTIONS), rng.choice(ACTIONS)), rng)
            slow, scale = slow + scale * rewards[1] / 1500, scale * 0.9
        fast += MODEL.rollout(start, 1, rng, 10, 0.9) / 1500
    assert fast == pytest.approx(slow, abs=0.03)


@pytest.mark.parametrize(
    ("name", "told", "actions"),
    [
        ("H1", (1, -1, 0, 13, 5, 24, 1), {"load"}),
        ("H3", (1, -1, 0, 13, 5, 24, 1), {"south", "east"}),
        ("H3", (1, -1, 0, 13, 5), set(ACTIONS)),
        ("H2", (1, 14, 1, 4, 3, 20, 1), {"north", "east"}),
        ("H2", (1, -1, 0, 4, 3), set(ACTIONS)),
        ("H4", (1, 14, 1, 4, 3, 20, 1), {"south", "west"}),
        ("H5", (1, 14, 1, 4, 3, 20, 1), {"south", "west"}),
        ("H5", (1, 14, 2, 4, 3, 20, 1), {"north", "east", "south", "west"}),
    ],
)
def test_a_forager_goes_for_its_food(name: str, told: tuple[int, ...], actions: set[str]) -> None:
    policy = POLICIES[name]
    chances = policy.probabilities(policy.update(policy.start(0), None, told), ACTIONS)
    assert {action for action, chance in zip(ACTIONS, chances, strict=True) if chance} == actions
    view = {"agent": 0, "step": 0, "seen": MODEL.observation_to_json(0, told)}
    assert PARTNERS[name]([(view, None)], ACTIONS, random.Random(0)) in actions


def test_foragers_gather_food() -> None:
    rng = random.Random(3)
    played = [play_policies(MODEL, [POLICIES["H5"], POLICIES["H3"]], rng) for _ in range(30)]
    assert all(sum(game.returns) <= 1.0 + 1e-9 for game in played)
    assert sum(sum(game.returns) for game in played) > 6.0
