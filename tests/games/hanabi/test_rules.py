"""The rules text is enough to write the game: one written from it alone goes step by step as the real one."""

import copy
import json
import random
import re
from typing import Any

import pytest

from games import registry
from games.api import CHANCE, TERMINAL
from games.hanabi.config import VARIANTS, HanabiSizes
from tests.games.hanabi.test_game import GAMES, careful

RULES = registry.rules("hanabi-2p")


def start(sizes: HanabiSizes) -> dict[str, Any]:
    cards = sum(sizes.deck().values())
    return {
        "hands": [[] for _ in range(sizes.players)], "phase": "deal", "current_player": CHANCE,
        "fireworks": dict.fromkeys(sizes.letters, 0), "info_tokens": sizes.info, "life_tokens": sizes.lives,
        "deck_size": cards, "discards": [], "final_turns": None, "recent": [],
    }  # fmt: skip


def left(sizes: HanabiSizes, state: dict[str, Any]) -> dict[str, int]:
    cards = sizes.deck()
    gone = [slot["card"] for hand in state["hands"] for slot in hand] + state["discards"]
    gone += [f"{colour}{rank}" for colour, top in state["fireworks"].items() for rank in range(1, top + 1)]
    for card in gone:
        cards[card] -= 1
    return {card: copies for card, copies in cards.items() if copies}


def legal(sizes: HanabiSizes, state: dict[str, Any]) -> list[str]:
    if state["phase"] == "over":
        return []
    if state["phase"] == "deal":
        return [f"(Deal {card})" for card in left(sizes, state)]
    player, slots = state["current_player"], range(len(state["hands"][state["current_player"]]))
    found = [f"(Discard {slot})" for slot in slots] if state["info_tokens"] < sizes.info else []
    found += [f"(Play {slot})" for slot in slots]
    ranks = [str(rank) for rank in range(1, sizes.ranks + 1)]
    for word, values in (("color", list(sizes.letters)), ("rank", ranks)) if state["info_tokens"] else ():
        for offset in range(1, sizes.players):
            hand = state["hands"][(player + offset) % sizes.players]
            cards = "".join(slot["card"] for slot in hand)
            found += [f"(Reveal player +{offset} {word} {value})" for value in values if value in cards]
    return found


def apply(sizes: HanabiSizes, before: dict[str, Any], action: str) -> tuple[dict[str, Any], float]:
    state = copy.deepcopy(before)
    if state["phase"] == "deal":
        whole = {"colours": list(sizes.letters), "ranks": list(range(1, sizes.ranks + 1))}
        slot = {"card": action[6:-1], "told_colour": None, "told_rank": None, **whole}
        todo = [hand for hand in state["hands"] if len(hand) < sizes.hand]
        (state["hands"][state["recent"][-1]["player"]] if state["recent"] else todo[0]).append(slot)
        state["deck_size"] -= 1
        if not state["deck_size"]:
            state["final_turns"] = sizes.players
        if state["recent"] or (len(todo) == 1 and len(todo[0]) == sizes.hand):
            mover = (state["recent"][-1]["player"] + 1) % sizes.players if state["recent"] else 0
            state.update(phase="play", current_player=mover)
        return state, 0.0
    player, empty = state["current_player"], not state["deck_size"]
    event = {"player": player, "action": action, "card": None, "result": "hinted", "to": None}
    pay = hint(sizes, state, event) if "Reveal" in action else spend(sizes, state, event)
    state["final_turns"] = state["final_turns"] - 1 if empty else None
    event |= {"lives": state["life_tokens"], "info": state["info_tokens"], "fireworks": dict(state["fireworks"])}
    state["recent"] = [*state["recent"], event][-sizes.players :]
    over = not state["life_tokens"] or state["final_turns"] == 0 or set(state["fireworks"].values()) == {sizes.ranks}
    if over:
        state.update(phase="over", current_player=TERMINAL)
        pay = pay if state["life_tokens"] else 0.0 - sum(state["fireworks"].values())
    elif event["result"] != "hinted" and not empty:
        state.update(phase="deal", current_player=CHANCE)
    else:
        state["current_player"] = (player + 1) % sizes.players
    return state, pay


def hint(sizes: HanabiSizes, state: dict[str, Any], event: dict[str, Any]) -> float:
    offset, word, value = re.findall(r"\+(\d) (\w+) (\w)", event["action"])[0]
    event["to"] = (event["player"] + int(offset)) % sizes.players
    state["info_tokens"] -= 1
    event["slots"] = []
    told, possible = ("told_colour", "colours") if word == "color" else ("told_rank", "ranks")
    named = value if word == "color" else int(value)
    for number, slot in enumerate(state["hands"][event["to"]]):
        if value in slot["card"]:
            event["slots"].append(number)
            slot[told], slot[possible] = named, [named]
        else:
            slot[possible] = [one for one in slot[possible] if one != named]
    return 0.0


