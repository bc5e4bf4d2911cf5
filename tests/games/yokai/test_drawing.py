import random
import re
import xml.etree.ElementTree as ET

import pytest

from games import playthrough, registry
from games.yokai import drawing

SVG = "{http://www.w3.org/2000/svg}"


def groups(picture, name):
    root = ET.fromstring(picture) if isinstance(picture, str) else picture
    return [item for item in root.iter(f"{SVG}g") if item.get("class") == name]


def half(picture, name):
    (found,) = groups(picture, name)
    return found


def faces(part):
    """Returns what each card of a half shows, by its id."""
    cards = groups(groups(part, "cards")[0], "card")
    named = {int(card.find(f"{SVG}text").text): card.find(f"{SVG}use").get("href") for card in cards}
    return [named[card].removeprefix("#yokai-") for card in range(len(cards))]


def card(part, number):
    cards = groups(groups(part, "cards")[0], "card")
    return next(item for item in cards if item.find(f"{SVG}text").text == str(number))


def refers(part):
    return [item.get("href").removeprefix("#yokai-") for item in part.iter(f"{SVG}use")]


def words(part):
    return [item.text for item in part.iter(f"{SVG}text")]


def marked(part, name):
    """Returns the ids of the cards with that mark."""
    cards = groups(groups(part, "cards")[0], "card")
    with_mark = [item for item in cards if any(rect.get("class") == name for rect in item.iter(f"{SVG}rect"))]
    return [int(item.find(f"{SVG}text").text) for item in with_mark]


@pytest.fixture
def midgame(small, deal, play):
    """Returns a position after a reveal, a placement, and one observation of player 0's second turn."""
    state = play(small, deal(small, "rgbrgbrgb", "r rg gb rb"), "observe 4", "observe 2", "move 2 to 2,3", "reveal 1")
    return play(small, state, "observe 0", "observe 1", "move 8 to 2,2", "place 1 at 4,4", "observe 6")


def test_true_colours_are_above_and_one_players_view_is_below(small, midgame):
    picture = drawing.svg(small.config, midgame, 0)
    truth, view = half(picture, "truth"), half(picture, "view")
    assert faces(truth) == ["red", "green", "blue"] * 3
    assert faces(view) == ["back"] * 6 + ["red"] + ["back"] * 2
    assert faces(half(drawing.svg(small.config, midgame, 1), "view")) == ["back"] * 9


def test_the_memory_view_shows_every_card_that_the_player_ever_observed(small, midgame):
    view = half(drawing.svg(small.config, midgame, 0, memory=True), "view")
    assert faces(view) == ["back", "back", "blue", "back", "green", "back", "red", "back", "back"]
    other = half(drawing.svg(small.config, midgame, 1, memory=True), "view")
    assert faces(other) == ["red", "green", *["back"] * 7]


def test_cards_lie_in_their_cells(small, midgame):
    truth = half(drawing.svg(small.config, midgame, 0), "truth")
    places = {number: card(truth, number).get("transform") for number in range(9)}
    assert places[0] == f"translate({3 * 52 + 4} {3 * 52 + 4})"
    assert places[2] == f"translate({3 * 52 + 4} {2 * 52 + 4})"
    assert places[8] == f"translate({2 * 52 + 4} {2 * 52 + 4})"
    assert len(set(places.values())) == 9


@pytest.mark.parametrize("part", ["truth", "view"])
def test_a_locked_card_has_a_lock_and_its_hint(small, midgame, part):
    drawn = half(drawing.svg(small.config, midgame, 0), part)
    assert refers(card(drawn, 4))[1:] == ["lock", "hint-red-green"]
    assert [refers(card(drawn, number))[1:] for number in range(9) if number != 4] == [[]] * 8


def test_hints_are_listed_with_what_each_half_may_show(small, midgame):
    picture = drawing.svg(small.config, midgame, 0)
    truth, view = (groups(half(picture, name), "hint") for name in ("truth", "view"))
    assert [refers(row) for row in truth] == [["hint-red"], ["hint-red-green"], ["hint-green-blue"], ["hint-red-blue"]]
    assert [refers(row) for row in view] == [["hint-back"], ["hint-red-green"], ["hint-back"], ["hint-back"]]
    assert [words(row)[-1] for row in truth] == ["face down", "on card 4, true", "face down", "face down"]
    assert [words(row)[-1] for row in view] == ["face down", "on card 4", "face down", "face down"]


