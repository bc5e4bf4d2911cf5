"""Hand of War: every rule by exact values, what each player sees, and what holds in every game."""

import itertools
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from games import registry
from games.api import CHANCE, TERMINAL, IllegalActionError
from games.contract import game
from games.hand_of_war.cards import DECK
from games.hand_of_war.game import HandOfWar

GAME = HandOfWar()
NOBODY = [0.0, 0.0]
PLAIN = ("JC QC KC AC JD QD KD AD", "JH QH KH AH JS QS KS AS")
"""Two piles, the top first, where equal places hold equal ranks."""


def dealt(first: str, second: str) -> dict[str, Any]:
    """Returns the state after a deal, given both piles, the top first."""
    state = GAME.initial_state()
    for pair in zip(first.split(), second.split(), strict=True):
        for card in pair:
            state = GAME.apply_action(state, f"deal {card}")
    return state


def play(state: dict[str, Any], *cards: str) -> dict[str, Any]:
    for card in cards:
        state = GAME.apply_action(state, f"play {card}")
    return state


def filled(first: str, second: str) -> tuple[str, str]:
    """Completes both piles to eight cards with those left over, from low to high."""
    left = [card for card in DECK if card not in f"{first} {second}"]
    piles = []
    for pile in (first.split(), second.split()):
        missing = 8 - len(pile)
        piles.append(" ".join([*pile, *left[:missing]]))
        left = left[missing:]
    return piles[0], piles[1]


def random_states(seed: int) -> list[dict[str, Any]]:
    """Returns all states of a random game."""
    rng = random.Random(seed)
    states = [GAME.initial_state()]
    while states[-1]["current_player"] != TERMINAL:
        states.append(GAME.apply_action(states[-1], rng.choice(GAME.legal_actions(states[-1]))))
    return states


def test_game_fulfils_the_contract_and_leaks_nothing() -> None:
    game.assert_game(registry.make("hand_of_war"), games=20)


def test_info_is_that_of_a_game_of_simultaneous_choices() -> None:
    info = GAME.info
    assert (info.utility, info.num_players, info.max_length) == ("win_loss_draw", 2, 12)
    assert (info.perfect_information, info.has_chance, info.simultaneous) == (False, True, True)


def test_chance_deals_every_undealt_card_with_equal_probability() -> None:
    state = GAME.initial_state()
    for number, card in enumerate(reversed(DECK)):
        left = DECK[: 16 - number]
        assert state["current_player"] == CHANCE
        assert GAME.chance_outcomes(state) == [(f"deal {other}", 1 / len(left)) for other in left]
        state = GAME.apply_action(state, f"deal {card}")
    assert state["current_player"] == 0


def test_cards_are_dealt_in_turn_and_three_are_drawn() -> None:
    state = dealt(*PLAIN)
    assert state["hands"] == [["JC", "QC", "KC"], ["JH", "QH", "KH"]]
    assert state["draw_piles"] == [["AC", "JD", "QD", "KD", "AD"], ["AH", "JS", "QS", "KS", "AS"]]
    assert (state["table"], state["win_piles"], state["battles"]) == ([], [[], []], [])


def test_hands_are_empty_during_the_deal() -> None:
    state = GAME.apply_action(GAME.apply_action(GAME.initial_state(), "deal QH"), "deal JC")
    assert (state["draw_piles"], state["hands"]) == ([["QH"], ["JC"]], [[], []])
    assert [GAME.observations(state)[player]["draw_pile_sizes"] for player in (0, 1)] == [[1, 1], [1, 1]]


def test_hand_is_sorted_by_rank_then_suit() -> None:
    state = dealt(*filled("AS JS JC", "AC QD KH"))
    assert state["hands"] == [["JC", "JS", "AS"], ["QD", "KH", "AC"]]
    assert GAME.legal_actions(state) == ["play JC", "play JS", "play AS"]


