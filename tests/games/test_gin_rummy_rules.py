"""The rules text of gin rummy says what the game does: a game written from its words alone goes the same way."""

import copy
import functools
import json
import random
import re
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from games import registry
from games.api import CHANCE, TERMINAL
from games.gin_rummy.cards import HAND_SIZE
from games.gin_rummy.game import GIN_BONUS, KNOCK_CARD, MAX_UPCARD_DRAWS, UNDERCUT_BONUS, WALL

RANKS, SUITS = "A23456789TJQK", "scdh"
DECK = [rank + suit for suit in SUITS for rank in RANKS]
RULES = " ".join(registry.rules("gin_rummy").split())
GAME = registry.make("gin_rummy")
Cards = tuple[str, ...]


def number(pattern: str) -> int:
    """Returns the number that stands in the rules text where the pattern has its group."""
    found = re.findall(pattern, RULES)
    assert len(found) == 1, (pattern, found)
    return int(found[0])


HAND = {"ten": 10}[re.findall(r"deals card by card: (\w+) cards to player 0", RULES)[0]]
LIMIT = number(r"`knock_card`: always (\d+)")
LEFT = number(r"When a discard leaves (\d+) cards in the stock, nobody draws")
DRAWS = number(r"`Draw upcard` is chosen for the (\d+)th time")
GIN = number(r"If its own is 0, it gets a bonus of (\d+) on top")
UNDERCUT = number(r"If the result is less than 0 .*?, it gets (\d+) less")


def value(cards: Sequence[str]) -> int:
    return sum(min(RANKS.index(card[0]) + 1, 10) for card in cards)


@functools.cache
def melds(hand: Cards) -> list[Cards]:
    """Returns the melds that can be made of a hand, in the order that counts for eleven cards."""
    ranks = [(rank, tuple(card for card in hand if card[0] == rank)) for rank in RANKS]
    found: list[Cards] = []
    for rank, same in ranks:
        if len(same) == 4:
            found += [same, *(tuple(card for card in same if card != rank + suit) for suit in "dc")]
    for rank, same in ranks:
        if len(same) == 4:
            found += [tuple(card for card in same if card != rank + suit) for suit in "hs"]
        elif len(same) == 3:
            found.append(same)
    for length in (5, 4, 3):
        for suit in SUITS:
            runs = (tuple(rank + suit for rank in RANKS[low : low + length]) for low in range(14 - length))
            found += [run for run in runs if set(run) <= set(hand)]
    return found


def arrangements(choice: Sequence[Cards]) -> Iterator[tuple[Cards, ...]]:
    """Yields all arrangements to which no meld can be added, the first ones first; each in several orders."""
    if not choice:
        yield ()
    for meld in choice:
        for others in arrangements([other for other in choice if not set(other) & set(meld)]):
            yield (meld, *others)


def leftover(hand: Cards, arrangement: tuple[Cards, ...]) -> list[str]:
    return [card for card in hand if not any(card in meld for meld in arrangement)]


@functools.cache
def deadwood(hand: Cards) -> int:
    best = min((leftover(hand, one) for one in arrangements(melds(hand))), key=value)
    if len(hand) == HAND + 1 and best:
        best = sorted(best, key=lambda card: value([card]))[:-1]
    return value(best)


def laid_order(meld: Cards) -> tuple[int, ...]:
    if meld[0][0] == meld[1][0]:
        missing = [number for number, suit in enumerate(SUITS) if meld[0][0] + suit not in meld]
        return (0, RANKS.index(meld[0][0]), missing[0] if missing else 4)
    return (len(meld), SUITS.index(meld[0][1]), RANKS.index(meld[0][0]))


def without(hand: Sequence[str], cards: Sequence[str]) -> Cards:
    return tuple(card for card in hand if card not in cards)


def layoffs(state: dict[str, Any], hand: Sequence[str]) -> list[str]:
    found = []
    for meld in state["laid_melds"][state["knocked"].index(True)]:
        if meld[0][0] == meld[1][0]:
            found += [meld[0][0] + suit for suit in SUITS if meld[0][0] + suit not in meld] if len(meld) == 3 else []
            continue
        low, high, suit = RANKS.index(meld[0][0]), RANKS.index(meld[-1][0]), meld[0][1]
        for step, end in ((-1, low), (1, high)):
            for distance in (1, 2):
                rank = end + step * distance
                between = RANKS[end + step] + suit if 0 <= end + step < 13 else ""
                if 0 <= rank < 13 and (distance == 1 or between in state["layoffs"]):
                    found.append(RANKS[rank] + suit)
    return [card for card in hand if card in found]


