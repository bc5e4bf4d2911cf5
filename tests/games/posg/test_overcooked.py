"""OvercookedV2 in Python: steps, pots, buttons, deliveries, what chefs see, starts; and chefs that play it."""

import random
from collections.abc import Sequence
from typing import Any

import pytest

from games.api import GameError, UnknownGameError
from games.posg import distributions, registry
from games.posg.api import PosgError
from games.posg.chance import drawing, enumerating, replaying
from games.posg.contract import assert_posg
from games.posg.offers import Hidden
from games.posg.overcooked_v2 import layouts
from games.posg.overcooked_v2.kitchens import Kitchen, item_of, kitchen
from games.posg.overcooked_v2.model import OvercookedV2, bounds, make
from games.posg.overcooked_v2.partners import partners_of, policies
from games.posg.overcooked_v2.rules import ACTIONS, DELIVERY, House, Table, apart
from games.posg.policies import play_policies

ROOM = make("overcooked-v2-cramped-room")
GROUNDED = make("overcooked-v2-grounded-coord-simple")
ONIONS = ["onion"] * 3
TOMATOES = ["tomato"] * 3


def chef(place: Sequence[int], facing: str, *item: str) -> dict[str, Any]:
    return {"cell": list(place), "facing": facing, "item": list(item)}


def holder(place: Sequence[int], kind: str, item: Sequence[str] = (), timer: int = 0) -> dict[str, Any]:
    return {"cell": list(place), "kind": kind, "item": list(item), "timer": timer}


def table(
    model: OvercookedV2, chefs: Sequence[dict[str, Any]], *cells: dict[str, Any], recipe: Sequence[str] = ONIONS
) -> Table:
    told = {"chefs": list(chefs), "cells": list(cells), "recipe": list(recipe), "delivered": False}
    return model.state_from_json(told)


def after(model: OvercookedV2, state: Table, *joint: str) -> tuple[dict[str, Any], float, tuple[int, ...]]:
    """Returns the next state as JSON, what is paid and the shaping."""
    done, paid, _ = model.move(state, joint, replaying({}))
    return model.state_to_json(done), paid[0], model.stepped(state, joint).shaping


AT_POT = chef([2, 1], "up")
AWAY = chef([3, 2], "down")
"""In the cramped room."""


def test_chefs_turn_where_they_cannot_walk_and_stand_on_floor_alone() -> None:
    state = table(ROOM, [chef([1, 1], "down"), chef([3, 2], "up")])
    done, _, _ = after(ROOM, state, "left", "down")
    assert done["chefs"] == [chef([1, 1], "left"), chef([3, 2], "down")]
    done, _, _ = after(ROOM, state, "right", "left")
    assert done["chefs"] == [chef([2, 1], "right"), chef([2, 2], "left")]


@pytest.mark.parametrize(
    ("cells", "wishes", "then"),
    [
        ([1, 3], [2, 2], [1, 3]),
        ([1, 2], [2, 1], [1, 2]),
        ([1, 2], [2, 3], [2, 3]),
        ([1, 2], [2, 2], [1, 2]),
        # The third runs into the second, who may not enter the first's cell; so the fourth stays, too.
        ([1, 2, 3, 4], [1, 1, 2, 3], [1, 2, 3, 4]),
        ([1, 2, 3], [2, 3, 1], [2, 3, 1]),
        ([1, 2, 5, 7], [2, 1, 6, 6], [1, 2, 5, 7]),
    ],
)
def test_collisions_are_undone_until_none_is_left_and_nobody_changes_places(
    cells: list[int], wishes: list[int], then: list[int]
) -> None:
    assert apart(cells, wishes) == then


def test_two_who_meet_stay_but_have_turned() -> None:
    done, _, _ = after(ROOM, table(ROOM, [chef([1, 2], "up"), chef([3, 2], "up")]), "right", "left")
    assert done["chefs"] == [chef([1, 2], "right"), chef([3, 2], "left")]