@pytest.mark.parametrize(("first", "second"), [p for p in itertools.product(DECK, DECK) if p[0][0] != p[1][0]])
def test_higher_rank_wins_whatever_the_suits(first: str, second: str) -> None:
    state = play(dealt(*filled(first, second)), first, second)
    winner = 0 if "JQKA".index(first[0]) > "JQKA".index(second[0]) else 1
    assert state["win_piles"][winner] == [first, second]
    assert state["win_piles"][1 - winner] == []
    assert (state["table"], state["battles"]) == ([], [[first, second]])
    assert [len(hand) for hand in state["hands"]] == [3, 3]
    assert [len(pile) for pile in state["draw_piles"]] == [4, 4]


def test_hands_are_replenished_from_the_top_after_a_battle() -> None:
    state = play(dealt(*PLAIN), "KC", "QH")
    assert state["hands"] == [["JC", "QC", "AC"], ["JH", "KH", "AH"]]
    assert state["draw_piles"] == [["JD", "QD", "KD", "AD"], ["JS", "QS", "KS", "AS"]]


def test_laid_card_leaves_the_hand_and_is_seen_by_its_owner_alone() -> None:
    state = play(dealt(*PLAIN), "KC")
    assert (state["face_down"], state["hands"][0], state["current_player"]) == ("KC", ["JC", "QC"], 1)
    first, second = GAME.observations(state)
    assert (first["face_down"], second["face_down"]) == ("KC", None)
    assert second["hand_sizes"] == [2, 3]
    other = play(dealt(*PLAIN), "JC")
    assert GAME.observations(other)[1] == second


def test_tie_burns_the_top_cards_and_leaves_two_in_hand() -> None:
    state = play(dealt(*PLAIN), "KC", "KH")
    assert state["table"] == ["KC", "KH", "AC", "AH"]
    assert state["hands"] == [["JC", "QC"], ["JH", "QH"]]
    assert state["draw_piles"] == [["JD", "QD", "KD", "AD"], ["JS", "QS", "KS", "AS"]]
    assert (state["current_player"], state["win_piles"]) == (0, [[], []])
    for shown in GAME.observations(state):
        assert shown["table_size"] == 4
        assert not {"AC", "AH"} & set(str(shown).replace("'", " ").split())


def test_winner_of_a_showdown_takes_all_and_hands_are_full_again() -> None:
    state = play(dealt(*PLAIN), "KC", "KH", "JC", "QH")
    assert state["win_piles"] == [[], ["KC", "KH", "AC", "AH", "JC", "QH"]]
    assert state["hands"] == [["JD", "QC", "QD"], ["JH", "JS", "QS"]]
    assert state["draw_piles"] == [["KD", "AD"], ["KS", "AS"]]
    assert state["table"] == []


def test_second_tie_burns_again() -> None:
    state = play(dealt(*PLAIN), "KC", "KH", "JC", "JH")
    assert state["table"] == ["KC", "KH", "AC", "AH", "JC", "JH", "JD", "JS"]
    assert state["hands"] == [["QC"], ["QH"]]
    assert GAME.legal_actions(state) == ["play QC"]


def test_third_tie_in_a_row_leaves_nothing_to_choose_and_ends_the_game() -> None:
    state = play(dealt(*PLAIN), "KC", "KH", "JC", "JH", "QC", "QH")
    assert state["current_player"] == TERMINAL
    assert state["table"] == ["KC", "KH", "AC", "AH", "JC", "JH", "JD", "JS", "QC", "QH"]
    assert state["draw_piles"] == [["QD", "KD", "AD"], ["QS", "KS", "AS"]]
    assert GAME.rewards(state) == NOBODY


