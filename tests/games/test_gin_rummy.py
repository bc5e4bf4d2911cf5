"""Gin rummy: what OpenSpiel plays, what nobody may see, and histories that fit what was seen."""

import json
import random
from collections import Counter
from typing import Any

import pyspiel
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from games import registry
from games.api import CHANCE, TERMINAL, Game, GameError, IllegalActionError, State
from games.contract import game as contract
from games.gin_rummy.cards import DECK

GAME = registry.make("gin_rummy")
KNOCKER = ["Kd", "Ac", "As", "2c", "3d", "5h", "6h", "7h", "9s", "9c"]
DEFENDER = ["2h", "3h", "4h", "8h", "9h", "Th", "Js", "Qs", "Ks", "Jd"]
OTHER_DEFENDER = ["2h", "3h", "4h", "8h", "9h", "Th", "4c", "6d", "8c", "Qd"]
KNOCK = ["Draw upcard", "Knock", "Kd", "9s9c9d", "5h6h7h", "Pass"]


def after(game: Game, *actions: str, state: State = None) -> State:
    state = game.initial_state() if state is None else state
    for action in actions:
        state = game.apply_action(state, action)
    return state


def dealt(first: list[str], second: list[str], upcard: str, game: Game = GAME) -> State:
    return after(game, *(f"Deal {card}" for card in (*first, *second, upcard)))


def tidy_action(state: State, rng: random.Random) -> str:
    """Returns a move of players who mostly discard what does not fit, so that hands end in a knock."""
    actions = GAME.legal_actions(state)
    player = GAME.current_player(state)
    if "Knock" in actions:
        return "Knock"
    facts = GAME.state_to_json(state)
    if facts["phase"] != "Discard" or rng.random() < 0.1:
        return rng.choice(actions)
    taken = facts["previous_upcard"] if facts["last_moves"]["actions"][-1] == "Draw upcard" else None
    others = [action for action in actions if action != taken]
    rng.shuffle(others)
    return min(others, key=lambda action: GAME.apply_action(state, action).deadwood()[player])


def test_game_fulfils_the_contract() -> None:
    assert contract.check(GAME, games=2) == []
    assert contract.check_leaks(GAME, games=1, resamples=1) == []


def test_info_is_that_of_a_zero_sum_game_with_hidden_cards() -> None:
    info = GAME.info
    assert (info.num_players, info.utility, info.max_length) == (2, "zero_sum", 300)
    # The defender holds at most 98 points; gin adds 25.
    assert (info.min_utility, info.max_utility) == (-123.0, 123.0)
    assert (info.perfect_information, info.has_chance, info.simultaneous) == (False, True, False)


@settings(max_examples=12, deadline=None, derandomize=True)
@given(seed=st.integers(0, 2**32))
def test_random_game_agrees_with_open_spiel_at_every_step(seed: int) -> None:
    rng = random.Random(seed)
    ours, native = GAME.initial_state(), pyspiel.load_game("gin_rummy").new_initial_state()
    while True:
        player = int(native.current_player())
        assert GAME.current_player(ours) == player
        texts = [native.action_to_string(player, number) for number in native.legal_actions()]
        assert GAME.legal_actions(ours) == [
            f"Deal {text[-2:]}" if player == CHANCE else text.removeprefix(f"Player: {player} Action: ")
            for text in texts
        ]
        if player == CHANCE:
            assert [chance for _, chance in GAME.chance_outcomes(ours)] == [p for _, p in native.chance_outcomes()]
        assert GAME.rewards(ours) == native.rewards()
        assert str(ours) == str(native)
        assert GAME.state_to_json(ours)["hands"] == native.to_dict()["hands"]
        if player == TERMINAL:
            break
        action = tidy_action(ours, rng) if player >= 0 else rng.choice(GAME.legal_actions(ours))
        native = native.child(native.legal_actions()[GAME.legal_actions(ours).index(action)])
        ours = GAME.apply_action(ours, action)


def test_actions_read_as_cards_melds_and_words() -> None:
    actions = GAME.all_actions()
    assert actions[:2] == ["As", "2s"]
    assert actions[51:57] == ["Kh", "Draw upcard", "Draw stock", "Pass", "Knock", "AcAdAh"]
    assert actions[-1] == "9hThJhQhKh"
    assert len(set(actions)) == len(actions) == 241
    assert GAME.all_chance_actions() == [f"Deal {card}" for card in DECK]