def legal(state: dict[str, Any]) -> list[str]:
    phase, player = state["phase"], state["current_player"]
    if player in (CHANCE, TERMINAL):
        seen = [*state["hands"][0], *state["hands"][1], *state["discard_pile"], state["upcard"]]
        return [f"Deal {card}" for card in DECK if card not in seen] if player == CHANCE else []
    hand = tuple(state["hands"][player])
    if phase == "FirstUpcard":
        return ["Draw stock"] if all(state["passed_first_upcard"]) else ["Draw upcard", "Pass"]
    if phase == "Draw":
        return ["Draw upcard", "Draw stock"]
    if phase == "Discard":
        return [*hand, *(["Knock"] if deadwood(hand) <= LIMIT else [])]
    if phase == "Wall":
        all_eleven = tuple(sorted((*hand, state["upcard"]), key=DECK.index))
        return ["Pass", *(["Knock"] if deadwood(all_eleven) <= LIMIT else [])]
    if phase == "Knock" and len(hand) == HAND + 1:
        return [card for card in hand if deadwood(without(hand, [card])) <= LIMIT]
    if phase == "Layoff" and not state["layoffs_finished"]:
        return [*layoffs(state, hand), "Pass"]
    limit = LIMIT if phase == "Knock" else 1000
    ordered = sorted(melds(hand), key=laid_order)
    fitting = ["".join(meld) for meld in ordered if deadwood(without(hand, meld)) <= limit]
    return [*(["Pass"] if value(hand) <= limit else []), *fitting]


def apply(before: dict[str, Any], action: str) -> dict[str, Any]:
    state = copy.deepcopy(before)
    player = state["current_player"]
    if player == CHANCE:
        deal(state, action.removeprefix("Deal "))
    else:
        last = state["last_moves"]
        moves = last["actions"] if last["player"] == player else []
        state["last_moves"] = {"player": player, "actions": [*moves, action]}
        {"FirstUpcard": draw, "Draw": draw, "Discard": discard, "Knock": lay, "Layoff": lay_off, "Wall": wall}[
            state["phase"]
        ](state, player, action)
    count(state)
    return state


def count(state: dict[str, Any]) -> None:
    for hand in (*state["hands"], *state["known_cards"]):
        hand.sort(key=DECK.index)
    for seat, hand in enumerate(state["hands"]):
        state["known_cards"][seat] = [card for card in state["known_cards"][seat] if card in hand]
    if state["stock_size"] < 52 - 2 * HAND:
        count_hand = value if any(state["knocked"]) else deadwood
        state["deadwood"] = [count_hand(tuple(hand)) for hand in state["hands"]]


