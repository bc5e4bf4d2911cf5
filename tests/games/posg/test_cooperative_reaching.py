"""Cooperative reaching: goals, sight, its partners' aims, and that fast ways agree with slow ones."""

import random

import pytest

from games.posg.api import PosgError
from games.posg.chance import enumerating
from games.posg.cooperative_reaching.model import ACTIONS, UNSEEN, CooperativeReaching
from games.posg.cooperative_reaching.partners import PARTNERS, policies
from games.posg.policies import PosgPolicy, play_policies

MODEL = CooperativeReaching()
POLICIES = policies(MODEL)


def cell(column: int, row: int) -> int:
    return row * 5 + column


def told(policy: PosgPolicy, own: tuple[int, int], other: tuple[int, int]) -> dict[str, float]:
    """Returns what a policy does that is told this at the start."""
    memory = policy.update(policy.start(0), None, (cell(*own), cell(*other)))
    return likely(policy, memory)


def likely(policy: PosgPolicy, memory: object) -> dict[str, float]:
    """Returns the actions that a policy may play."""
    return {
        action: chance for action, chance in zip(ACTIONS, policy.probabilities(memory, ACTIONS), strict=True) if chance
    }


def no_chance(label: str, outcomes: object) -> None:
    raise AssertionError(f"{label} is drawn")


def test_there_are_81_equally_likely_starts_in_the_middle() -> None:
    starts = [(branch.probability, state) for branch, state in enumerating(MODEL.initial_state)]
    assert len({state for _, state in starts}) == 81
    assert all(probability == pytest.approx(1 / 81) for probability, _ in starts)
    assert {place for _, state in starts for place in state} == {6, 7, 8, 11, 12, 13, 16, 17, 18}


@pytest.mark.parametrize(("corner", "value"), [((0, 0), 1.0), ((4, 4), 1.0), ((4, 0), 0.75), ((0, 4), 0.75)])
def test_meeting_in_a_corner_pays_its_value_and_ends_the_game(corner: tuple[int, int], value: float) -> None:
    column, row = corner
    state = (cell(column, row), cell(abs(column - 1), row))
    state, rewards, over = MODEL.move(
        state, ("up" if row == 0 else "down", "left" if column == 0 else "right"), no_chance
    )
    assert (rewards, over, MODEL.active(state)) == ((value, value), (True, True), ())


def test_meeting_elsewhere_or_in_two_corners_pays_nothing() -> None:
    assert MODEL.move((cell(1, 0), cell(3, 0)), ("right", "left"), no_chance)[1:] == ((0.0, 0.0), (False, False))
    assert MODEL.move((cell(1, 0), cell(3, 0)), ("left", "right"), no_chance)[1:] == ((0.0, 0.0), (False, False))


def test_an_agent_that_sees_two_cells_is_not_told_of_one_further_away() -> None:
    model = CooperativeReaching(sight=2)
    near, far = (cell(0, 0), cell(2, 2)), (cell(0, 0), cell(3, 0))
    assert model.observe(near, None, no_chance) == (near, near[::-1])
    assert model.observe(far, None, no_chance) == ((far[0], UNSEEN), (far[1], UNSEEN))
    assert model.observation_to_json(0, (far[0], UNSEEN)) == {"own": [0, 0], "other": None}
    assert model.render(far, 0).count("1") == 0
    assert model.render(far).count("1") == 1


def test_a_start_is_drawn_given_what_an_agent_is_told() -> None:
    model = CooperativeReaching(sight=1)
    assert model.initial_state_given(1, (cell(2, 2), cell(1, 1)), no_chance) == (cell(1, 1), cell(2, 2))
    starts = [
        state for _, state in enumerating(lambda choose: model.initial_state_given(0, (cell(1, 1), UNSEEN), choose))
    ]
    assert [state[1] for state in starts] == [cell(3, 1), cell(3, 2), cell(1, 3), cell(2, 3), cell(3, 3)]
    for impossible in ((cell(0, 0), cell(1, 1)), (cell(2, 2), UNSEEN)):
        with pytest.raises(PosgError, match="no start of cooperative-reaching shows agent 0"):
            model.initial_state_given(0, impossible, no_chance)