def test_illegal_action_names_the_legal_ones() -> None:
    state = dealt(KNOCKER, DEFENDER, "9d")
    with pytest.raises(IllegalActionError, match=r"gin_rummy: 'Knock' is not legal here; .*\['Draw upcard', 'Pass'\]"):
        GAME.apply_action(state, "Knock")


def test_run_grows_by_two_cards_at_each_end_and_no_more() -> None:
    state = after(GAME, *KNOCK, state=dealt(KNOCKER, DEFENDER, "9d"))
    assert GAME.legal_actions(state) == ["4h", "8h", "9h", "Pass"]
    state = after(GAME, "4h", state=state)
    assert GAME.legal_actions(state) == ["3h", "8h", "9h", "Pass"]
    state = after(GAME, "3h", "8h", "9h", state=state)
    assert GAME.legal_actions(state) == ["Pass"]
    state = after(GAME, "Pass", state=state)
    assert GAME.legal_actions(state) == ["Pass", "JsQsKs"]
    end = after(GAME, "JsQsKs", "Pass", state=state)
    assert GAME.state_to_json(end)["hands"] == [["As", "Ac", "2c", "3d"], ["Jd", "2h", "Th"]]
    assert GAME.rewards(end) == [15.0, -15.0]


def test_gin_pays_the_bonus_and_forbids_laying_off() -> None:
    hand = ["As", "2s", "3s", "5h", "6h", "7h", "9s", "9c", "9d", "Kd"]
    state = after(GAME, "Draw upcard", "Knock", "Kd", state=dealt(hand, DEFENDER, "4s"))
    state = after(GAME, "As2s3s4s", "5h6h7h", "9s9c9d", "Pass", state=state)
    assert GAME.state_to_json(state)["layoffs_finished"]
    assert GAME.legal_actions(state) == ["Pass", "JsQsKs", "2h3h4h", "8h9hTh"]
    end = after(GAME, "2h3h4h", "8h9hTh", "JsQsKs", "Pass", state=state)
    assert GAME.rewards(end) == [35.0, -35.0]


@pytest.mark.parametrize(("last", "paid"), [("6s", -26.0), ("7s", 0.0), ("8s", 1.0)])
def test_undercut_pays_a_bonus_and_equal_deadwood_nothing(last: str, paid: float) -> None:
    defender = ["Js", "Qs", "Ks", "Jc", "Qc", "Kc", "Jd", "Qd", "Td", last]
    hand = ["2h", "Ac", "As", "2c", "3d", "5h", "6h", "7h", "9s", "9c"]
    # Without the two of hearts, seven points are left over.
    state = after(GAME, "Draw upcard", "Knock", "2h", "9s9c9d", "5h6h7h", "Pass", state=dealt(hand, defender, "9d"))
    end = after(GAME, "Pass", "JsQsKs", "JcQcKc", "TdJdQd", "Pass", state=state)
    assert GAME.rewards(end) == [paid, -paid]
    assert "-0.0" not in json.dumps(GAME.rewards(end))


def knocker_sees(game: Game, defender: list[str]) -> list[str]:
    """Returns all that player 0 is shown from its knock on, in words and drawings, until the defender melds."""
    state, shown = dealt(KNOCKER, defender, "9d", game), []
    for action in (*KNOCK, "4h", "Pass"):
        state = game.apply_action(state, action)
        shown += [json.dumps(game.observations(state)[0]), game.render(state, 0)]  # type: ignore[attr-defined]
    return shown


class AsOpenSpielShowsIt(type(GAME)):  # type: ignore[misc]
    """The same game with the hands that OpenSpiel's own struct shows."""

    def observations(self, state: State) -> list[dict[str, Any]]:
        structs = [state.to_observation_struct(player).to_dict() for player in range(2)]
        return [{**seen, "hands": one["hands"]} for seen, one in zip(super().observations(state), structs, strict=True)]


def test_knocker_is_not_shown_the_defenders_hand() -> None:
    assert knocker_sees(GAME, DEFENDER) == knocker_sees(GAME, OTHER_DEFENDER)


