import random

import pytest

from games.api import GameError, observe
from games.contract import game as contract
from games.yokai.game import make
from games.yokai.observe import information_state_string


def shown(game, state, player, view="default"):
    colours = game.observation(state, player, view)["colours"]
    return {card: colour for card, colour in enumerate(colours) if colour is not None}


def test_a_player_sees_the_colours_it_observed_until_its_turn_ends(small, deal, play):
    state = deal(small, "rgbrgbrgb")
    assert shown(small, state, 0) == {}
    state = play(small, state, "observe 4")
    assert shown(small, state, 0) == {4: "green"}
    state = play(small, state, "observe 2")
    assert shown(small, state, 0) == {4: "green", 2: "blue"}
    state = play(small, state, "move 2 to 2,3")
    assert shown(small, state, 0) == {4: "green", 2: "blue"}
    state = play(small, state, "reveal 0")
    assert shown(small, state, 0) == {}
    state = play(small, state, "observe 4")
    assert shown(small, state, 0) == {}
    assert shown(small, state, 1) == {4: "green"}


def test_with_memory_a_player_sees_every_colour_it_ever_observed_and_no_other(small, deal, play):
    state = play(small, deal(small, "rgbrgbrgb"), "observe 4", "observe 2", "move 2 to 2,3", "reveal 0", "observe 0")
    assert shown(small, state, 0, "memory") == {2: "blue", 4: "green"}
    assert shown(small, state, 1, "memory") == {0: "red"}
    state = play(small, state, "observe 8", "move 8 to 2,4", "place 0 at 2,3")
    assert shown(small, state, 0, "memory") == {2: "blue", 4: "green"}


def test_the_memory_game_shows_the_other_view_first(deal, play):
    default, memory = make(9, 2), make(9, 2, memory=True)
    state = play(default, deal(default), "observe 4", "observe 2", "move 2 to 2,3", "reveal 0")
    assert (default.info.views, memory.info.views) == (("default", "memory"), ("memory", "default"))
    for player in (0, 1):
        for view in ("default", "memory"):
            assert observe(default, state, player, view) == observe(memory, state, player, view)
    assert memory.observations(state)[0] == default.observation(state, 0, "memory")
    with pytest.raises(GameError, match="default, memory"):
        default.observation(state, 0, "all")


def test_everybody_sees_the_same_but_for_colours(game, random_states):
    for state in random_states(game, 2, seed=41):
        views = [{k: v for k, v in view.items() if k not in ("you", "colours")} for view in game.observations(state)]
        assert views == [views[0]] * game.config.players


def test_a_face_down_hint_shows_nothing_and_a_revealed_one_its_colours(small, deal, play):
    state = play(small, deal(small, "rgbrgbrgb", "r rg gb rb"), "observe 4", "observe 2", "move 2 to 2,3", "reveal 1")
    hidden = {"status": "face down", "colours": None, "card": None}
    face_up = {"status": "face up", "colours": ["red", "green"], "card": None}
    assert small.observations(state)[1]["hints"] == [hidden, face_up, hidden, hidden]
    state = play(small, state, "observe 0", "observe 1", "move 2 to 3,5", "place 1 at 4,4")
    assert small.observations(state)[0]["hints"][1] == {**face_up, "status": "placed", "card": 4}


def test_a_view_holds_the_turn_in_progress_and_the_last_turns_of_all_players(game, random_states):
    for state in random_states(game, 2, seed=42):
        recent = game.observations(state)[0]["recent_actions"]
        kept = len(state["log"]) - 4 * max(0, state["turn"] - game.config.players)
        assert recent == (state["log"][-kept:] if kept else [])
        assert len(recent) < 4 * game.config.players + 4


def test_a_last_view_uncovers_nothing(small, deal, play):
    state = play(small, deal(small), "observe 4", "observe 2", "move 2 to 2,3", "reveal 1", "end")
    view = small.observations(state)[0]
    assert (view["phase"], view["player"], view["sub_step"], view["colours"]) == ("over", None, None, [None] * 9)
    assert shown(small, state, 0, "memory").keys() == {2, 4}


@pytest.mark.parametrize("memory", [False, True])
def test_swapping_hidden_colours_changes_nothing_that_the_player_sees(game, random_states, memory):
    rng = random.Random(5)
    view = "memory" if memory else "default"
    for state in random_states(game, 2, seed=43):
        for player in range(game.config.players):
            unseen = [card for card in range(game.config.cards) if card not in state["observed"][player]]
            hidden = [k for k, hint in enumerate(state["hints"]) if hint["status"] == "face down"]
            other = swapped(state, unseen, hidden, rng)
            assert game.observation(state, player, view) == game.observation(other, player, view)
            assert information_state_string(state, player, game.config.players) == information_state_string(
                other, player, game.config.players
            )


def swapped(state, unseen, hidden, rng):
    colours, hints = list(state["colours"]), list(state["hints"])
    for values, places in ((colours, unseen), (hints, hidden)):
        shuffled = [values[place] for place in places]
        rng.shuffle(shuffled)
        for place, value in zip(places, shuffled, strict=True):
            values[place] = value
    return {**state, "colours": colours, "hints": hints}


@pytest.mark.parametrize("memory", [False, True])
@pytest.mark.parametrize(("cards", "players"), [(9, 3), (8, 2)])
def test_histories_that_a_player_cannot_tell_apart_look_the_same(cards, players, memory):
    assert contract.check_leaks(make(cards, players, memory=memory), games=3, seed=1) == []


def test_information_state_string_holds_own_colours_and_public_actions_in_order(small, deal, play):
    state = deal(small, "rgbrgbrgb", "r rg gb rb")
    state = play(small, state, "observe 4", "observe 2", "move 2 to 2,3", "reveal 1", "observe 0")
    assert information_state_string(state, 0, 2) == (
        "you are player 0; 0: observe 4 (green); 0: observe 2 (blue); 0: move 2 to 2,3; 0: reveal 1 (red-green); "
        "1: observe 0"
    )
    assert information_state_string(state, 1, 2).endswith("0: reveal 1 (red-green); 1: observe 0 (red)")