def spend(sizes: HanabiSizes, state: dict[str, Any], event: dict[str, Any]) -> float:
    number = int(event["action"].split()[1][:-1])
    card = state["hands"][event["player"]].pop(number)["card"]
    event |= {"slots": [number], "card": card, "result": "discarded"}
    fits = state["fireworks"][card[0]] + 1 == int(card[1])
    if "Play" in event["action"] and fits:
        event["result"] = "played"
        state["fireworks"][card[0]] += 1
        if int(card[1]) == sizes.ranks:
            state["info_tokens"] = min(sizes.info, state["info_tokens"] + 1)
        return 1.0
    state["discards"].append(card)
    if "Play" in event["action"]:
        event["result"] = "failed"
        state["life_tokens"] -= 1
    else:
        state["info_tokens"] += 1
    return 0.0


def observation(state: dict[str, Any], player: int) -> dict[str, Any]:
    shown = copy.deepcopy(state)
    for seat, hand in enumerate(shown["hands"]):
        for slot in hand:
            del slot["colours"], slot["ranks"]
            if seat == player:
                slot["card"] = None
    own = [number for number, event in enumerate(state["recent"]) if event["player"] == player]
    shown["recent"] = shown["recent"][own[-1] if own else 0 :]
    return {"player": player, **shown}


@pytest.mark.parametrize("name", VARIANTS)
def test_game_written_from_the_text_goes_step_by_step_as_the_real_one(name: str) -> None:
    sizes, game = VARIANTS[name], GAMES[name]
    for number in range(3):
        rng, ours = random.Random(f"rules {name} {number}"), game.initial_state()
        state, pay = start(sizes), 0.0
        while True:
            assert game.state_to_json(ours) == state
            assert game.observations(ours) == [observation(state, player) for player in range(sizes.players)]
            assert game.legal_actions(ours) == legal(sizes, state)
            assert game.rewards(ours) == [pay] * sizes.players
            assert game.current_player(ours) == state["current_player"]
            if state["phase"] == "deal":
                copies = left(sizes, state)
                chances = {f"(Deal {card})": count / sum(copies.values()) for card, count in copies.items()}
                assert dict(game.chance_outcomes(ours)) == pytest.approx(chances)
            if state["phase"] == "over":
                break
            action = careful(game, ours, rng) if number else rng.choice(legal(sizes, state))
            (state, pay), ours = apply(sizes, state, action), game.apply_action(ours, action)


def test_text_names_every_field_of_states_observations_and_events() -> None:
    game = GAMES["hanabi-2p"]
    state = game.initial_state()
    while game.current_player(state) == CHANCE:
        state = game.apply_action(state, game.legal_actions(state)[0])
    state = game.apply_action(state, "(Play 0)")
    whole = game.state_to_json(state)
    keys = {*whole, *whole["recent"][0], *whole["hands"][0][0], *game.observations(state)[0]}
    assert {key for key in keys if f"`{key}`" not in RULES} == set()
    words = {json.loads(word) for word in re.findall(r'`("\w+")`', RULES)}
    assert words == {"deal", "play", "over", "played", "failed", "discarded", "hinted"}


@pytest.mark.parametrize("name", VARIANTS)
def test_text_tells_the_sizes_of_each_game(name: str) -> None:
    sizes = VARIANTS[name]
    text = registry.rules(name).split("## This game\n\n")[1].split()
    told = [int(word) for word in text if word.isdigit()]
    cards = sum(sizes.deck().values())
    assert told == [sizes.players, sizes.colours, sizes.ranks, sizes.hand, sizes.info, sizes.lives, cards]


def test_rule_book_tells_the_sizes_of_each_game() -> None:
    rows = re.findall(r"^\| (.+?) \| (\d) \| (\d) \| (\d) \| (\d) \| (\d) \|$", registry.rule_book("hanabi-2p"), re.M)
    told = {name: tuple(map(int, sizes)) for name, *sizes in rows}
    expected = {
        "two or three players": ("hanabi-2p", "hanabi-3p"), "four or five players": ("hanabi-4p", "hanabi-5p"),
        "mini, two players": ("hanabi-mini-2p",), "small, two players": ("hanabi-small-2p",),
        "tiny, two players": ("hanabi-tiny-2p",),
    }  # fmt: skip
    found = {
        title: {(s.colours, s.ranks, s.hand, s.info, s.lives) for s in (VARIANTS[name] for name in names)}
        for title, names in expected.items()
    }
    assert found == {title: {sizes} for title, sizes in told.items()}