def test_open_spiels_own_struct_shows_it() -> None:
    leaky = AsOpenSpielShowsIt()
    assert knocker_sees(leaky, DEFENDER) != knocker_sees(leaky, OTHER_DEFENDER)


def test_defender_sees_the_knockers_hand_and_both_see_all_at_the_end() -> None:
    state = after(GAME, *KNOCK, state=dealt(KNOCKER, DEFENDER, "9d"))
    assert [one["opponent_hand"] for one in GAME.observations(state)] == [None, ["As", "Ac", "2c", "3d"]]
    end = after(GAME, "Pass", "Pass", state=state)
    assert GAME.observations(end)[0]["opponent_hand"] == sorted(DEFENDER, key=DECK.index)


def test_hands_stay_hidden_when_nobody_has_knocked() -> None:
    state = after(GAME, "Draw upcard", "9d", "Draw upcard", "9d", state=dealt(KNOCKER, DEFENDER, "9d"))
    assert GAME.current_player(state) == TERMINAL
    assert GAME.rewards(state) == [0.0, 0.0]
    assert [one["opponent_hand"] for one in GAME.observations(state)] == [None, None]
    assert not {"Js", "Qs"} & set(GAME.render(state, 0).split())


def test_card_drawn_from_the_stock_is_seen_by_the_drawer_alone() -> None:
    state = after(GAME, "Pass", "Pass", "Draw stock", state=dealt(KNOCKER, DEFENDER, "9d"))
    drawn = [GAME.apply_action(state, action) for action in GAME.legal_actions(state)]
    assert len({json.dumps(GAME.observations(one)[1]) + GAME.render(one, 1) for one in drawn}) == 1
    assert len({json.dumps(GAME.observations(one)[0]) + GAME.render(one, 0) for one in drawn}) == 31


def assert_resampled_histories_fit(history: list[Any], player: int, rng: random.Random) -> list[str]:
    """Draws one history and replays it; returns it."""
    actions: list[str] = GAME.resample_history(history, player, rng)
    state, seen = GAME.initial_state(), []
    for action in actions:
        if GAME.current_player(state) == player:
            seen.append((GAME.observations(state)[player], action))
        state = GAME.apply_action(state, action)
    assert [*seen, (GAME.observations(state)[player], None)] == history
    return actions


@pytest.mark.parametrize("seed", range(4))
def test_resampled_histories_replay_to_what_each_player_saw_up_to_the_end(seed: int) -> None:
    rng, state = random.Random(seed), GAME.initial_state()
    past: list[list[Any]] = [[], []]
    while (player := GAME.current_player(state)) != TERMINAL:
        action = tidy_action(state, rng) if player >= 0 else rng.choice(GAME.legal_actions(state))
        if player >= 0:
            shown = GAME.observations(state)[player]
            assert_resampled_histories_fit([*past[player], (shown, None)], player, rng)
            past[player].append((shown, action))
        state = GAME.apply_action(state, action)
    assert any(GAME.state_to_json(state)["knocked"])
    for player, shown in enumerate(GAME.observations(state)):
        assert_resampled_histories_fit([*past[player], (shown, None)], player, rng)


def played(player: int, *actions: str, state: State) -> list[Any]:
    """Returns the history of `player` after `actions`."""
    history: list[Any] = []
    for action in actions:
        if GAME.current_player(state) == player:
            history.append((GAME.observations(state)[player], action))
        state = GAME.apply_action(state, action)
    assert GAME.current_player(state) == player
    return [*history, (GAME.observations(state)[player], None)]


