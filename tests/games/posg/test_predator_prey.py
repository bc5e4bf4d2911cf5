"""Predators and prey: how prey flees in both variants, catching, views, steps given an observation, hunters."""

import random

import pytest

from games.posg.api import PosgError
from games.posg.chance import drawing, enumerating, replaying
from games.posg.policies import play_policies
from games.posg.predator_prey.model import ACTIONS, Hunt, PredatorPrey
from games.posg.predator_prey.partners import PARTNERS, policies

MODEL = PredatorPrey()
DOCUMENTED = PredatorPrey("documented")
POLICIES = policies(MODEL)
FAR = [9, 9]


def hunt(first: list[int], second: list[int], *prey: list[int], caught: tuple[int, ...] = ()) -> Hunt:
    cells = [*prey, *[FAR] * (3 - len(prey))]
    gone = {*caught, *range(len(prey), 3)}
    return MODEL.state_from_json(
        {
            "predators": [first, second],
            "prey": [
                {"cell": cell, "caught": number in gone, "gone": number in gone} for number, cell in enumerate(cells)
            ],
        }
    )


def fled(model: PredatorPrey, state: Hunt) -> dict[tuple[int, int], float]:
    """Returns where prey 0 may be next."""
    found: dict[tuple[int, int], float] = {}
    for branch, moved in enumerating(lambda choose: model.move(state, ("stay", "stay"), choose)):
        column, row = moved[0][2] % 10, moved[0][2] // 10
        found[column, row] = found.get((column, row), 0.0) + branch.probability
    return found


def test_there_are_3360_starts() -> None:
    starts = [(branch.probability, state) for branch, state in enumerating(MODEL.initial_state)]
    assert len(starts) == len({state for _, state in starts}) == 8 * 7 * 60
    assert {round(1 / probability) for probability, _ in starts} == {3360}


def test_prey_flees_to_the_furthest_cell_and_of_equal_ones_to_the_right() -> None:
    assert fled(MODEL, hunt([4, 5], [0, 0], [5, 5])) == {(6, 5): 1.0}
    assert fled(MODEL, hunt([5, 4], [0, 0], [5, 5])) == {(6, 5): 1.0}
    assert fled(MODEL, hunt([6, 5], [0, 0], [5, 5])) == {(5, 6): 1.0}


def test_prey_that_counts_wrongly_dares_more() -> None:
    state = hunt([3, 2], [0, 2], [1, 2], [2, 1])
    assert fled(MODEL, state) == {(2, 2): 1.0}
    assert fled(DOCUMENTED, state) == {(1, 3): 1.0}


def test_prey_that_is_far_from_all_walks_at_random() -> None:
    assert fled(MODEL, hunt([0, 0], [9, 0], [4, 5])) == dict.fromkeys(((4, 4), (5, 5), (4, 6), (3, 5)), 0.25)


def test_as_published_one_near_axis_is_enough_and_as_documented_both_are_needed() -> None:
    state = hunt([5, 0], [9, 0], [5, 9])
    assert fled(MODEL, state) == {(6, 9): 1.0}
    assert fled(DOCUMENTED, state) == {cell: pytest.approx(1 / 3) for cell in ((5, 8), (6, 9), (4, 9))}


def test_one_of_two_equally_close_predators_is_drawn_to_be_fled() -> None:
    assert fled(DOCUMENTED, hunt([3, 5], [7, 5], [5, 5])) == {(6, 5): 0.5, (5, 6): 0.5}


def test_prey_is_caught_by_two_next_to_it_and_pays_a_third_to_both() -> None:
    state = hunt([0, 1], [1, 0], [0, 0])
    ways = [moved for _, moved in enumerating(lambda choose: MODEL.move(state, ("stay", "stay"), choose))]
    assert {(moved[0][5], moved[1], moved[2]) for moved in ways} == {(7, (1 / 3, 1 / 3), (True, True))}
    assert MODEL.active(ways[0][0]) == ()
    view = MODEL.observation_to_json(0, MODEL.observe(ways[0][0], None, replaying({}))[0])
    assert view == ["#####", "##pP.", "##P..", "##...", "##..."]