def test_a_false_hint_is_called_false_above_alone(small, deal, play):
    state = play(small, deal(small, "rgbrgbrgb", "r rg gb rb"), "observe 4", "observe 2", "move 2 to 2,3", "reveal 0")
    state = play(small, state, "observe 0", "observe 1", "move 8 to 2,2", "place 0 at 4,4")
    picture = drawing.svg(small.config, state, 0)
    assert "on card 4, false" in words(half(picture, "truth"))
    assert "on card 4" in words(half(picture, "view"))


def test_colour_groups_are_counted_above(small, midgame):
    rows = groups(half(drawing.svg(small.config, midgame, 0), "truth"), "colour")
    assert [words(row)[-1] for row in rows] == ["together", "together", "in 2 parts"]


def test_every_picture_is_complete_in_itself(small, midgame):
    root = ET.fromstring(drawing.svg(small.config, midgame, 0))
    known = {item.get("id") for item in root.iter() if item.get("id")}
    assert {item.get("href")[1:] for item in root.iter(f"{SVG}use")} <= known
    assert (root.get("width"), root.get("height")) == ("774", "1172")
    assert root.find(f"{SVG}title").text == "Turn 3 of 8: player 0 to act. player 0 observes card 6."


def test_colours_have_letters_and_shapes_of_their_own():
    game = registry.make("yokai-16c-2p")
    root = ET.fromstring(drawing.svg(game.config, game.initial_state(), 0))
    found = {item.get("id"): item for item in root.iter(f"{SVG}g")}
    drawn = [found[f"yokai-{colour}"] for colour in game.config.colours]
    assert [words(face) for face in drawn] == [["R"], ["G"], ["B"], ["Y"]]
    shapes = [(item[1].tag, item[1].get("d")) for item in drawn]
    assert len(set(shapes)) == 4
    assert words(found["yokai-hint-red-yellow"]) == ["R", "Y"]


# -------------------------------------------------------------------------------- what was done last


@pytest.mark.parametrize(
    ("actions", "said"),
    [
        ([], "The cards are dealt."),
        (["end"], "ann ends the game."),
        (["observe 4"], "ann observes card 4."),
        (["observe 4", "observe 2", "move 2 to 2,3"], "ann moves card 2 from 3,5 to 2,3."),
        (["observe 4", "observe 2", "move 2 to 2,3", "reveal 1"], "ann reveals hint 1: red-green."),
    ],
)
def test_the_last_action_is_told(small, deal, play, actions, said):
    state = play(small, deal(small, "rgbrgbrgb", "r rg gb rb"), *actions)
    assert drawing.frame(small.config, state, 0, names=["ann", "bob"]).caption == said


def test_later_actions_are_told_of_the_right_player(small, midgame, play):
    told = {len(midgame["log"]): "player 0 observes card 6."}
    for action in ("observe 0", "move 8 to 2,4", "reveal 0"):
        midgame = play(small, midgame, action)
        told[len(midgame["log"])] = drawing.frame(small.config, midgame, 0).caption
    assert told[11] == "player 0 moves card 8 from 2,2 to 2,4."
    assert told[12] == "player 0 reveals hint 0: red."


def test_a_placement_and_a_forced_pass_are_told(small, deal, play):
    state = play(small, deal(small, "rgbrgbrgb", "r rg gb rb"), "observe 4", "observe 2", "move 2 to 2,3", "reveal 1")
    state = play(small, state, "observe 0", "observe 1", "move 8 to 2,2", "place 1 at 4,4")
    assert drawing.caption(small.config, state, ["a", "b"]) == "b places hint 1 (red-green) on card 4."
    passed = {**state, "log": [*state["log"][:6], "no-op"]}
    assert drawing.caption(small.config, passed, ["a", "b"]) == "b has no legal move."


