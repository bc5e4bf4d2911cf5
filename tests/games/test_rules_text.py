"""The rules text of each game says what the code does, with the code's own names."""

import re
from collections.abc import Iterator
from typing import Any

import pytest

from games import registry
from games.api import CHANCE, TERMINAL, Game, State, state_to_json

SMALL = ["tic_tac_toe", "kuhn_poker", "leduc_poker"]
GAMES = [*SMALL, "connect_four", "army5x5a", "quadranto", "hand_of_war"]


def all_states(game: Game) -> Iterator[State]:
    """Yields every state once, by its JSON."""
    seen = set()
    stack = [game.initial_state()]
    while stack:
        state = stack.pop()
        key = repr(state_to_json(game, state))
        if key not in seen:
            seen.add(key)
            yield state
            stack += [game.apply_action(state, action) for action in game.legal_actions(state)]


def after(game: Game, *actions: str) -> State:
    state = game.initial_state()
    for action in actions:
        state = game.apply_action(state, action)
    return state


def quoted(text: str) -> set[str]:
    """Returns what stands in backquotes or double quotes."""
    return set(re.findall(r"`([^`]*)`", text)) | set(re.findall(r'"([^"]*)"', text))


@pytest.mark.parametrize("game_id", GAMES)
def test_every_field_is_named(game_id: str) -> None:
    game, rules = registry.make(game_id), registry.rules(game_id)
    state = game.initial_state()
    fields = {*state_to_json(game, state), *(name for shown in game.observations(state) for name in shown)}
    assert {field for field in fields if f"`{field}`" not in rules} == set()


@pytest.mark.parametrize("game_id", GAMES)
def test_every_field_has_its_own_line_in_the_list_of_state_fields(game_id: str) -> None:
    game, rules = registry.make(game_id), registry.rules(game_id)
    section = rules.split("## State\n")[1].split("\n## ")[0]
    bullets = [line for line in section.splitlines() if line.startswith("* ")]
    named = {name for line in bullets for name in re.findall(r"`(\w+)`", line.split(":")[0])}
    assert named == set(state_to_json(game, game.initial_state()))


@pytest.mark.parametrize("game_id", GAMES)
def test_initial_state_is_printed_or_described(game_id: str) -> None:
    rules = registry.rules(game_id)
    if game_id == "connect_four":
        assert "starts with an empty board" in rules
        return
    printed = re.search(r"starts with\s+`(\{.*?\})`", rules, re.DOTALL)
    assert printed is not None
    game = registry.make(game_id)
    names: dict[str, Any] = {"null": None}
    assert eval(printed[1], names) == state_to_json(game, game.initial_state())  # noqa: S307  our own text


@pytest.mark.parametrize("game_id", ["kuhn_poker", "leduc_poker"])
def test_every_action_of_the_poker_games_is_quoted(game_id: str) -> None:
    game, words = registry.make(game_id), quoted(registry.rules(game_id))
    for state in all_states(game):
        if game.current_player(state) >= 0:
            assert set(game.legal_actions(state)) <= words


def test_board_games_name_their_actions_by_letter_and_place() -> None:
    tic_tac_toe, connect_four = registry.make("tic_tac_toe"), registry.make("connect_four")
    assert {"x(0,1)", "o(2,2)"} <= quoted(registry.rules("tic_tac_toe"))
    assert "x(0,1)" in tic_tac_toe.legal_actions(tic_tac_toe.initial_state())
    assert "o(2,2)" in tic_tac_toe.legal_actions(after(tic_tac_toe, "x(0,0)"))
    assert {"x0", "x6", "o0", "o6"} <= quoted(registry.rules("connect_four"))
    assert connect_four.legal_actions(connect_four.initial_state()) == [f"x{column}" for column in range(7)]
    assert connect_four.legal_actions(after(connect_four, "x0")) == [f"o{column}" for column in range(7)]


@pytest.mark.parametrize("game_id", ["tic_tac_toe", "kuhn_poker"])
def test_every_reward_is_quoted(game_id: str) -> None:
    game, words = registry.make(game_id), quoted(registry.rules(game_id))
    assert {str(game.rewards(state)) for state in all_states(game)} <= words