def test_a_pot_takes_three_and_cooks_for_twenty_steps() -> None:
    state = table(ROOM, [{**AT_POT, "item": ["onion"]}, AWAY], holder([2, 0], "pot", ["onion", "onion"]))
    done, paid, shaping = after(ROOM, state, "interact", "stay")
    assert done["cells"] == [holder([2, 0], "pot", ONIONS, 19)]
    assert (paid, shaping) == (0.0, (3, 0))
    for left in range(18, -1, -1):
        state = ROOM.state_from_json(done)
        done, paid, _ = after(ROOM, state, "interact", "stay")  # nobody can touch it meanwhile
        cooked = ["cooked"] if left == 0 else []
        assert done["cells"] == [holder([2, 0], "pot", [*cooked, *ONIONS], left)]
    done["chefs"][0]["item"] = ["plate"]
    done, paid, shaping = after(ROOM, ROOM.state_from_json(done), "interact", "stay")
    assert (done["cells"], paid, shaping) == ([], 0.0, (5, 0))
    assert done["chefs"][0]["item"] == ["plate", "cooked", *ONIONS]


def test_a_full_pot_that_does_not_cook_starts_whatever_is_done_to_it() -> None:
    state = table(ROOM, [{**AT_POT, "item": ["plate"]}, AWAY], holder([2, 0], "pot", ONIONS))
    done, _, _ = after(ROOM, state, "interact", "stay")
    assert (done["cells"][0]["timer"], done["chefs"][0]["item"]) == (19, ["plate"])
    assert after(ROOM, state, "stay", "stay")[0]["cells"][0]["timer"] == 0


def test_a_pot_that_is_started_by_hand_cooks_what_is_in_it() -> None:
    model = make("overcooked-v2-cramped-room,cooking=started")
    state = table(model, [AT_POT, AWAY], holder([2, 0], "pot", ["onion"]))
    done, _, shaping = after(model, state, "interact", "stay")
    assert (done["cells"], shaping) == ([holder([2, 0], "pot", ["onion"], 19)], (0, 0))
    state = table(model, [AT_POT, AWAY], holder([2, 0], "pot", ONIONS))
    assert after(model, state, "interact", "stay")[2] == (5, 0)
    full = table(model, [{**AT_POT, "item": ["onion"]}, AWAY], holder([2, 0], "pot", ["onion", "onion"]))
    assert after(model, full, "interact", "stay")[0]["cells"] == [holder([2, 0], "pot", ONIONS)]


def test_shaping_is_for_what_the_recipe_needs_and_never_negative() -> None:
    model = make("overcooked-v2-cramped-room-v2")
    state = table(model, [{**AT_POT, "item": ["tomato"]}, AWAY], recipe=["onion", "onion", "tomato"])
    assert after(model, state, "interact", "stay")[2] == (3, 0)
    state = table(model, [{**AT_POT, "item": ["tomato"]}, AWAY], recipe=ONIONS)
    assert after(model, state, "interact", "stay")[2] == (0, 0)


@pytest.mark.parametrize(
    ("pots", "other", "lying", "shaped"),
    [(ONIONS, "", "", 3), ([], "", "", 0), (ONIONS, "plate", "", 0), (ONIONS, "", "plate", 0)],
)
def test_a_plate_is_shaped_while_fewer_are_held_than_pots_hold_something_and_none_lies_about(
    pots: list[str], other: str, lying: str, shaped: int
) -> None:
    cells = [holder([2, 0], "pot", pots)] * bool(pots) + [holder([0, 0], "counter", [lying])] * bool(lying)
    chefs = [chef([1, 2], "down"), {**AWAY, "item": [other] if other else []}]
    done, _, shaping = after(ROOM, table(ROOM, chefs, *cells), "interact", "stay")
    assert (done["chefs"][0]["item"], shaping) == (["plate"], (shaped, 0))


def test_counters_hold_one_item_and_the_first_chef_acts_first() -> None:
    model = make("overcooked-v2-forced-coord")
    lying = holder([2, 2], "counter", ["onion"])
    chefs = [chef([3, 2], "left"), chef([1, 2], "right", "plate")]
    done, _, _ = after(model, table(model, chefs, lying), "interact", "interact")
    assert done["chefs"] == [chef([3, 2], "left", "onion"), chef([1, 2], "right")]
    assert done["cells"] == [holder([2, 2], "counter", ["plate"])]
    swapped = [chef([1, 2], "right", "plate"), chef([3, 2], "left")]
    done, _, _ = after(model, table(model, swapped, lying), "interact", "interact")
    assert done["chefs"][1]["item"] == ["onion"]
    assert done["cells"] == []