def test_marks_show_the_last_action_and_the_turn_in_progress(small, deal, play):
    start = deal(small, "rgbrgbrgb", "r rg gb rb")
    for actions, acted, observed, moved in (
        ([], [], [], 0),
        (["observe 4"], [4], [4], 0),
        (["observe 4", "observe 2"], [2], [2, 4], 0),
        (["observe 4", "observe 2", "move 8 to 2,3"], [8], [2, 4], 1),
        (["observe 4", "observe 2", "move 8 to 2,3", "reveal 0"], [], [], 0),
        (["end"], [], [], 0),
    ):
        picture = drawing.svg(small.config, play(small, start, *actions), 0)
        for part in (half(picture, "truth"), half(picture, "view")):
            assert sorted(marked(part, "acted")) == acted
            assert sorted(marked(part, "seen-now")) == observed
            assert len(groups(part, "from")) == moved


@pytest.mark.parametrize(
    ("colours", "title", "look"), [("rrrgggbbb", "Won: score 20", "won"), ("rgbrgbgrb", "Lost: return −3", "lost")]
)
def test_the_result_is_above(small, deal, play, colours, title, look):
    picture = drawing.svg(small.config, play(small, deal(small, colours), "end"), 0)
    heading = half(picture, "header").find(f"{SVG}text")
    assert (heading.text, heading.get("class")) == (title, f"title {look}")
    assert faces(half(picture, "view")) == ["back"] * 9


def test_the_sub_step_is_marked(small, midgame):
    chips = groups(half(drawing.svg(small.config, midgame, 0), "header"), "sub-step")
    assert [chip[0].get("class") for chip in chips] == ["chip", "chip now", "chip", "chip"]


def test_names_and_notes_of_others_stay_text(small, midgame):
    evil = '<script>"&'
    picture = drawing.svg(small.config, midgame, 0, names=[evil, "b"], note=f"{evil} forfeits")
    assert "<script" not in picture
    assert f"{evil} forfeits" in words(half(picture, "header"))
    long = drawing.frame(small.config, midgame, 0, names=["n" * 90, "b"]).title
    assert long == f"Turn 3 of 8: {'n' * 27}… to act"


# -------------------------------------------------------------------------------- every state, no leak


def golden_states(game):
    text = playthrough.path_of(game.info.id).read_text(encoding="utf-8")
    state = game.initial_state()
    yield state
    for action in re.findall(r"^action of [^:]*: (.*)$", text, re.MULTILINE):
        state = game.apply_action(state, action)
        yield state


def test_every_step_of_a_golden_game_is_drawn_the_same_each_time(game):
    states = list(golden_states(game))
    assert states[-1]["phase"] == "over"
    for state in states:
        for memory in (False, True):
            picture = drawing.svg(game.config, state, 1, memory)
            assert picture == drawing.svg(game.config, state, 1, memory)
            root = ET.fromstring(picture)
            assert faces(half(root, "truth")) == [colour or "back" for colour in state["colours"]]
            seen = game.observation(state, 1, "memory" if memory else "default")["colours"]
            assert faces(half(root, "view")) == [colour or "back" for colour in seen]


def other_deals(game, state, player, memory, rng):
    """Returns a state that differs in what the player cannot know: the cards and face-down hints it does not see."""
    seen = game.observation(state, player, "memory" if memory else "default")
    hidden = [number for number, colour in enumerate(seen["colours"]) if colour is None]
    colours = list(state["colours"])
    for number, other in zip(hidden, rng.sample(hidden, len(hidden)), strict=True):
        colours[number] = state["colours"][other]
    down = [number for number, hint in enumerate(state["hints"]) if hint["status"] == "face down"]
    hints = list(state["hints"])
    for number, other in zip(down, rng.sample(down, len(down)), strict=True):
        hints[number] = state["hints"][other]
    return {**state, "colours": colours, "hints": hints}


@pytest.mark.parametrize("memory", [False, True])
def test_the_lower_half_is_the_same_text_whatever_the_player_cannot_know(game, random_states, memory):
    rng = random.Random(5)
    changed = 0
    for state in random_states(game, 1, seed=2):
        other = other_deals(game, state, 0, memory, rng)
        first, second = (drawing.frame(game.config, item, 0, memory) for item in (state, other))
        changed += first.body != second.body
        assert first.caption == second.caption
        cut = first.body.index('<g class="view">')
        assert first.body[cut:] == second.body[second.body.index('<g class="view">') :]
    assert changed > 10


def test_the_lower_half_refers_to_no_hidden_colour(small, midgame):
    view = half(drawing.svg(small.config, midgame, 1), "view")
    assert {name for name in refers(view) if not name.startswith("hint-")} == {"back", "lock"}