def test_kuhn_table_lists_every_betting_sequence_and_its_result() -> None:
    game = registry.make("kuhn_poker")
    rows = re.findall(r"^\| (`.*?) \| (.*?) \|$", registry.rules("kuhn_poker"), re.MULTILINE)
    table = {tuple(re.findall(r"`(\w+)`", actions)): result for actions, result in rows}
    played = set()
    for state in all_states(game):
        if game.current_player(state) != TERMINAL:
            continue
        facts = state_to_json(game, state)
        betting = tuple(facts["betting"])
        played.add(betting)
        result = table[betting]
        chips = float(re.search(r"(\d) chip", result)[1])  # type: ignore[index]
        loser = re.search(r"player (\d) gives up", result)
        cards = facts["private_cards"]
        lost_by = int(loser[1]) if loser else (0 if cards[0] < cards[1] else 1)
        assert game.rewards(state) == ([-chips, chips] if lost_by == 0 else [chips, -chips])
    assert played == set(table)


def leduc_winner(private: list[int], public: int) -> int | None:
    """Returns who wins a showdown as the rules text says, None for a split pot."""
    ranks, shared = [card // 2 for card in private], public // 2
    if shared in ranks and ranks[0] != ranks[1]:
        return ranks.index(shared)
    return None if ranks[0] == ranks[1] else ranks.index(max(ranks))


def leduc_rewards(facts: dict[str, Any], contributions: list[int]) -> list[float]:
    moves = [facts["round_1_betting"], facts["round_2_betting"]]
    if "Fold" in (moves[0] + moves[1]):
        winner: int | None = len(moves[facts["round"] - 1]) % 2
    else:
        winner = leduc_winner(facts["private_cards"], facts["public_card"])
    if winner is None:
        return [0.0, 0.0]
    chips = float(contributions[1 - winner])
    return [chips, -chips] if winner == 0 else [-chips, chips]


def leduc_numbers() -> dict[str, int]:
    """Reads the numbers of the betting section from the rules text."""
    text = " ".join(registry.rules("leduc_poker").split())
    found = re.search(
        r"starts with (?P<money>\d+) chips and pays an ante of (?P<ante>\d+).*"
        r"fewer than (?P<raises>\d) raises.*"
        r"on top of that (?P<one>\d) chips in round 1, or (?P<two>\d) chips in round 2",
        text,
    )
    assert found is not None
    return {name: int(number) for name, number in found.groupdict().items()}


def replayed(facts: dict[str, Any], numbers: dict[str, int]) -> tuple[list[int], bool, int]:
    """Plays the betting by the text's own words: contributions, whether a fold is legal, raises of this round."""
    paid, raises = [numbers["ante"]] * 2, 0
    player = 0
    for number, moves in enumerate((facts["round_1_betting"], facts["round_2_betting"]), 1):
        if number > facts["round"]:
            break
        raises = 0
        player = 0
        for move in moves:
            if move != "Fold":
                paid[player] = max(paid)
            if move == "Raise":
                paid[player] += numbers["one" if number == 1 else "two"]
                raises += 1
            player = 1 - player
    return paid, paid[1 - player] > paid[player], raises


def test_leduc_plays_by_the_numbers_of_its_rules_text_in_every_state() -> None:
    game, numbers = registry.make("leduc_poker"), leduc_numbers()
    assert numbers == {"money": 100, "ante": 1, "raises": 2, "one": 2, "two": 4}
    count = 0
    for state in all_states(game):
        count += 1
        facts = state_to_json(game, state)
        paid, facing_raise, raises = replayed(facts, numbers)
        player = game.current_player(state)
        if player == TERMINAL:
            rewards = leduc_rewards(facts, paid)
            assert game.rewards(state) == rewards
            assert facts["money"] == [numbers["money"] + reward for reward in rewards]
            assert facts["pot"] == 0
            continue
        assert facts["money"] == [numbers["money"] - chips for chips in paid]
        assert facts["pot"] == sum(paid)
        assert game.rewards(state) == [0.0, 0.0]
        if player == CHANCE:
            left = 6 - sum(card is not None for card in [*facts["private_cards"], facts["public_card"]])
            assert game.chance_outcomes(state) == [
                (f"Chance outcome:{card}", 1 / left)
                for card in range(6)
                if card not in (*facts["private_cards"], facts["public_card"])
            ]
        else:
            assert game.legal_actions(state) == [
                *(["Fold"] if facing_raise else []),
                "Call",
                *(["Raise"] if raises < numbers["raises"] else []),
            ]
            assert player == len(facts[f"round_{facts['round']}_betting"]) % 2
    assert count == 9457


def test_leduc_extremes_are_what_the_rules_text_computes() -> None:
    text = registry.rules("leduc_poker")
    computed = re.search(r"at most (\d) \+ (\d) \* (\d) \+ (\d) \* (\d) = (\d+) chips", text)
    assert computed is not None
    ante, raises, one, raises_2, two, total = (int(number) for number in computed.groups())
    assert ante + raises * one + raises_2 * two == total == registry.make("leduc_poker").info.max_utility