@pytest.mark.parametrize(
    ("options", "dish", "paid"), [("", ONIONS, 20.0), ("", TOMATOES, 0.0), (",wrong=costs", TOMATOES, -20.0)]
)
def test_deliveries_pay_by_the_recipe(options: str, dish: list[str], paid: float) -> None:
    model = make(f"overcooked-v2-cramped-room-v2{options}")
    state = table(model, [chef([3, 2], "down", "plate", "cooked", *dish), chef([1, 1], "up")])
    done, got, shaping = after(model, state, "interact", "stay")
    assert (got, shaping, done["chefs"][0]["item"]) == (paid, (0, 0), [])
    assert done["delivered"] == (dish == ONIONS)
    state = table(model, [chef([3, 2], "down", "plate"), chef([1, 1], "up")])
    assert after(model, state, "interact", "stay")[0]["chefs"][0]["item"] == ["plate"]


def test_a_button_shows_the_recipe_in_nine_observations_and_a_second_press_costs_again() -> None:
    chefs = [chef([2, 2], "right"), chef([5, 2], "up")]
    state, seen, paid = table(GROUNDED, chefs, recipe=TOMATOES), [], []
    for action in ["interact", *["stay"] * 10]:
        state, rewards, _ = GROUNDED.move(state, (action, "stay"), replaying({}))
        told = GROUNDED.observation_to_json(1, GROUNDED.observe(state, None, replaying({}))[1])
        seen.append(told["recipe"])
        assert (told["recipe"] is not None) == (told["lit"] == [[0, 2]])
        paid.append(rewards[0])
    assert seen == [TOMATOES] * 9 + [None] * 2
    assert paid == [-5.0] + [0.0] * 10
    lit = table(GROUNDED, chefs, holder([3, 2], "button", [], 4), recipe=TOMATOES)
    done, again, _ = after(GROUNDED, lit, "interact", "stay")
    assert (again, done["cells"]) == (-5.0, [holder([3, 2], "button", [], 9)])
    busy = table(GROUNDED, [chef([2, 2], "right", "carrot"), chefs[1]])
    assert after(GROUNDED, busy, "interact", "stay")[1] == 0.0


def test_the_right_dish_draws_the_next_recipe_where_that_is_chosen() -> None:
    dish = ["plate", "cooked", *ONIONS]
    state = table(GROUNDED, [chef([1, 1], "up"), chef([6, 2], "right", *dish)])
    ways = [
        (branch.probability, GROUNDED.state_to_json(result[0])["recipe"], result[1])
        for branch, result in enumerating(lambda choose: GROUNDED.move(state, ("stay", "interact"), choose))
    ]
    assert ways == [(0.5, ONIONS, (20.0, 20.0)), (0.5, TOMATOES, (20.0, 20.0))]


def test_a_chef_sees_its_window_alone_and_not_where_that_is() -> None:
    chefs = [chef([1, 2], "left", "plate"), chef([5, 3], "up", "onion")]
    state = table(GROUNDED, chefs, holder([3, 1], "counter", ["onion"]), holder([4, 2], "pot", ["onion"]))
    one, other = (GROUNDED.observation_to_json(agent, seen) for agent, seen in enumerate(GROUNDED.sight.of(state)))
    assert one == {
        "view": [".##c#", ".#..#", ".R..B", ".#..#", ".##c#"],
        "self": chef([2, 2], "left", "plate"),
        "others": [],
        "cells": [holder([4, 1], "counter", ["onion"])],
        "lit": [],
        "recipe": ONIONS,
    }
    assert (other["recipe"], other["self"]["cell"]) == (None, [2, 2])
    assert holder([1, 1], "pot", ["onion"]) in other["cells"]


def test_observations_and_states_come_back_from_json_and_channels_tell_the_same() -> None:
    model = make("overcooked-v2-test-time-wide,kitchen=random")
    rng, by_channels = random.Random(3), {}
    for _ in range(30):
        state = model.initial_state(drawing(rng))
        assert model.state_from_json(model.state_to_json(state)) == state
        for agent, seen in enumerate(model.sight.of(state)):
            told = model.observation_to_json(agent, seen)
            assert model.observation_from_json(agent, told) == seen
            assert by_channels.setdefault(tuple(model.encode(agent, seen)), told) == told
    assert len(by_channels) == 60
    with pytest.raises(PosgError, match="nobody sees"):
        ROOM.observation_from_json(0, told)


