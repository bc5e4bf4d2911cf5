"""Bargaining agrees with OpenSpiel and with its rules text, and hides the other player's values."""

import json
import random
import re
from collections import Counter
from collections.abc import Iterator
from itertools import product
from typing import Any

import pyspiel
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from games import registry
from games.api import CHANCE, TERMINAL, IllegalActionError, Observation, State, state_to_json
from games.bargaining.game import AGREE, ITEMS, MAX_OFFERS, Bargaining
from games.contract import game

GAME = Bargaining()
RULES = registry.rules("bargaining")
START = GAME.initial_state()
DEALS = GAME.legal_actions(START)
NATIVE = pyspiel.load_game("bargaining")


def after(*actions: str) -> State:
    state = START
    for action in actions:
        state = GAME.apply_action(state, action)
    return state


def played(seed: int) -> Iterator[tuple[State, str]]:
    """Yields each state of a random game with the action taken, "" at the end; half of the games find no agreement."""
    rng = random.Random(f"bargaining {seed}")
    state = START
    while GAME.current_player(state) != TERMINAL:
        legal = GAME.legal_actions(state)
        action = rng.choice([name for name in legal if name != AGREE or seed % 2] or legal)
        if seed % 2 and AGREE in legal and rng.random() < 0.2:
            action = AGREE
        yield state, action
        state = GAME.apply_action(state, action)
    yield state, ""