def test_hidden_cards_are_uniform_over_all_places_that_were_open() -> None:
    turns = [["Deal 4s", "4s"], ["Deal 5s", "2h"], ["Deal 6s", "6s"], ["Deal 7s", "Jd"]]
    moves = ["Pass", "Pass", *(action for turn in turns for action in ("Draw stock", *turn))]
    history = played(0, *moves, state=dealt(KNOCKER, DEFENDER, "9d"))
    rng, draws = random.Random(5), 6000
    samples = [GAME.resample_history(history, 0, rng) for _ in range(draws)]
    first = [sample[sample.index("2h") - 1].removeprefix("Deal ") for sample in samples]
    second = [sample[sample.index("Jd") - 1].removeprefix("Deal ") for sample in samples]
    # The two of hearts lies in one of eleven places; so does the jack, in one that the two has left.
    assert first.count("2h") / draws == pytest.approx(1 / 11, abs=0.015)
    assert second.count("Jd") / draws == pytest.approx(1 / 11, abs=0.015)
    assert first.count("Jd") / draws == pytest.approx(10 / 121, abs=0.015)
    assert "2h" not in second
    unseen = [card for card in DECK if card not in {*KNOCKER, "9d", "4s", "6s", "2h", "Jd"}]
    hidden = Counter(
        card.removeprefix("Deal ")
        for sample, one, two in zip(samples, first, second, strict=True)
        for card in (*sample[10:20], one, two)
    )
    assert all(hidden[card] / draws == pytest.approx(10 / len(unseen), abs=0.035) for card in unseen)
    assert Counter(sample[0] for sample in samples).keys() == {f"Deal {card}" for card in KNOCKER}


def test_card_taken_from_the_discards_stays_where_it_was_seen_to_go() -> None:
    moves = ["Pass", "Pass", "Draw stock", "Deal 4s", "9s", "Draw upcard", "2h"]
    history = played(0, *moves, state=dealt(KNOCKER, DEFENDER, "9d"))
    assert history[-1][0]["known_cards"] == [[], ["9s"]]
    for seed in range(50):
        actions = assert_resampled_histories_fit(history, 0, random.Random(seed))
        assert "Deal 2h" in actions[10:20]
        assert sorted(actions[:10]) == sorted(f"Deal {card}" for card in KNOCKER)
        assert actions[21:] == moves


def test_defender_knows_the_whole_hand_of_the_knocker() -> None:
    history = played(1, *KNOCK, state=dealt(KNOCKER, DEFENDER, "9d"))
    for seed in range(20):
        actions = GAME.resample_history(history, 1, random.Random(seed))
        assert sorted(actions[:10]) == sorted(f"Deal {card}" for card in KNOCKER)
        assert actions[20:] == ["Deal 9d", *KNOCK]


def test_same_seed_draws_the_same_history() -> None:
    history = played(0, state=dealt(KNOCKER, DEFENDER, "9d"))
    draws = [GAME.resample_history(history, 0, random.Random(seed)) for seed in (1, 1, 2)]
    assert draws[0] == draws[1] != draws[2]


@pytest.mark.parametrize(
    ("history", "message"),
    [
        ([], "the history is empty"),
        ([({"player": 1}, None)], "is to hold observations of player 0 alone"),
    ],
)
def test_history_that_cannot_be_is_refused(history: list[Any], message: str) -> None:
    with pytest.raises(GameError, match=message):
        GAME.resample_history(history, 0, random.Random(0))


def test_history_with_a_gap_is_refused() -> None:
    moves = ["Pass", "Pass", "Draw stock", "Deal 4s", "4s", "Draw stock", "Deal 5s", "5s", "Draw upcard", "5s"]
    moves += ["Draw stock", "Deal 6s", "6s"]
    history = played(0, *moves, state=dealt(KNOCKER, DEFENDER, "9d"))
    del history[2]
    with pytest.raises(GameError, match="after 'Draw stock' the hand shows 0 new cards; pass every own decision point"):
        GAME.resample_history(history, 0, random.Random(0))


def test_table_is_drawn_with_the_other_hand_as_question_marks() -> None:
    state = after(GAME, *KNOCK, "4h", state=dealt(KNOCKER, DEFENDER, "9d"))
    assert GAME.render(state).splitlines() == [
        "Layoff: upcard -, stock 31, knock at 10",
        "discards: Kd",
        "player_0: As Ac 2c 3d, deadwood 7, melds 9s9c9d 5h6h7h",
        "player_1: Js Qs Ks Jd 2h 3h 8h 9h Th, deadwood 72",
        "laid off: 4h",
    ]
    assert GAME.render(state, 0).splitlines()[3] == "player_1: ? ? ? ? ? ? ? ? ?"
    taken = after(GAME, "Draw upcard", "Kd", state=dealt(KNOCKER, DEFENDER, "9d"))
    assert GAME.render(taken, 1).splitlines()[2] == "player_0: 9d ? ? ? ? ? ? ? ? ?"