def test_predators_do_not_enter_one_cell_nor_that_of_prey() -> None:
    state = hunt([0, 0], [2, 0], [9, 9], caught=(0,))
    after = MODEL.move(state, ("right", "left"), replaying({}))[0]
    assert after[:2] == (0, 2)
    swapped = MODEL.move(hunt([0, 0], [1, 0], [9, 9], caught=(0,)), ("right", "left"), replaying({}))[0]
    assert swapped[:2] == (1, 0)


def test_a_step_is_drawn_given_what_a_predator_is_told() -> None:
    rng = random.Random(5)
    state = MODEL.initial_state(drawing(rng))
    for _ in range(30):
        joint = (rng.choice(ACTIONS), rng.choice(ACTIONS))
        truth: dict[str, float] = {}
        for branch, moved in enumerating(lambda choose, s=state, j=joint: MODEL.move(s, j, choose)):
            told = MODEL.observe(moved[0], joint, replaying({}))[1]
            truth[told] = truth.get(told, 0.0) + branch.probability
        for told, probability in truth.items():
            given = MODEL.sample_step_given(state, joint, 1, told, rng)
            assert given is not None
            assert given[1] == pytest.approx(probability)
            assert MODEL.observe(given[0][0], joint, replaying({}))[1] == told
        assert MODEL.sample_step_given(state, joint, 1, "?", rng) is None
        state = MODEL.sample_step(state, joint, rng)[0]


def test_a_start_is_drawn_given_what_a_predator_is_told() -> None:
    state = MODEL.initial_state(drawing(random.Random(2)))
    told = MODEL.observe(state, None, replaying({}))[0]
    given = MODEL.initial_state_given(0, told, drawing(random.Random(3)))
    assert MODEL.observe(given, None, replaying({}))[0] == told
    with pytest.raises(PosgError, match="no start of predator-prey shows predator 0"):
        MODEL.initial_state_given(0, "P", drawing(random.Random(3)))


def test_fast_rollouts_agree_with_steps_in_their_mean() -> None:
    rng, slow, fast = random.Random(3), 0.0, 0.0
    start = hunt([0, 2], [2, 0], [0, 0], [1, 1])
    for _ in range(600):
        state, scale = start, 1.0
        for _ in range(8):
            if state[5] == 7:
                break
            state, rewards, _ = MODEL.move(state, (rng.choice(ACTIONS), rng.choice(ACTIONS)), drawing(rng))
            slow, scale = slow + scale * rewards[1] / 600, scale * 0.9
        fast += MODEL.rollout(start, 1, rng, 8, 0.9) / 600
    assert fast == pytest.approx(slow, abs=0.05)


@pytest.mark.parametrize(
    ("name", "rows", "action"),
    [
        ("H1", [".....", ".....", "..P.p", ".....", "....."], "right"),
        ("H1", [".....", ".....", "..P..", "..P..", "....."], "down"),
        ("H3", [".....", ".....", "..P..", "..P..", "....."], "left"),
        ("H3", ["...p.", ".....", "..P..", "..p..", "....P"], "down"),
        ("H2", ["#####", "#####", "##P..", "##...", "##..."], "right"),
        ("H2", ["#....", "#....", "#.P..", "#....", "#...."], "up"),
    ],
)
def test_a_hunter_goes_for_its_target_or_circles(name: str, rows: list[str], action: str) -> None:
    policy = POLICIES[name]
    chances = policy.probabilities(policy.update(policy.start(0), None, "".join(rows)), ACTIONS)
    assert dict(zip(ACTIONS, chances, strict=True))[action] == pytest.approx(0.95)
    assert sum(chances) == pytest.approx(1.0)
    view = {"agent": 0, "step": 0, "seen": rows}
    assert PARTNERS[name]([(view, None)], ACTIONS, random.Random(0)) in ACTIONS


def test_hunters_catch_prey() -> None:
    rng = random.Random(3)
    played = [play_policies(MODEL, [POLICIES["H3"], POLICIES["H3"]], rng) for _ in range(20)]
    assert sum(game.returns[0] for game in played) > 4.0