def numbers(text: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", text)]


def our_name(player: int, text: str) -> str:
    """Translates OpenSpiel's name of an action into ours."""
    if text == "Agree":
        return "agree"
    found = [number for line in text.splitlines() for number in numbers(line.split(":", 1)[1])]
    if player != CHANCE:
        return "keep {} books, {} hats, {} basketballs".format(*found)
    return " ".join(",".join(map(str, found[i : i + 3])) for i in (0, 3, 6))


@pytest.mark.parametrize("seed", range(12))
def test_random_game_agrees_with_open_spiel_step_by_step(seed: int) -> None:
    native = NATIVE.new_initial_state()
    for state, action in played(seed):
        player = native.current_player()
        names = [our_name(player, native.action_to_string(player, number)) for number in native.legal_actions()]
        assert GAME.current_player(state) == player
        assert GAME.legal_actions(state) == names
        assert GAME.rewards(state) == native.rewards()
        if player == CHANCE:
            assert GAME.chance_outcomes(state) == [(names[number], p) for number, p in native.chance_outcomes()]
        if action:
            native.apply_action(native.legal_actions()[names.index(action)])
    assert native.is_terminal()


class ByTheBook:
    """The game as `RULES.md` tells it, on the JSON of a state."""

    @staticmethod
    def by_kind(row: list[int]) -> dict[str, int]:
        return dict(zip(("books", "hats", "basketballs"), row, strict=True))

    def legal(self, state: dict[str, Any]) -> list[str]:
        if state["current_player"] < 0:
            return list(state["deals"])
        books, hats, balls = (range(count + 1) for count in state["pool"].values())
        kept = [f"keep {a} books, {b} hats, {c} basketballs" for c, b, a in product(balls, hats, books)]
        return [*kept, "agree"] if state["offers"] else kept

    def after(self, state: dict[str, Any], action: str) -> dict[str, Any]:
        if state["current_player"] == CHANCE:
            pool, *values = (self.by_kind(numbers(group)) for group in action.split(" "))
            return {**state, "pool": pool, "values": values, "deals": [], "current_player": 0}
        if action == "agree":
            return {**state, "agreed": True, "current_player": TERMINAL}
        me = state["current_player"]
        offers = [*state["offers"], {"player": me, "keeps": self.by_kind(numbers(action))}]
        return {**state, "offers": offers, "current_player": TERMINAL if len(offers) == 10 else 1 - me}

    def rewards(self, state: dict[str, Any]) -> list[float]:
        if not state["agreed"]:
            return [0.0, 0.0]
        offer = state["offers"][-1]
        shares = [offer["keeps"], {kind: state["pool"][kind] - kept for kind, kept in offer["keeps"].items()}]
        ordered = shares if offer["player"] == 0 else shares[::-1]
        pairs = zip(ordered, state["values"], strict=True)
        return [float(sum(share[kind] * values[kind] for kind in share)) for share, values in pairs]

    def observation(self, state: dict[str, Any], player: int) -> Observation:
        own = state["values"][player] if state["values"] else None
        public = {name: state[name] for name in ("pool", "offers", "agreed", "current_player")}
        return {"player": player, "own_values": own, **public}


@pytest.mark.parametrize("seed", range(12))
def test_random_game_goes_as_the_rules_text_says(seed: int) -> None:
    book = ByTheBook()
    facts = state_to_json(GAME, START)
    for state, action in played(100 + seed):
        assert state_to_json(GAME, state) == facts
        assert GAME.legal_actions(state) == book.legal(facts)
        assert GAME.rewards(state) == book.rewards(facts)
        assert GAME.observations(state) == [book.observation(facts, player) for player in (0, 1)]
        if action:
            facts = book.after(facts, action)
    assert facts["agreed"] == bool(seed % 2) or len(facts["offers"]) == MAX_OFFERS


def test_contract_and_leak_checks_pass() -> None:
    game.assert_game(GAME, games=6)


def test_initial_state_holds_every_deal_as_data_and_no_later_state_does() -> None:
    facts = state_to_json(GAME, START)
    assert facts["deals"] == DEALS == [action for action, _ in GAME.chance_outcomes(START)]
    assert len(set(DEALS)) == 1000 == len(NATIVE.all_instances())
    assert {chance for _, chance in GAME.chance_outcomes(START)} == {1 / 1000}
    assert {**facts, "deals": []} == {
        "values": None,
        "pool": None,
        "offers": [],
        "agreed": False,
        "current_player": CHANCE,
        "deals": [],
    }
    assert state_to_json(GAME, after(DEALS[7]))["deals"] == []
    assert all("deals" not in shown for shown in GAME.observations(START))


def test_initial_state_cannot_be_changed_through_its_json() -> None:
    state_to_json(GAME, START)["deals"].clear()
    assert state_to_json(GAME, START)["deals"] == DEALS


def test_every_deal_keeps_to_the_numbers_of_the_rules_text() -> None:
    text = " ".join(RULES.split())
    bounds = re.search(r"at least (\d) of each kind, and (\d) to (\d) items in all.*number from (\d) to (\d+)\.", text)
    total = re.search(r"together are worth exactly (\d+) to each", text)
    assert bounds is not None
    assert total is not None
    least, fewest, most, low, high = (int(number) for number in bounds.groups())
    rows = [[numbers(group) for group in deal.split(" ")] for deal in DEALS]
    pools = [pool for pool, *_ in rows]
    values = [own for _, *both in rows for own in both]
    assert min(min(pool) for pool in pools) == least
    assert (min(map(sum, pools)), max(map(sum, pools))) == (fewest, most)
    assert (min(map(min, values)), max(map(max, values))) == (low, high)
    worth = {sum(count * one for count, one in zip(pool, own, strict=True)) for pool, *both in rows for own in both}
    assert worth == {int(total[1])} == {int(GAME.info.max_utility)}


def test_rules_text_states_open_spiels_own_settings() -> None:
    parameters = NATIVE.get_parameters()
    assert (parameters["discount"], parameters["prob_end"]) == (1.0, 0.0)
    assert f"as soon as the offer number {parameters['max_turns']} is made" in " ".join(RULES.split())
    assert parameters["max_turns"] == MAX_OFFERS == GAME.info.max_length
    assert f"a fixed table of {parameters['max_num_instances']} deals" in RULES
    assert (GAME.info.utility, GAME.info.perfect_information, GAME.info.has_chance) == ("general_sum", False, True)


def test_rules_text_lists_each_field_of_states_and_observations() -> None:
    for title, facts in (("State", state_to_json(GAME, START)), ("Observations", GAME.observations(START)[0])):
        section = RULES.split(f"## {title}\n")[1].split("\n## ")[0]
        bullets = [line.split(":")[0] for line in section.splitlines() if line.startswith("* ")]
        assert {name for line in bullets for name in re.findall(r"`(\w+)`", line)} == set(facts)


def test_example_of_the_rules_text_pays_what_it_says() -> None:
    deal, offer, paid = "1,2,3 8,1,0 4,0,2", "keep 1 books, 0 hats, 0 basketballs", [8.0, 6.0]
    assert all(f"`{quoted}`" in RULES for quoted in (deal, offer, paid))
    assert GAME.rewards(after(deal, offer, AGREE)) == paid
    assert deal in DEALS


def test_last_offer_ends_the_game_and_cannot_be_agreed_to() -> None:
    offers = ["keep 0 books, 0 hats, 0 basketballs"] * MAX_OFFERS
    before = after(DEALS[0], *offers[:-1])
    assert AGREE in GAME.legal_actions(before)
    state = GAME.apply_action(before, offers[0])
    assert GAME.current_player(state) == TERMINAL
    assert GAME.rewards(state) == [0.0, 0.0]
    assert state_to_json(GAME, state)["agreed"] is False
    agreed = GAME.apply_action(before, AGREE)
    assert GAME.rewards(agreed) == [0.0, 10.0]
    assert state_to_json(GAME, agreed)["agreed"] is True


def test_first_action_can_not_be_to_agree() -> None:
    state = after(DEALS[0])
    assert AGREE not in GAME.legal_actions(state)
    for wrong in (AGREE, "keep 2 books, 0 hats, 0 basketballs", "keep 1 book, 0 hats, 0 basketballs", DEALS[1]):
        with pytest.raises(IllegalActionError):
            GAME.apply_action(state, wrong)


def twins() -> tuple[str, str]:
    """Returns two deals that player 0 cannot tell apart."""
    first: dict[str, str] = {}
    for deal in DEALS:
        known = deal.rsplit(" ", 1)[0]
        if known in first:
            return first[known], deal
        first[known] = deal
    raise AssertionError("no two deals look alike to player 0")


def test_values_of_the_other_player_are_in_no_view_and_no_drawing() -> None:
    one, two = twins()
    offer = "keep 1 books, 0 hats, 0 basketballs"
    for actions in ([], [offer], [offer, AGREE]):
        states = [after(deal, *actions) for deal in (one, two)]
        assert len({json.dumps(GAME.observations(state)[0]) for state in states}) == 1
        assert len({GAME.render(state, 0) for state in states}) == 1
        assert len({json.dumps(GAME.observations(state)[1]) for state in states}) == 2
        assert len({GAME.render(state) for state in states}) == 2


def consistent(deal: str, player: int) -> set[str]:
    """Returns the deals that `player` cannot tell from `deal`, found by what they show."""
    shown = GAME.observations(after(deal))[player]
    return {other for other in DEALS if GAME.observations(after(other))[player] == shown}


@pytest.mark.parametrize("player", [0, 1])
def test_resampled_deals_are_uniform_over_all_that_the_player_cannot_tell_apart(player: int) -> None:
    rng = random.Random(5)
    deal = DEALS[(6, 4)[player]]
    possible = consistent(deal, player)
    assert len(possible) > 3
    offers = ["keep 1 books, 1 hats, 0 basketballs", "keep 0 books, 1 hats, 1 basketballs"][: 2 - player]
    state = after(deal, *offers)
    history = [(GAME.observations(state)[player], None)]
    draws = Counter(tuple(GAME.resample_history(history, player, rng)) for _ in range(8000))
    assert set(draws) == {(other, *offers) for other in possible}
    assert all(count / 8000 == pytest.approx(1 / len(possible), abs=0.025) for count in draws.values())


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.integers(0, 999), st.integers(0, 9), st.randoms(use_true_random=False))
def test_resampled_history_recreates_what_the_player_saw(number: int, length: int, rng: random.Random) -> None:
    state = after(DEALS[number])
    histories: list[list[tuple[Observation, str | None]]] = [[], []]
    for _ in range(length):
        player = GAME.current_player(state)
        action = rng.choice([name for name in GAME.legal_actions(state) if name != AGREE])
        histories[player].append((GAME.observations(state)[player], action))
        state = GAME.apply_action(state, action)
    player = GAME.current_player(state)
    own = [*histories[player], (GAME.observations(state)[player], None)]
    actions = GAME.resample_history(own, player, rng)
    replay, seen = START, []
    for action in actions:
        if GAME.current_player(replay) == player:
            seen.append((GAME.observations(replay)[player], action))
        replay = GAME.apply_action(replay, action)
    assert [*seen, (GAME.observations(replay)[player], None)] == own


def test_playout_pays_only_by_agreement_and_leaves_its_state() -> None:
    state = after(DEALS[3])
    before = state_to_json(GAME, state)
    results = [tuple(GAME.playout(state, random.Random(seed), 100)) for seed in range(200)]
    assert (0.0, 0.0) in results
    assert any(sum(result) > 0 for result in results)
    assert state_to_json(GAME, state) == before


def test_drawing_shows_pool_values_and_offers() -> None:
    state = after("1,2,3 8,1,0 4,0,2", "keep 1 books, 0 hats, 0 basketballs", AGREE)
    assert GAME.render(state).splitlines() == [
        "pool:             1 books, 2 hats, 3 basketballs",
        "player_0 values:  8, 1, 0",
        "player_1 values:  4, 0, 2",
        "player_0 keeps:   1 books, 0 hats, 0 basketballs",
        "player_1 agrees",
    ]
    assert "player_0 values:  ?, ?, ?" in GAME.render(state, 1)
    assert GAME.render(START) == "nothing is dealt yet"


def test_items_are_named_in_the_order_of_the_rules_text() -> None:
    assert ", ".join(f"`{item}`" for item in ITEMS) in RULES