def deal(state: dict[str, Any], card: str) -> None:
    dealt = 52 - state["stock_size"]
    state["stock_size"] -= 1
    if dealt < 2 * HAND:
        state["hands"][dealt // HAND].append(card)
    elif dealt == 2 * HAND:
        state.update(upcard=card, phase="FirstUpcard", current_player=0)
    else:
        player = state["last_moves"]["player"]
        state["hands"][player].append(card)
        state.update(phase="Discard", current_player=player)


def take_upcard(state: dict[str, Any], player: int) -> None:
    state["hands"][player].append(state["upcard"])
    state["known_cards"][player].append(state["upcard"])
    state["upcard"] = None


def draw(state: dict[str, Any], player: int, action: str) -> None:
    if action == "Pass":
        state["passed_first_upcard"][player] = True
        state["current_player"] = 1 - player
    elif action == "Draw stock":
        state["discard_pile"].append(state["upcard"])
        state.update(previous_upcard=state["upcard"], upcard=None, phase="Deal", current_player=CHANCE)
    else:
        state["upcard_draws"] += state["phase"] == "Draw"
        if state["upcard_draws"] == DRAWS:
            state.update(phase="GameOver", current_player=TERMINAL)
            return
        state.update(previous_upcard=state["upcard"], phase="Discard")
        take_upcard(state, player)


def discard(state: dict[str, Any], player: int, action: str) -> None:
    if action == "Knock":
        state["knocked"][player] = True
        state["phase"] = "Knock"
        return
    state["hands"][player].remove(action)
    returned = state["last_moves"]["actions"][-2] == "Draw upcard" and action == state["previous_upcard"]
    twice = returned and state["upcard_returned"]
    phase = "Wall" if state["stock_size"] == LEFT else "Draw"
    state.update(upcard=action, upcard_returned=returned, phase=phase, current_player=1 - player)
    if twice:
        state.update(phase="GameOver", current_player=TERMINAL)


def lay(state: dict[str, Any], player: int, action: str) -> None:
    hand = state["hands"][player]
    if action == "Pass":
        state.update(phase="Layoff", current_player=1 - player, layoffs_finished=not value(hand))
    elif len(hand) == HAND + 1:
        hand.remove(action)
        state["discard_pile"].append(action)
    else:
        lay_meld(state, player, action)


def lay_meld(state: dict[str, Any], player: int, action: str) -> None:
    meld = re.findall("..", action)
    state["laid_melds"][player].append(meld)
    state["hands"][player] = list(without(state["hands"][player], meld))


def lay_off(state: dict[str, Any], player: int, action: str) -> None:
    if action == "Pass" and state["layoffs_finished"]:
        state.update(phase="GameOver", current_player=TERMINAL)
    elif action == "Pass":
        state["layoffs_finished"] = True
    elif state["layoffs_finished"]:
        lay_meld(state, player, action)
    else:
        state["layoffs"].append(action)
        state["hands"][player].remove(action)


def wall(state: dict[str, Any], player: int, action: str) -> None:
    if action == "Pass":
        state.update(phase="GameOver", current_player=TERMINAL)
        return
    state["knocked"][player] = True
    state["phase"] = "Knock"
    take_upcard(state, player)


def rewards(state: dict[str, Any]) -> list[float]:
    if state["phase"] != "GameOver" or not any(state["knocked"]):
        return [0.0, 0.0]
    knocker = state["knocked"].index(True)
    own, other = value(state["hands"][knocker]), value(state["hands"][1 - knocker])
    result = float(other - own + (GIN if own == 0 else 0))
    result -= UNDERCUT if result < 0 else 0
    return [result, -result] if knocker == 0 else [-result, result]


def observation(state: dict[str, Any], player: int) -> dict[str, Any]:
    other = 1 - player
    face_up = state["knocked"][other] or (state["phase"] == "GameOver" and any(state["knocked"]))
    public = {name: shown for name, shown in state.items() if name not in ("hands", "deadwood")}
    return {
        "player": player,
        "hand": state["hands"][player],
        "deadwood": state["deadwood"][player],
        "opponent_hand": state["hands"][other] if face_up else None,
        **public,
    }


def choose(state: dict[str, Any], rng: random.Random, style: str) -> str:
    """Returns a move: `tidy` players throw away what does not fit, `patient` ones also wait for gin or the wall before
    they knock, `stubborn` ones always take the upcard.
    """
    actions, phase = legal(state), state["phase"]
    if phase == "Deal" and style in ("tidy", "stubborn"):
        # Low cards come early, so that melds abound.
        return min(rng.sample(actions, min(3, len(actions))), key=lambda action: RANKS.index(action[-2]))
    if "Knock" in actions:
        patient = style == "patient" and phase == "Discard"
        if state["deadwood"][state["current_player"]] == 0 if patient else rng.random() < 0.5:
            return "Knock"
        actions.remove("Knock")
    if phase == "Draw" and style == "stubborn":
        return "Draw upcard"
    if phase != "Discard" or style == "wild":
        return rng.choice(actions)
    taken = state["last_moves"]["actions"][-1] == "Draw upcard"
    if style == "stubborn" and taken and rng.random() < 0.15:
        return str(state["previous_upcard"])
    others = [card for card in actions if not taken or card != state["previous_upcard"]]
    hand = state["hands"][state["current_player"]]
    rng.shuffle(others)
    return others[0] if style == "stubborn" else min(others, key=lambda card: deadwood(without(hand, [card])))


def play(seed: int, style: str) -> dict[str, Any]:
    """Plays one game by the text and by the code, compares every step, and returns the end."""
    rng = random.Random(f"{style} {seed}")
    ours = GAME.initial_state()
    state = {"hands": [[], []], **GAME.state_to_json(ours)}
    while True:
        assert GAME.state_to_json(ours) == state
        assert GAME.observations(ours) == [observation(state, player) for player in range(2)]
        assert GAME.legal_actions(ours) == legal(state)
        assert GAME.rewards(ours) == rewards(state)
        assert GAME.current_player(ours) == state["current_player"]
        if state["current_player"] == CHANCE:
            chance = 1 / state["stock_size"]
            assert GAME.chance_outcomes(ours) == [(action, chance) for action in legal(state)]
        if state["current_player"] == TERMINAL:
            return state
        action = choose(state, rng, style)
        state, ours = apply(state, action), GAME.apply_action(ours, action)


@pytest.mark.parametrize("style", ["tidy", "patient", "stubborn", "wild"])
def test_game_written_from_the_text_goes_step_by_step_as_the_real_one(style: str) -> None:
    ends = [play(seed, style) for seed in range({"tidy": 20, "patient": 10, "stubborn": 20, "wild": 1}[style])]
    knocked = [end for end in ends if any(end["knocked"])]
    if style == "tidy":
        assert {tuple(end["knocked"]) for end in knocked} == {(True, False), (False, True)}
        assert any(end["layoffs"] for end in knocked)
        assert any(all(end["laid_melds"]) for end in knocked)
    elif style == "patient":
        assert any(end["stock_size"] == LEFT for end in knocked)
    elif style == "stubborn":
        assert any(end["upcard_draws"] == DRAWS for end in ends)
        assert any(end["upcard_returned"] for end in ends)


# Eleven cards whose best arrangements are several, which leave out cards of different value.
TIED = [
    [18, 3, 30, 28, 17, 43, 16, 26, 40, 4, 5],
    [0, 14, 2, 42, 15, 13, 43, 40, 44, 4, 30],
    [43, 30, 4, 2, 41, 16, 15, 44, 42, 39, 13],
    [43, 31, 15, 28, 18, 4, 44, 17, 1, 16, 42],
    [31, 2, 4, 5, 3, 29, 44, 30, 14, 27, 17],
    [1, 30, 29, 31, 3, 41, 42, 43, 4, 15, 14],
    [19, 44, 31, 43, 2, 14, 18, 17, 5, 45, 16],
    [31, 17, 6, 4, 14, 27, 15, 16, 5, 44, 2],
]


@pytest.mark.parametrize("numbers", TIED)
def test_of_several_best_arrangements_the_first_in_the_order_of_the_text_counts(numbers: list[int]) -> None:
    cards = [DECK[index] for index in numbers]
    others = [card for card in DECK if card not in cards][:HAND]
    state = GAME.initial_state()
    for card in (*cards[:HAND], *others, cards[HAND]):
        state = GAME.apply_action(state, f"Deal {card}")
    state = GAME.apply_action(state, "Draw upcard")
    hand = tuple(sorted(cards, key=DECK.index))
    best = min(value(leftover(hand, one)) for one in arrangements(melds(hand)))
    left = [leftover(hand, one) for one in arrangements(melds(hand))]
    assert len({max(value([card]) for card in cards) for cards in left if value(cards) == best}) > 1
    assert GAME.observations(state)[0]["deadwood"] == deadwood(hand)
    assert GAME.legal_actions(state) == [*hand, *(["Knock"] if deadwood(hand) <= LIMIT else [])]


def test_numbers_of_the_text_are_those_of_the_code_and_of_open_spiel() -> None:
    parameters = GAME.native.get_parameters()
    names = ("hand_size", "knock_card", "gin_bonus", "undercut_bonus")
    assert [parameters[name] for name in names] == [HAND, LIMIT, GIN, UNDERCUT]
    assert (HAND, LIMIT, GIN, UNDERCUT) == (HAND_SIZE, KNOCK_CARD, GIN_BONUS, UNDERCUT_BONUS)
    assert (LEFT, DRAWS) == (WALL, MAX_UPCARD_DRAWS)
    assert (parameters["num_ranks"], parameters["num_suits"], parameters["oklahoma"]) == (13, 4, False)


def test_text_names_every_field_of_states_and_observations_and_every_phase() -> None:
    section = registry.rules("gin_rummy").split("## State\n")[1].split("\n## ")[0]
    state = GAME.initial_state()
    fields = set(GAME.state_to_json(state))
    assert set(re.findall(r"^\* `(\w+)`:", section, re.MULTILINE)) == fields
    assert {name for one in GAME.observations(state) for name in one if f"`{name}`" not in RULES} == set()
    printed = re.findall(r"The game starts with `(\{.*?\})`\.", RULES)
    assert [json.loads(text) for text in printed] == [GAME.state_to_json(state)]
    phases = {"Deal", "FirstUpcard", "Draw", "Discard", "Knock", "Layoff", "Wall", "GameOver"}
    assert set(re.findall(r'`"(\w+)"`', section)) == phases


def test_text_names_the_words_that_are_actions() -> None:
    words = {action for action in GAME.all_actions() if len(action) > 2 and action[0] not in RANKS} | {"Knock"}
    assert words == {"Draw upcard", "Draw stock", "Pass", "Knock"}
    assert {word for word in words if f"`{word}`" not in RULES} == set()
    assert "`Deal As` to `Deal Kh`" in RULES