def test_json_goes_both_ways() -> None:
    state = (cell(3, 1), cell(0, 4))
    assert MODEL.state_to_json(state) == [[3, 1], [0, 4]]
    assert MODEL.state_from_json([[3, 1], [0, 4]]) == state
    for seen in (state, (state[0], UNSEEN)):
        assert MODEL.observation_from_json(0, MODEL.observation_to_json(0, seen)) == seen


def test_fast_rollouts_agree_with_steps_in_their_mean() -> None:
    rng, total = random.Random(1), 0.0
    for _ in range(1500):
        state, paid, step = (cell(1, 1), cell(2, 1)), 0.0, 0
        while MODEL.active(state) and step < 12:
            state, rewards, _ = MODEL.sample_step(state, (rng.choice(ACTIONS), rng.choice(ACTIONS)), rng)
            paid, step = paid + rewards[0] * 0.9**step, step + 1
        total += paid
    fast = sum(MODEL.rollout((cell(1, 1), cell(2, 1)), 0, rng, 12, 0.9) for _ in range(6000))
    assert fast / 6000 == pytest.approx(total / 1500, abs=0.02)


@pytest.mark.parametrize(
    ("name", "actions"),
    [
        ("H1", {"up": 0.5, "left": 0.5}),
        ("H2", {"down": 0.5, "right": 0.5}),
        ("H3", {"up": 0.5, "left": 0.5}),
        ("H4", {"down": 0.5, "right": 0.5}),
        ("H5", {"up": 0.25, "down": 0.25, "left": 0.25, "right": 0.25}),
        ("H7", {"up": 0.25, "down": 0.25, "left": 0.25, "right": 0.25}),
        ("H8", {"up": 0.5, "right": 0.5}),
        ("H9", {"up": 0.25, "down": 0.25, "left": 0.25, "right": 0.25}),
        ("H10", {"up": 0.5, "right": 0.5}),
        ("H11", {"right": 1.0}),
    ],
)
def test_a_partner_makes_for_its_goal(name: str, actions: dict[str, float]) -> None:
    assert told(POLICIES[name], (1, 1), (3, 1)) == pytest.approx(actions)


def test_a_partner_that_chose_a_goal_at_the_start_keeps_to_it() -> None:
    policy = POLICIES["H7"]
    memory = policy.update(policy.start(0), None, (cell(2, 2), cell(1, 1)))
    memory = policy.update(memory, "up", (cell(2, 1), cell(1, 1)))
    assert likely(policy, memory) == pytest.approx({"up": 0.5, "left": 0.25, "right": 0.25})
    memory = policy.update(memory, "left", (cell(1, 1), cell(1, 1)))
    assert likely(policy, memory) == pytest.approx({"up": 0.5, "left": 0.5})


def test_followers_do_not_meet_and_a_follower_meets_one_that_knows_its_goal() -> None:
    rng = random.Random(2)
    played = [play_policies(MODEL, [POLICIES["H3"], POLICIES["H11"]], rng) for _ in range(30)]
    assert all(game.returns == (1.0, 1.0) and game.is_over for game in played)
    assert play_policies(MODEL, [POLICIES["H11"]] * 2, rng).returns == (0.0, 0.0)


def test_partners_play_the_game_of_turns_from_what_they_are_told() -> None:
    view = {"agent": 1, "step": 0, "seen": {"own": [1, 1], "other": [3, 1]}}
    assert PARTNERS["H11"]([(view, None)], ACTIONS, random.Random(0)) == "right"
    after = {"agent": 1, "step": 1, "seen": {"own": [2, 1], "other": [2, 1]}}
    assert PARTNERS["H11"]([(view, "right"), (after, None)], ACTIONS, random.Random(0)) == "stay"
