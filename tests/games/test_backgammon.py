"""Backgammon agrees with OpenSpiel, and with a program that was written from its rules text alone."""

import itertools
import json
import random
import re
from collections import Counter
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import pyspiel
import pytest

from games import registry
from games.api import CHANCE, TERMINAL, IllegalActionError, State, state_to_json
from games.backgammon.game import CHECKERS, MAX_TURNS, PLAYERS, Backgammon
from games.contract import game as contract

GAME = Backgammon()
RULES = registry.rules("backgammon")


def printed_initial_state() -> dict[str, Any]:
    """Reads the initial state from the rules text."""
    printed = re.search(r"starts with\s+`(\{.*?\})`", RULES, re.DOTALL)
    assert printed is not None
    facts: dict[str, Any] = json.loads(printed[1])
    return facts


def played(seed: int, game: Backgammon = GAME) -> Iterator[tuple[State, str]]:
    """Yields each state of a random game with the action taken, "" at the end."""
    rng = random.Random(f"backgammon {seed}")
    state = game.initial_state()
    while game.current_player(state) != TERMINAL:
        action = rng.choice(game.legal_actions(state))
        yield state, action
        state = game.apply_action(state, action)
    yield state, ""


def our_name(player: int, text: str) -> str:
    """Translates OpenSpiel's name of an action into ours."""
    if player == CHANCE:
        one, two = sorted(re.findall(r"\d", text.split("roll: ")[1]), reverse=True)
        starter = re.search(r"([XO]) starts", text)
        return f"{starter[1].lower()} starts with {one}-{two}" if starter else f"roll {one}-{two}"
    moves: list[tuple[int, int]] = []
    for part in text.split(" - ")[-1].replace("*", "").split(" "):
        places, _, twice = part.partition("(")
        if places != "Pass":
            numbers = [{"Bar": 25, "Off": 0}[stop] if stop.isalpha() else int(stop) for stop in places.split("/")]
            moves += list(itertools.pairwise(numbers)) * (2 if twice else 1)
    moves.sort(reverse=True)
    return " ".join(f"{'bar' if a == 25 else a}/{b or 'off'}" for a, b in moves) or "pass"


def native_names(native: Any) -> dict[str, int]:
    player = native.current_player()
    return {our_name(player, native.action_to_string(player, number)): number for number in native.legal_actions()}


@pytest.mark.parametrize("seed", range(6))
def test_random_game_agrees_with_open_spiel_step_by_step(seed: int) -> None:
    native = pyspiel.load_game("backgammon").new_initial_state()
    for state, action in played(seed):
        names = native_names(native)
        assert set(GAME.legal_actions(state)) == set(names)
        assert len(GAME.legal_actions(state)) == len(names)
        assert GAME.current_player(state) == native.current_player()
        assert GAME.rewards(state) == native.rewards()
        chances = Counter[str]()
        for number, chance in native.chance_outcomes() if native.is_chance_node() else []:
            chances[our_name(CHANCE, native.action_to_string(CHANCE, number))] += chance  # type: ignore[assignment]
        assert dict(GAME.chance_outcomes(state)) == pytest.approx(dict(chances))
        facts = state_to_json(GAME, state)
        assert facts["points"]["x"] == [native.board(0, 24 - point) for point in range(1, 25)]
        assert facts["points"]["o"] == [native.board(1, point - 1) for point in range(1, 25)]
        scores = re.search(r"Scores, X: (\d+), O: (\d+)", str(native))
        assert scores is not None
        assert list(facts["off"].values()) == [int(scores[1]), int(scores[2])]
        assert [str(native).split("Bar:")[1].split("\n")[0].count(name) for name in PLAYERS] == [*facts["bar"].values()]
        if action:
            native.apply_action(names[action])
    assert native.is_terminal()