def test_game_ends_after_six_battles_when_nothing_is_left_to_draw() -> None:
    piles = ("AC AD AH AS KC KD JC JD", "QC QD QH QS JH JS KH KS")
    state = dealt(*piles)
    for first, second in (("AC", "QC"), ("AD", "QD"), ("AH", "QH"), ("AS", "QS"), ("KC", "JH")):
        state = play(state, first, second)
    assert state["draw_piles"] == [[], []]
    assert state["current_player"] == 0
    state = play(state, "JC", "KH")
    assert state["current_player"] == TERMINAL
    assert state["hands"] == [["JD", "KD"], ["JS", "KS"]]
    assert [len(pile) for pile in state["win_piles"]] == [10, 2]
    assert GAME.rewards(state) == [1.0, -1.0]
    with pytest.raises(IllegalActionError):
        GAME.apply_action(state, "play JD")


def test_equal_win_piles_are_a_draw() -> None:
    piles = ("AC AD AH JC JD JH KC KD", "QC QD QH KH KS AS JS QS")
    state = dealt(*piles)
    for first, second in (("AC", "QC"), ("AD", "QD"), ("AH", "QH"), ("JC", "KH"), ("JD", "KS"), ("JH", "AS")):
        state = play(state, first, second)
    assert state["current_player"] == TERMINAL
    assert [len(pile) for pile in state["win_piles"]] == [6, 6]
    assert GAME.rewards(state) == NOBODY


def test_tie_with_empty_draw_piles_ends_the_game_and_nobody_wins_the_table() -> None:
    piles = ("AC AD AH AS KC JC JD KD", "QC QD QH QS JH JS KH KS")
    state = dealt(*piles)
    for first, second in (("AC", "QC"), ("AD", "QD"), ("AH", "QH"), ("AS", "QS"), ("KC", "JH"), ("KD", "KS")):
        state = play(state, first, second)
    assert state["current_player"] == TERMINAL
    assert state["table"] == ["KD", "KS"]
    assert [len(pile) for pile in state["win_piles"]] == [10, 0]
    assert GAME.rewards(state) == [1.0, -1.0]


def test_too_few_cards_to_replenish_end_the_game_and_none_is_drawn() -> None:
    piles = ("AC AD AH KC JC KD JD JH", "QC QD QH KH JS KS QS AS")
    state = dealt(*piles)
    for first, second in (("AC", "QC"), ("AD", "QD"), ("AH", "QH")):
        state = play(state, first, second)
    state = play(state, "KC", "KH")
    assert state["draw_piles"] == [["JH"], ["AS"]]
    state = play(state, "KD", "JS")
    assert state["current_player"] == TERMINAL
    assert (state["hands"], state["draw_piles"]) == ([["JC"], ["KS"]], [["JH"], ["AS"]])
    assert state["win_piles"][0][-6:] == ["KC", "KH", "JD", "QS", "KD", "JS"]
    assert GAME.rewards(state) == [1.0, -1.0]


def test_owner_of_all_cards_has_won() -> None:
    piles = ("AC AD AH JC QC KC JD JH", "KD QD QH JS QS KH KS AS")
    state = dealt(*piles)
    for first, second in (("AC", "KD"), ("AD", "QD"), ("AH", "QH"), ("JC", "JS"), ("QC", "QS")):
        state = play(state, first, second)
    assert (state["hands"], state["draw_piles"]) == ([["KC"], ["KH"]], [[], []])
    tie = play(state, "KC", "KH")
    assert (tie["current_player"], len(tie["table"]), GAME.rewards(tie)) == (TERMINAL, 10, [1.0, -1.0])
    piles = ("AC AD AH JC QC AS JD JH", "KD QD QH JS QS KH KS KC")
    state = dealt(*piles)
    for first, second in (("AC", "KD"), ("AD", "QD"), ("AH", "QH"), ("JC", "JS"), ("QC", "QS"), ("AS", "KH")):
        state = play(state, first, second)
    assert sorted(state["win_piles"][0]) == sorted(DECK)
    assert (state["current_player"], GAME.rewards(state)) == (TERMINAL, [1.0, -1.0])


