"""Driving: speeds, crashes, views, drivers; and that fast ways agree with slow ones."""

import random

import pytest

from games.posg.api import PosgError
from games.posg.chance import drawing, enumerating, replaying
from games.posg.driving.model import ARRIVED, CRASHED, TOLD, Driving, Traffic
from games.posg.driving.partners import PARTNERS, policies
from games.posg.driving.roads import ACTIONS
from games.posg.policies import play_policies

MODEL = Driving()
POLICIES = policies(MODEL)


def vehicle(cell: tuple[int, int], heading: str, speed: int, **further: object) -> dict[str, object]:
    told = {"cell": list(cell), "heading": heading, "speed": speed, "destination": [1, 0], "ended": "", "told": False}
    return {**told, "least": 10, "first": 20, **further}


def traffic(*vehicles: dict[str, object]) -> Traffic:
    return MODEL.state_from_json({"map": 0, "vehicles": list(vehicles)})


def moved(state: Traffic, *actions: str, order: tuple[int, ...] = (0, 1)):  # type: ignore[no-untyped-def]
    return MODEL.move(state, actions, replaying({"order of vehicles": list(order)}))


AWAY = vehicle((13, 8), "north", 0, destination=[12, 0])


def test_144_starts_are_equally_likely() -> None:
    starts = [(branch.probability, state) for branch, state in enumerating(MODEL.initial_state)]
    assert len({state for _, state in starts}) == 144
    assert all(probability == pytest.approx(1 / 144) for probability, _ in starts)


@pytest.mark.parametrize(
    ("speed", "action", "cell", "heading", "now"),
    [
        (0, "wait", (0, 5), "north", 0),
        (0, "accelerate", (0, 4), "north", 1),
        (1, "accelerate", (0, 3), "north", 2),
        (2, "accelerate", (0, 3), "north", 2),
        (0, "brake", (0, 6), "north", -1),
        (-1, "turn left", (0, 6), "north", -1),
        (2, "turn right", (0, 5), "east", 0),
        (1, "turn left", (0, 5), "west", 0),
        (0, "turn right", (0, 5), "east", 0),
    ],
)
def test_a_vehicle_moves_by_its_speed_and_stops_at_walls(
    speed: int, action: str, cell: tuple[int, int], heading: str, now: int
) -> None:
    after, rewards, over = moved(traffic(vehicle((0, 5), "north", speed), AWAY), action, "wait")
    told = MODEL.state_to_json(after)["vehicles"][0]
    assert (told["cell"], told["heading"], told["speed"]) == (list(cell), heading, now)
    assert (rewards[1], over) == (0.0, [False, False])


def test_a_wall_after_one_cell_stops_no_fast_vehicle() -> None:
    after, *_ = moved(traffic(vehicle((0, 2), "north", 2), AWAY), "wait", "wait")
    told = MODEL.state_to_json(after)["vehicles"][0]
    assert (told["cell"], told["speed"]) == ([0, 1], 2)


def test_progress_and_arrival_are_paid() -> None:
    state = traffic(vehicle((3, 0), "west", 1, least=2, first=20), AWAY)
    state, rewards, over = moved(state, "wait", "wait")
    assert (rewards[0], over[0]) == (pytest.approx(0.5 / 20), False)
    state, rewards, over = moved(state, "wait", "wait")
    assert (rewards[0], over[0]) == (pytest.approx(0.5 + 0.5 / 20), True)
    assert (MODEL.active(state), MODEL.observe(state, None, replaying({}))[0] is not None) == ([1], True)
    state, rewards, over = MODEL.move(state, ("wait", "wait"), replaying({}))
    assert (rewards[0], state[3], MODEL.observe(state, None, replaying({}))[0]) == (0.0, ARRIVED | TOLD, None)
    assert MODEL.ending(state) == {"vehicle_0": "success", "vehicle_1": "timeout"}


def test_who_moves_first_decides_who_is_hit() -> None:
    state = traffic(vehicle((5, 0), "east", 1, least=4), vehicle((7, 0), "west", 1, least=5))
    first, rewards, over = moved(state, "wait", "wait")
    assert [told["cell"] for told in MODEL.state_to_json(first)["vehicles"]] == [[6, 0], [7, 0]]
    assert (over, rewards) == ([True, True], [-1.0, -1.0])
    second, *_ = moved(state, "wait", "wait", order=(1, 0))
    assert [told["cell"] for told in MODEL.state_to_json(second)["vehicles"]] == [[5, 0], [6, 0]]
    assert [second[3], second[8]] == [CRASHED, CRASHED]