class ByTheBook:
    """The game as `RULES.md` tells it, on the JSON of a state."""

    def __init__(self, max_turns: int) -> None:
        self.max_turns = max_turns

    def legal(self, state: dict[str, Any]) -> set[str]:
        if state["current_player"] == TERMINAL:
            return set()
        if state["current_player"] == CHANCE:
            pairs = [(a, b) for a in range(1, 7) for b in range(1, a + 1)]
            if state["turn_of"] is None:
                return {f"{name} starts with {a}-{b}" for a, b in pairs if a != b for name in PLAYERS}
            return {f"roll {a}-{b}" for a, b in pairs}
        plays = [moves for dice in (state["dice"], state["dice"][::-1]) for moves in self._plays(state, dice)]
        most = max(len(moves) for moves in plays)
        plays = [moves for moves in plays if len(moves) == most]
        if most == 1:
            largest = max(die for ((_, _, die),) in plays)
            plays = [moves for moves in plays if moves[0][2] == largest]
        return {self.name(moves) for moves in plays}

    @staticmethod
    def name(moves: list[tuple[int, int, int]]) -> str:
        ordered = sorted(((start, end) for start, end, _ in moves), reverse=True)
        return " ".join(f"{'bar' if start == 25 else start}/{end or 'off'}" for start, end in ordered) or "pass"

    def _plays(self, state: dict[str, Any], dice: list[int]) -> Iterator[list[tuple[int, int, int]]]:
        """Yields what can be played with the dice in this order, as far as it can; (start, end, die) each."""
        movable = False
        for start in range(25, 0, -1):
            end = max(start - dice[0], 0)
            if not self._may(state, start, dice[0]):
                continue
            movable = True
            after = deepcopy(state)
            self._move(after, start, end)
            for rest in self._plays(after, dice[1:]) if len(dice) > 1 else [[]]:
                yield [(start, end, dice[0]), *rest]
        if not movable:
            # A number that cannot be played now, nor after the other one, is left out.
            yield []

    @staticmethod
    def _may(state: dict[str, Any], start: int, die: int) -> bool:
        me = state["turn_of"]
        mine, other = state["points"][me], state["points"]["o" if me == "x" else "x"]
        if state["bar"][me] and start != 25:
            return False
        if not (state["bar"][me] if start == 25 else mine[start - 1]):
            return False
        if start > die:
            return bool(other[25 - (start - die) - 1] < 2)
        return not sum(mine[6:]) and (start == die or not sum(mine[start:]))

    @staticmethod
    def _move(state: dict[str, Any], start: int, end: int) -> None:
        me = state["turn_of"]
        you = "o" if me == "x" else "x"
        if start == 25:
            state["bar"][me] -= 1
        else:
            state["points"][me][start - 1] -= 1
        if end == 0:
            state["off"][me] += 1
            return
        state["points"][me][end - 1] += 1
        if state["points"][you][24 - end] == 1:
            state["points"][you][24 - end] = 0
            state["bar"][you] += 1

    def after(self, state: dict[str, Any], action: str) -> dict[str, Any]:
        state = deepcopy(state)
        if state["current_player"] == CHANCE:
            state["dice"] = [int(number) for number in action.split(" ")[-1].split("-")]
            state["turn_of"] = state["turn_of"] or action[0]
            state["current_player"] = PLAYERS.index(state["turn_of"])
            return state
        moves = [] if action == "pass" else [move.split("/") for move in action.split(" ")]
        for start, end in moves:
            self._move(state, 25 if start == "bar" else int(start), 0 if end == "off" else int(end))
        state["turns_taken"] += not state["second_half"]
        one, two = state["dice"]
        again = one == two and len(moves) == 2 and not state["second_half"]
        if CHECKERS in state["off"].values() or state["turns_taken"] > self.max_turns:
            return {**state, "dice": [], "turn_of": None, "second_half": False, "current_player": TERMINAL}
        if again:
            return {**state, "second_half": True}
        you = "o" if state["turn_of"] == "x" else "x"
        return {**state, "dice": [], "turn_of": you, "second_half": False, "current_player": CHANCE}

    @staticmethod
    def rewards(state: dict[str, Any]) -> list[float]:
        if CHECKERS not in state["off"].values():
            return [0.0, 0.0]
        return [1.0, -1.0] if state["off"]["x"] == CHECKERS else [-1.0, 1.0]