def test_channels_of_one_ingredient_are_the_papers_thirty() -> None:
    state = table(ROOM, [{**AT_POT, "item": ["onion"]}, AWAY], holder([2, 0], "pot", ONIONS, 7))
    seen = ROOM.sight.of(state)[0]
    channels = ROOM.encode(0, seen)
    assert len(channels) == 4 * 5 * 30
    of = [channels[start : start + 30] for start in range(0, len(channels), 30)]
    assert [number for number, value in enumerate(of[7]) if value] == [0, 1, 7]  # self, up, an onion
    assert [number for number, value in enumerate(of[13]) if value] == [8, 10]  # another, down
    assert [(number, value) for number, value in enumerate(of[2]) if value] == [(18, 1), (25, 3), (29, 7)]
    low, high = ROOM.vector_bounds(0)
    assert (len(low), len(high), max(high)) == (600, 600, 20.0)


@pytest.mark.parametrize("options", ["", ",kitchen=random"])
def test_a_start_is_drawn_given_what_a_chef_sees(options: str) -> None:
    model = make(f"overcooked-v2-grounded-coord-simple{options}")
    rng = random.Random(5)
    for _ in range(20):
        state = model.initial_state(drawing(rng))
        seen = model.sight.of(state)[1]
        drawn = model.initial_state_given(1, seen, drawing(rng))
        assert model.sight.of(drawn)[1] == seen
    with pytest.raises(PosgError, match="no start of grounded_coord_simple shows chef 1"):
        model.initial_state_given(1, seen._replace(held=item_of(["cooked"])), drawing(rng))


def test_starts_given_what_is_seen_are_those_of_the_rules_with_their_probabilities() -> None:
    model = make("overcooked-v2-cramped-room-v2,sight=1")
    starts = list(enumerating(model.initial_state))
    assert len(starts) == 4 * 30 * 16
    seen = model.sight.of(starts[700][1])[0]
    fits = {state: branch.probability for branch, state in starts if model.sight.of(state)[0] == seen}
    total = sum(fits.values())
    given = {
        state: branch.probability
        for branch, state in enumerating(lambda choose: model.initial_state_given(0, seen, choose))
    }
    assert given == pytest.approx({state: chance / total for state, chance in fits.items()})


def test_chefs_begin_in_their_rooms() -> None:
    rng = random.Random(0)
    model = make("overcooked-v2-forced-coord,starts=random")
    cells = {model.initial_state(drawing(rng))[0][::3] for _ in range(200)}
    assert len(cells) == 9
    assert {own for own, _ in cells} == set(model.kitchen.rooms[0])


@pytest.mark.parametrize("layout", [layout.id for layout in layouts.LAYOUTS])
def test_every_layout_is_a_game_with_rules_of_its_own(layout: str) -> None:
    model = registry.make(layout)
    own = kitchen(layouts.BY_ID[layout].name)
    assert model.info.id == layout
    assert layouts.BY_ID[layout].symmetric == (len(own.recipes) > 1)
    assert model.info.num_agents == len(own.starts)
    least, most = bounds(own, House(steps=400))
    assert (most, least >= -4000) == (400 * len(own.pots), True)


def test_every_listed_or_unlisted_layout_is_known_and_others_are_refused() -> None:
    assert {layouts.LISTED, *registry.unlisted()} == set(layouts.BY_ID)
    assert registry.knows("overcooked-v2-two-rooms,sight=2")
    assert not registry.knows("overcooked-v2-two-rooms,sight=far")
    assert registry.entry_of("overcooked-v2-test-time-wide,sight=2").id == "overcooked-v2-test-time-wide"
    said = r"no layout 'overcooked-v2-cramped_room'. Did you mean overcooked-v2-cramped-room\? Known: overcooked-v2-"
    with pytest.raises(UnknownGameError, match=said):
        make("overcooked-v2-cramped_room")
    with pytest.raises(GameError, match=r"sight is 'far' in .*: expected a whole number from 1 on or all"):
        make("overcooked-v2-two-rooms,sight=far")