def test_one_that_was_hit_does_not_move() -> None:
    state = traffic(vehicle((5, 0), "east", 1), vehicle((6, 0), "east", 1))
    assert MODEL.state_to_json(moved(state, "wait", "wait")[0])["vehicles"][1]["cell"] == [6, 0]
    assert not any(moved(state, "wait", "wait", order=(1, 0))[2])


def test_a_driver_sees_three_cells_ahead_as_it_heads() -> None:
    state = traffic(vehicle((4, 0), "west", 1), vehicle((6, 0), "north", 0))
    seen = MODEL.observation_to_json(0, MODEL.observe(state, None, replaying({}))[0])
    assert seen["view"] == ["#D#", "#.#", "#.#", "#V#", "#.#"]
    assert (seen["cell"], seen["destination"], seen["speed"]) == ([4, 0], [1, 0], 1)
    other = MODEL.observe(traffic(vehicle((4, 0), "east", 1), vehicle((6, 0), "north", 0)), None, replaying({}))[0]
    assert MODEL.observation_from_json(0, MODEL.observation_to_json(0, other)) == other
    assert MODEL.observation_to_json(0, other)["view"] == ["#..", "#V.", "#.#", "#V#", "#.#"]


def test_a_start_is_drawn_given_what_a_driver_is_told() -> None:
    state = MODEL.initial_state(drawing(random.Random(1)))
    told = MODEL.observe(state, None, replaying({}))[1]
    starts = {given for _, given in enumerating(lambda choose: MODEL.initial_state_given(1, told, choose))}
    assert state in starts
    seen = {MODEL.observe(given, None, replaying({}))[1] for given in starts}
    assert (seen, len(starts)) == ({told}, 6)
    with pytest.raises(PosgError, match="no start of driving shows vehicle 1"):
        MODEL.initial_state_given(1, (told[0], 1, *told[2:]), drawing(random.Random(1)))


@pytest.mark.parametrize("agents", [2, 3])
def test_fast_steps_and_rollouts_agree_with_the_rules(agents: int) -> None:
    model, rng, fast, slow = Driving("small roundabout", agents), random.Random(3), 0.0, 0.0
    games = 800
    for _ in range(games):
        start = state = model.initial_state(drawing(rng))
        for step in range(8):
            if state[3]:
                break
            joint = tuple(rng.choice(ACTIONS) for _ in range(agents))
            state, rewards, _ = model.move(state, joint, drawing(rng))
            slow += rewards[0] * 0.9**step
        fast += model.rollout(start, 0, rng, 8, 0.9)
    assert fast / games == pytest.approx(slow / games, abs=0.03)


def test_steps_that_are_sampled_are_steps_of_the_rules() -> None:
    rng = random.Random(5)
    state = MODEL.initial_state(drawing(rng))
    for _ in range(40):
        joint = (rng.choice(ACTIONS), rng.choice(ACTIONS))
        ways = [result for _, result in enumerating(lambda choose, s=state, j=joint: MODEL.move(s, j, choose))]
        after, rewards, over = MODEL.sample_step(state, joint, rng)
        assert (after, list(rewards), list(over)) in [(way[0], list(way[1]), list(way[2])) for way in ways]
        state = after


def test_a_daring_driver_takes_a_shortest_way_and_a_shy_one_stops_for_others() -> None:
    rng = random.Random(7)
    alone = Driving(agents=1)
    played = [play_policies(alone, [policies(alone)[name]], rng) for name in ("A0", "A100") for _ in range(5)]
    assert all(game.returns == (pytest.approx(1.0),) for game in played)
    assert max(game.steps for game in played[5:]) < 25
    state = traffic(vehicle((4, 0), "west", 1), vehicle((1, 0), "north", 0))
    told = MODEL.observe(state, None, replaying({}))[0]
    assert told is not None
    for name, action in (("A0", "brake"), ("A40", "wait"), ("A100", "wait")):
        policy, west = POLICIES[name], 3 << 2
        memory = policy.update(policy.start(0), None, told)
        assert policy.probabilities((memory[0] | west, *memory[1:]), [action])[0] > 0.0  # type: ignore[index]


def test_partners_drive_in_the_game_of_turns() -> None:
    told = MODEL.observe(MODEL.initial_state(drawing(random.Random(1))), None, replaying({}))[0]
    view = {"agent": 0, "step": 0, "seen": MODEL.observation_to_json(0, told)}
    assert PARTNERS["A100"]([(view, None)], ACTIONS, random.Random(0)) in ACTIONS