@pytest.mark.parametrize("seed", range(6))
def test_random_game_goes_as_the_rules_text_says(seed: int) -> None:
    book = ByTheBook(MAX_TURNS)
    facts = printed_initial_state()
    for state, action in played(100 + seed):
        assert state_to_json(GAME, state) == facts
        assert set(GAME.legal_actions(state)) == book.legal(facts)
        assert GAME.rewards(state) == book.rewards(facts)
        assert GAME.current_player(state) == facts["current_player"]
        if action:
            facts = book.after(facts, action)


@pytest.mark.parametrize("max_turns", [1, 2, 7, 20])
def test_turn_after_the_limit_is_the_last_one_and_only_half_of_it_if_it_is_a_double(max_turns: int) -> None:
    game, book = Backgammon(max_turns), ByTheBook(max_turns)
    halves = 0
    for seed in range(60):
        facts = printed_initial_state()
        for state, action in played(seed, game):
            assert state_to_json(game, state) == facts
            if action:
                halves += facts["turns_taken"] == max_turns and len(set(facts["dice"])) == 1
                facts = book.after(facts, action)
        assert facts["turns_taken"] == max_turns + 1
        assert game.rewards(state) == [0.0, 0.0]
        assert game.render(state).endswith("a draw: the turn limit is reached")
    assert halves > 0


def reached(**changes: Any) -> Iterator[tuple[State, dict[str, Any]]]:
    """Yields states of random games whose facts hold `changes`."""
    for seed in range(30):
        for state, _ in played(seed):
            facts = state_to_json(GAME, state)
            if all(facts[name] == value for name, value in changes.items()):
                yield state, facts


@pytest.mark.parametrize("games", [1, pytest.param(3, marks=pytest.mark.slow)])
def test_contract_holds(games: int) -> None:
    contract.assert_game(GAME, games=games)


def test_limit_is_open_spiels_own_and_the_one_in_the_rules_text() -> None:
    assert pyspiel.load_game("backgammon").get_parameters()["max_player_turns"] == MAX_TURNS
    numbers = re.search(r"when (\d+)\s+turns have been taken and nobody has won: after (\d+) turns one more", RULES)
    assert numbers is not None
    assert (int(numbers[1]), int(numbers[2])) == (MAX_TURNS + 1, MAX_TURNS)


def test_no_gammon_is_counted() -> None:
    parameters = GAME.native.get_parameters()
    assert (parameters["scoring_type"], parameters["hyper_backgammon"]) == ("winloss_scoring", False)
    assert (GAME.info.utility, GAME.info.min_utility, GAME.info.max_utility) == ("win_loss_draw", -1.0, 1.0)


def test_opening_roll_is_never_a_double_and_starts_with_either_player() -> None:
    start = GAME.initial_state()
    outcomes = GAME.chance_outcomes(start)
    assert len(outcomes) == 30
    assert {chance for _, chance in outcomes} == {1 / 30}
    assert {action for action, _ in outcomes} == ByTheBook(MAX_TURNS).legal(state_to_json(GAME, start))
    for action, player in (("x starts with 6-1", 0), ("o starts with 6-1", 1)):
        state = GAME.apply_action(start, action)
        assert GAME.current_player(state) == player
        assert state_to_json(GAME, state)["dice"] == [6, 1]


def test_later_rolls_have_the_probabilities_of_two_dice() -> None:
    state, _ = next(reached(current_player=CHANCE, turn_of="x"))
    outcomes = dict(GAME.chance_outcomes(state))
    doubles = {f"roll {number}-{number}" for number in range(1, 7)}
    assert len(outcomes) == 21
    assert all(outcomes[name] == pytest.approx(1 / 36, abs=1e-15) for name in doubles)
    assert all(chance == pytest.approx(1 / 18, abs=1e-15) for name, chance in outcomes.items() if name not in doubles)


def test_opening_moves_are_written_from_the_movers_own_side() -> None:
    for name in PLAYERS:
        state = GAME.apply_action(GAME.initial_state(), f"{name} starts with 3-1")
        assert "8/5 6/5" in GAME.legal_actions(state)
        assert len(set(GAME.legal_actions(state))) == len(GAME.legal_actions(state))
        facts = state_to_json(GAME, GAME.apply_action(state, "8/5 6/5"))
        assert facts["points"][name][:8] == [0, 0, 0, 0, 2, 4, 0, 2]
        assert (facts["turns_taken"], facts["current_player"]) == (1, CHANCE)


