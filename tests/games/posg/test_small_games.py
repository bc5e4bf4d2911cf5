"""Tiger, the broadcast channel, rock-paper-scissors, two paths, drone and fugitive: what their rules say, exactly."""

import math
import random
import textwrap
from collections.abc import Mapping
from importlib import resources

import pytest

from games.api import Json
from games.posg import registry
from games.posg.api import Joint, PosgError, observation_to_json, state_to_json
from games.posg.chance import drawing, replaying
from games.posg.exact import ExactModel, Step
from games.posg.two_paths.model import MAPS


def steps(game_id: str, described: Json, joint: Joint, **params: object) -> list[Step]:
    model = registry.make(game_id, **params)
    state = model.state_from_json(described) if hasattr(model, "state_from_json") else described
    return list(ExactModel(model).steps(state, joint))


def chances(found: list[Step], agent: int) -> Mapping[object, float]:
    """Returns the probabilities of what an agent is told."""
    summed: dict[object, float] = {}
    for step in found:
        summed[step.observations[agent]] = summed.get(step.observations[agent], 0.0) + step.probability
    return summed


def test_whoever_listens_hears_where_the_tiger_is_after_it_moved() -> None:
    found = steps("tiger-2a", "left", ("listen", "open right"))
    for state in ("left", "right"):
        there = [step for step in found if step.state == state]
        assert math.fsum(step.probability for step in there) == pytest.approx(0.5)
        heard = math.fsum(step.probability for step in there if step.observations[0][0] == state)
        assert heard == pytest.approx(0.5 * 0.85)


def test_a_creak_is_heard_wrongly_as_either_of_the_two_others() -> None:
    found = chances(steps("tiger-2a", "left", ("listen", "open right")), 0)
    creaks = {
        creak: math.fsum(p for heard, p in found.items() if heard[1] == creak) for creak in ("left", "right", "silence")
    }
    assert creaks == pytest.approx({"left": 0.05, "right": 0.9, "silence": 0.05})


def test_whoever_opens_a_door_hears_noise() -> None:
    found = chances(steps("tiger-2a", "left", ("open left", "listen")), 0)
    assert len(found) == 6
    assert [*found.values()] == pytest.approx([1 / 6] * 6)


@pytest.mark.parametrize(
    ("buffers", "joint", "paid", "full"),
    [
        ([1, 1], ("send", "wait"), 1.0, (0.9, 1.0)),
        ([1, 1], ("wait", "send"), 1.0, (1.0, 0.1)),
        ([1, 1], ("send", "send"), 0.0, (1.0, 1.0)),
        ([1, 0], ("send", "send"), 0.0, (1.0, 0.1)),
        ([0, 1], ("send", "wait"), 0.0, (0.9, 1.0)),
        ([0, 0], ("wait", "wait"), 0.0, (0.9, 0.1)),
    ],
)
def test_one_message_gets_through_at_a_time(
    buffers: list[int], joint: Joint, paid: float, full: tuple[float, float]
) -> None:
    found = steps("mabc", buffers, joint)
    assert {tuple(step.rewards) for step in found} == {(paid, paid)}
    for node in range(2):
        assert math.fsum(step.probability for step in found if step.state[node]) == pytest.approx(full[node])
    collision = 0.9 if joint == ("send", "send") else 0.1
    assert chances(found, 0)["collision"] == pytest.approx(collision)


def test_paper_beats_rock_and_each_sees_what_the_other_did() -> None:
    (step,) = steps("rps-repeated", "play", ("paper", "rock"))
    assert (step.rewards, step.observations) == ((1.0, -1.0), ("rock", "paper"))
    (step,) = steps("rps-repeated", "play", ("paper", "scissors"))
    assert step.rewards == (-1.0, 1.0)


def two_paths(runner: list[int], chaser: list[int], joint: Joint) -> tuple[Json, tuple[float, ...], bool]:
    model = registry.make("two-paths")
    (step,) = steps("two-paths", {"runner": runner, "chaser": chaser}, joint)
    return state_to_json(model, step.state), tuple(step.rewards), step.over[0]


def test_the_runner_is_caught_beside_the_chaser_even_on_a_goal() -> None:
    after = {"runner": [0, 0], "chaser": [1, 0]}
    assert two_paths([0, 1], [2, 0], ("north", "west")) == (after, (-1.0, 1.0), True)
    after = {"runner": [0, 0], "chaser": [2, 0]}
    assert two_paths([0, 1], [3, 0], ("north", "west")) == (after, (1.0, -1.0), True)


def test_the_chaser_moves_first_and_a_runner_that_it_lands_on_stays() -> None:
    after = {"runner": [1, 0], "chaser": [1, 0]}
    assert two_paths([1, 0], [2, 0], ("west", "west")) == (after, (-1.0, 1.0), True)


def test_walls_stop_and_steps_cost() -> None:
    after = {"runner": [3, 6], "chaser": [4, 0]}
    assert two_paths([3, 6], [4, 0], ("north", "south")) == (after, (-0.01, -0.01), False)


def test_both_paths_of_each_map_lead_to_a_goal_and_one_is_shorter() -> None:
    for size in MAPS:
        model = registry.make("two-paths", size=size)
        distances = {model.start[0]: 0}
        waiting = [model.start[0]]
        for cell in waiting:
            for after in model.grid.neighbours[cell]:
                if after not in distances:
                    distances[after] = distances[cell] + 1
                    waiting.append(after)
        lengths = [distances[goal] for goal in model.goals]
        assert len(set(lengths)) == 2