def test_a_kitchen_that_can_be_left_is_refused() -> None:
    with pytest.raises(PosgError, match="the kitchen open has rows of several lengths, or floor at its edge"):
        Kitchen("open", "ooo", ["##o#", "#0.."])


def test_more_than_two_chefs_share_a_kitchen() -> None:
    own = Kitchen("three", "every", ["##o##", "#012#", "P...D", "##t##"])
    model = OvercookedV2("three", own, House(sight=1, steps=10))
    assert_posg(model, games=1, samples=50)
    assert "chef & faces" in model.render(
        model.state_from_json({**model.state_to_json(_start(model)), "recipe": TOMATOES}), 1
    )


def _start(model: OvercookedV2) -> Table:
    return model.initial_state(drawing(random.Random(0)))


def _out_of_sight(model: OvercookedV2) -> Hidden:
    """Returns what changes the recipe and all that a chef does not see."""

    def hidden(state: Table, agent: int, rng: random.Random) -> Table:
        chefs, items, cooking, lights, recipe, praised = state
        seen, stand = model.sight.of(state)[agent], model.sight.stands[state[0][3 * agent]]
        in_sight = stand.items(range(len(items)))
        told = tuple(item if slot in in_sight else rng.choice((0, 1, 4)) for slot, item in enumerate(items))
        held = [chefs[5], 1][agent == 0 and chefs[3] not in stand.places]
        asked = recipe if seen.recipe else rng.choice(model.kitchen.recipes)
        return (*chefs[:5], held), told, cooking, lights, asked, praised

    return hidden


@pytest.mark.parametrize(
    "options", ["", pytest.param(",kitchen=random,cooking=started,delivery=signal", marks=pytest.mark.slow)]
)
def test_the_contract_is_kept_and_nothing_out_of_sight_is_shown(options: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(distributions, "MOST_WAYS", 500)
    model = make(f"overcooked-v2-grounded-coord-simple{options},steps=12")
    assert_posg(model, games=2, samples=200, hidden=_out_of_sight(model))


def test_fast_steps_are_steps_of_the_rules() -> None:
    rng = random.Random(2)
    model = make("overcooked-v2-grounded-coord-simple,kitchen=random")
    state = model.initial_state(drawing(rng))
    for _ in range(60):
        joint = (rng.choice(ACTIONS), rng.choice(ACTIONS))
        ways = [result for _, result in enumerating(lambda choose, s=state, j=joint: model.move(s, j, choose))]
        found = model.sample_step(state, joint, rng)
        assert found in ways
        state = found[0]
    assert model.sample_observations(state, None, rng) == model.observe(state, None, drawing(rng))


def test_chefs_that_ship_cook_what_is_asked_for_and_play_in_the_game_of_turns() -> None:
    model = make("overcooked-v2-asymm-advantages")
    chefs = policies(model)
    played = [play_policies(model, [chefs["cook"], chefs["server"]], random.Random(seed)) for seed in range(2)]
    assert min(game.returns[0] for game in played) >= 200.0
    blind = make("overcooked-v2-grounded-coord-ring")
    assert play_policies(blind, [policies(blind)["chef"]] * 2, random.Random(1)).returns[0] > 0.0
    told = ROOM.observation_to_json(0, ROOM.sight.of(_start(ROOM))[0])
    view = {"agent": 0, "step": 0, "seen": told}
    assert partners_of("overcooked-v2-cramped-room")["chef"]([(view, None)], ACTIONS, random.Random(0)) in ACTIONS


def test_the_window_of_a_chef_is_drawn_with_it_in_the_middle() -> None:
    state = table(GROUNDED, [chef([1, 2], "left", "plate"), chef([2, 3], "up")])
    rows = GROUNDED.render(state, 0).split("\n")
    assert rows[2:4] == [".R0.B", ".#.&#"]
    assert "chef & faces up, holds nothing" in rows
    assert GROUNDED.render(state).split("\n")[2] == "R0.BP..D"


def test_the_margin_of_every_kitchen_is_one_dish() -> None:
    assert registry.DISH == DELIVERY
    assert registry.entry_of("overcooked-v2-cramped-room").margin == DELIVERY