def test_double_is_played_in_two_halves() -> None:
    state, facts = next(reached(dice=[1, 1], second_half=True))
    assert facts["turn_of"] == PLAYERS[GAME.current_player(state)]
    after = state_to_json(GAME, GAME.apply_action(state, GAME.legal_actions(state)[0]))
    assert (after["current_player"], after["dice"], after["turns_taken"]) == (CHANCE, [], facts["turns_taken"])
    assert after["turn_of"] != facts["turn_of"]


def test_action_that_is_not_legal_is_refused() -> None:
    state = GAME.apply_action(GAME.initial_state(), "x starts with 3-1")
    for wrong in ("8/7 6/5", "6/5 8/5", "8/5", "pass", "roll 3-1", "8/5* 6/5"):
        with pytest.raises(IllegalActionError):
            GAME.apply_action(state, wrong)


def test_both_players_see_the_whole_state() -> None:
    for state, _ in played(3):
        assert GAME.observations(state) == [state_to_json(GAME, state)] * 2


class Watched(Backgammon):
    """Keeps where its last playout ended."""

    def _paid_between(self, start: State, end: State) -> list[float]:
        self.end = state_to_json(self, end)
        return super()._paid_between(start, end)


def test_playout_draws_each_action_alike_in_however_many_orders_open_spiel_lists_it() -> None:
    game = Watched()
    state = game.apply_action(game.initial_state(), "x starts with 2-1")
    legal = game.legal_actions(state)
    assert len(state.legal_actions()) > len(legal)
    ends, rng = Counter[str](), random.Random(2)
    for _ in range(6000):
        game.playout(state, rng, 1)
        ends[json.dumps(game.end)] += 1
    # Some actions differ only in where one checker rests on its way, and lead to one state.
    plays = Counter(json.dumps(state_to_json(game, game.apply_action(state, action))) for action in legal)
    assert {end: count / 6000 for end, count in ends.items()} == pytest.approx(
        {end: count / len(legal) for end, count in plays.items()}, abs=0.02
    )


def test_playout_reaches_an_end_and_leaves_its_state() -> None:
    state = GAME.apply_action(GAME.initial_state(), "o starts with 5-4")
    before = state_to_json(GAME, state)
    results = [tuple(GAME.playout(state, random.Random(seed), 10_000)) for seed in range(20)]
    assert set(results) == {(1.0, -1.0), (-1.0, 1.0)}
    assert state_to_json(GAME, state) == before
    assert GAME.playout(state, random.Random(0), 3) == [0.0, 0.0]


def test_drawing_shows_both_sides_numbers_and_who_moves() -> None:
    state = GAME.apply_action(GAME.initial_state(), "x starts with 6-1")
    state = GAME.apply_action(state, "13/7 8/7")
    assert GAME.render(state).splitlines() == [
        "x  12 11 10  9  8  7 |  6  5  4  3  2  1",
        "   5o  .  .  . 2x 2x | 5x  .  .  .  . 2o",
        "   4x  .  .  . 3o  . | 5o  .  .  .  . 2x",
        "o  12 11 10  9  8  7 |  6  5  4  3  2  1",
        "bar: x 0, o 0; off: x 0, o 0; turns taken: 1",
        "o rolls",
    ]
    assert GAME.render(state, 1) == GAME.render(state)
    end = [state for state, _ in played(0)][-1]
    winner = PLAYERS[GAME.rewards(end).index(1.0)]
    assert GAME.render(end).endswith(f"{winner} has won")


def test_rules_text_lists_each_field_of_the_state_and_prints_the_first_one() -> None:
    facts = state_to_json(GAME, GAME.initial_state())
    section = RULES.split("## State\n")[1].split("\n## ")[0]
    bullets = [line for line in section.splitlines() if line.startswith("* ")]
    assert {name for line in bullets for name in re.findall(r"`(\w+)`", line.split(":")[0])} == set(facts)
    assert printed_initial_state() == facts