def test_a_slip_goes_each_other_way_with_a_third_of_its_probability() -> None:
    found = steps("two-paths", {"runner": [5, 4], "chaser": [0, 0]}, ("north", "west"), slip=0.3)
    assert math.fsum(step.probability for step in found) == pytest.approx(1.0)
    model = registry.make("two-paths")
    runner = {}
    for step in found:
        place = tuple(state_to_json(model, step.state)["runner"])
        runner[place] = runner.get(place, 0.0) + step.probability
    assert runner == pytest.approx({(5, 3): 0.7, (5, 5): 0.1, (5, 4): 0.2})


def test_a_path_of_no_known_size_is_refused() -> None:
    with pytest.raises(PosgError, match=r"maps of size 3, 4 and 7 and slips from 0 to below 1, not 5 and 0\.0"):
        registry.make("two-paths", size=5)


def hunt(uav: list[int], fugitive: list[int], joint: Joint, **params: object) -> list[Step]:
    return steps("uav", {"uav": uav, "fugitive": fugitive}, joint, **params)


def test_a_caught_fugitive_is_placed_anew_and_one_at_the_house_too() -> None:
    for uav, fugitive, joint, paid in (
        ([0, 0], [1, 0], ("east", "east"), (1.0, -1.0)),
        ([0, 4], [2, 2], ("north", "north"), (-1.0, 1.0)),
        ([2, 0], [2, 2], ("south", "north"), (-1.0, 1.0)),
    ):
        found = hunt(uav, fugitive, joint)
        assert {tuple(step.rewards) for step in found} == {paid}
        drone = found[0].state[0]
        places = {step.state[1] for step in found}
        assert len(places) == (24 if drone == 7 else 23)  # the house has the number 7
        assert not places & {7, drone}
    assert {tuple(step.rewards) for step in hunt([4, 4], [0, 0], ("north", "south"))} == {(-0.04, -0.04)}


def test_the_drone_sees_the_fugitive_or_a_place_beside_it_that_is_not_its_own() -> None:
    found = chances(hunt([4, 3], [4, 0], ("north", "south")), 0)  # now at rows 2 and 1
    cell = {(column, row): row * 5 + column for column in range(5) for row in range(5)}
    assert found == pytest.approx({(14, cell[4, 1]): 0.9, (14, cell[3, 1]): 0.05, (14, cell[4, 0]): 0.05})


@pytest.mark.parametrize(
    ("place", "truth", "posggym"),
    [([2, 0], "north", "level"), ([2, 2], "south", "south"), ([1, 1], "level", "north"), ([3, 1], "level", "level")],
)
def test_the_fugitive_senses_where_it_is_beside_the_house(place: list[int], truth: str, posggym: str) -> None:
    for variant, right, chance in (("documented", truth, 0.8), ("posggym", posggym, 0.8 + 0.2 / 3)):
        model = registry.make("uav", variant=variant)
        state = model.state_from_json({"uav": [4, 4], "fugitive": place})
        told: dict[object, float] = {}

        def choose(label: str, outcomes: object, told: dict[object, float] = told) -> Json:
            if label.startswith("sense"):
                told.update(outcomes)
            return outcomes[0][0]

        model.observe(state, None, choose)
        wrong = (1.0 - chance) / 2
        assert told == pytest.approx({word: chance if word == right else wrong for word in ("north", "south", "level")})


def test_far_from_the_house_nothing_is_sensed_and_nothing_drawn() -> None:
    model = registry.make("uav")
    state = model.state_from_json({"uav": [4, 4], "fugitive": [0, 0]})
    drone, fugitive = model.observe(state, None, replaying({"sight of the UAV": [1, 0]}))
    assert observation_to_json(model, 0, drone) == {"uav": [4, 4], "fugitive": [1, 0]}
    assert fugitive == "nothing"


def test_starts_of_the_hunt_are_equally_likely() -> None:
    starts = ExactModel(registry.make("uav")).starts()
    places: dict[object, float] = {}
    for start in starts:
        places[start.state] = places.get(start.state, 0.0) + start.probability
    assert len(places) == 24 * 23
    assert {round(chance * 24 * 23, 9) for chance in places.values()} == {1.0}


@pytest.mark.parametrize("game_id", ["mabc", "rps-repeated", "tiger-2a", "two-paths", "uav"])
def test_fast_steps_use_the_generator_that_they_are_given(game_id: str) -> None:
    model = registry.make(game_id)
    state = model.initial_state(drawing(random.Random(0)))
    joint = tuple(actions[-1] for actions in model.info.actions)
    for _ in range(3):
        first, again = ([model.sample_step(state, joint, random.Random(seed)) for seed in range(5)] for _ in range(2))
        assert first == again


def test_the_map_of_two_paths_is_that_of_its_texts() -> None:
    rules, book = resources.files("games.posg.two_paths"), "\n".join(" ".join(row) for row in MAPS[7])
    assert "\n".join(MAPS[7]) in rules.joinpath("RULES.md").read_text(encoding="utf-8")
    assert textwrap.indent(book, "    ") in rules.joinpath("RULEBOOK.md").read_text(encoding="utf-8")