def test_no_course_of_ties_takes_more_than_six_battles() -> None:
    lengths = set()
    for ties in itertools.product((False, True), repeat=8):
        hand, pile, battles = 3, 5, 0
        for tie in ties:
            hand, battles = hand - 1, battles + 1
            if (tie and not (hand and pile)) or (not tie and pile < 3 - hand):
                break
            pile, hand = (pile - 1, hand) if tie else (pile - 3 + hand, 3)
        else:
            pytest.fail(f"no end after {battles} battles with {ties}")
        lengths.add(battles)
    assert lengths == {3, 4, 5, 6}
    assert GAME.info.max_length == 2 * max(lengths)


def test_rules_text_lists_the_cards_in_order() -> None:
    assert f" {', '.join(DECK)}. " in " ".join(registry.rules("hand_of_war").split())


def test_action_of_another_kind_is_illegal() -> None:
    with pytest.raises(IllegalActionError, match=r"hand_of_war: 'play JC' is not legal here; legal are \['deal JC'"):
        GAME.apply_action(GAME.initial_state(), "play JC")
    with pytest.raises(IllegalActionError):
        GAME.apply_action(GAME.apply_action(GAME.initial_state(), "deal JC"), "deal JC")
    for action in ("play JH", "play AC", "deal JC", "play", "JC", ""):
        with pytest.raises(IllegalActionError):
            GAME.apply_action(dealt(*PLAIN), action)


def test_drawing_for_a_player_hides_the_other_hand_and_the_laid_card() -> None:
    state = play(dealt(*PLAIN), "KC", "QH", "AC")
    assert GAME.render(state).splitlines() == [
        "player_0: hand JC QC, draw pile 4, win pile 2",
        "player_1: hand JH KH AH, draw pile 4, win pile 0",
        "face down: AC, on the table: 0",
        "battles: KC:QH",
    ]
    assert GAME.render(state, 1).splitlines() == [
        "player_0: hand ? ?, draw pile 4, win pile 2",
        "player_1: hand JH KH AH, draw pile 4, win pile 0",
        "face down: ?, on the table: 0",
        "battles: KC:QH",
    ]
    assert "player_1: hand ? ? ?," in GAME.render(state, 0)
    assert "face down: AC" in GAME.render(state, 0)


@given(seed=st.integers(0, 10**6))
@settings(max_examples=60, deadline=None)
def test_no_card_is_ever_lost_or_doubled(seed: int) -> None:
    states = random_states(seed)
    for number, state in enumerate(states):
        lists = [*state["draw_piles"], *state["hands"], state["table"], *state["win_piles"]]
        cards = [card for cards in lists for card in cards] + [state["face_down"]] * (state["face_down"] is not None)
        assert len(cards) == len(set(cards)) == min(16, number)
        assert len(state["draw_piles"][0]) - len(state["draw_piles"][1]) in (0, 1)
        if number >= 16:
            assert len(state["hands"][1]) - len(state["hands"][0]) == (state["face_down"] is not None)
        if state["current_player"] != TERMINAL:
            assert GAME.rewards(state) == NOBODY
    first, second = (len(pile) for pile in states[-1]["win_piles"])
    assert GAME.rewards(states[-1]) == [
        float((first > second) - (first < second)),
        float((second > first) - (second < first)),
    ]


@given(seed=st.integers(0, 10**6), suits=st.permutations("CDHS"))
@settings(max_examples=40, deadline=None)
def test_suits_never_matter(seed: int, suits: list[str]) -> None:
    renamed, rng = dict(zip("CDHS", suits, strict=True)), random.Random(seed)
    state = other = GAME.initial_state()
    while state["current_player"] != TERMINAL:
        action = rng.choice(GAME.legal_actions(state))
        state, other = GAME.apply_action(state, action), GAME.apply_action(other, action[:-1] + renamed[action[-1]])
        assert other["current_player"] == state["current_player"]
        assert GAME.rewards(other) == GAME.rewards(state)
