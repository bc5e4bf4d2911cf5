"""The rule books tell the games to people: short, without the names of the implementation, and with its numbers."""

import random
import re
from collections.abc import Iterator
from functools import cache
from importlib import resources

import pytest

from games import registry
from games.api import Json, state_to_json
from games.army5x5a.game import MAX_LENGTH as ARMY_TURNS
from games.backgammon.game import MAX_TURNS as BACKGAMMON_TURNS
from games.gin_rummy.game import GIN_BONUS, KNOCK_CARD, MAX_UPCARD_DRAWS
from games.posg.registry import entry_of
from games.posg.registry import ids as simultaneous_ids
from games.quadranto.game import MAX_LENGTH as QUADRANTO_TURNS
from games.yokai.config import BOARDS, COLOURS, HINTS, config

MOST_WORDS = {
    "tic_tac_toe": 220,
    "connect_four": 250,
    "mnk": 275,
    "army5x5a": 265,
    "backgammon": 1000,
    "bargaining": 500,
    "leduc_poker": 650,
    "gin_rummy": 1275,
    "quadranto": 195,
    "hand_of_war": 395,
    "kuhn_poker": 200,
    "yokai": 600,
    "hanabi": 700,
    **dict.fromkeys((entry_of(game_id).package.removeprefix("games.") for game_id in simultaneous_ids()), 300),
    "posg.overcooked_v2": 600,
}
"""By folder."""
HOUSE_RULES = "## House rules"
MOST_WORDS_OF_HOUSE_RULES = 150
GAMES = 20
LONGEST = 100
PLAIN = {"agree", "as", "bet", "call", "down", "end", "fold", "knock", "left", "pass", "raise", "right", "stay", "up"}
PLAIN |= {"listen", "north", "paper", "rock", "scissors", "send", "south", "wait"}
"""Actions that are single words, without which no rule book could tell the game.

`As` is the ace of spades in gin rummy, and begins sentences.
"""
OF_PROGRAMS = re.compile(
    r"`|[{}\[\]]|_|\b[a-z]+[A-Z]|\b[A-Z][a-z]+[A-Z]"
    r"|\b(JSON|strings?|fields?|keys?|lists?|arrays?|index|indices|null|dict|posterior|infer|algorithm)\b"
)
"""Code and brackets, names joined by underscores or capitals, and words about data rather than about a game."""
NUMBERS = {"two": 2, "three": 3, "four": 4}


def ids_by_folder() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for game_id in registry.ids():
        found.setdefault(registry.describe(game_id).package.removeprefix("games."), []).append(game_id)
    return found


FOLDERS = ids_by_folder()


@cache
def book(folder: str) -> str:
    return resources.files(f"games.{folder}").joinpath("RULEBOOK.md").read_text(encoding="utf-8")


def flat(folder: str) -> str:
    return " ".join(book(folder).split())


def keys(value: Json) -> Iterator[str]:
    """Yields the keys of all objects in a value."""
    if isinstance(value, dict):
        yield from value
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value[:3]:
            yield from keys(inner)


@cache
def names(game_id: str) -> tuple[set[str], set[str]]:
    """Returns the keys of states and observations, and the actions, of random games.

    Games that go on for long are left after `LONGEST` actions. Keys are looked for in some states only, chosen at
    random, since most states have the same ones; all of the first game's are looked at.
    """
    game, found, actions = registry.make(game_id), set[str](), set[str]()
    rng = random.Random(0)
    for number in range(GAMES):
        state = game.initial_state()
        for _ in range(LONGEST):
            legal = game.legal_actions(state)
            actions.update(legal)
            if number == 0 or not legal or rng.random() < 0.02:
                found.update(keys(state_to_json(game, state)), keys(game.observations(state)))
            if not legal:
                break
            state = game.apply_action(state, rng.choice(legal))
    return found, actions


def holds(text: str, name: str) -> bool:
    """Returns whether a name stands in a text as words of their own, in capitals or not."""
    pattern = rf"(?<![^\W_]){re.escape(name.casefold())}(?![^\W_])"
    return name.casefold() in text.casefold() and re.search(pattern, text.casefold()) is not None


def test_every_game_with_a_specification_has_a_rule_book() -> None:
    with_rules = {folder for folder in FOLDERS if resources.files(f"games.{folder}").joinpath("RULES.md").is_file()}
    assert with_rules == set(FOLDERS) == set(MOST_WORDS)
    assert all(book(folder).startswith("# ") for folder in FOLDERS)


@pytest.mark.parametrize("folder", MOST_WORDS)
def test_rule_book_is_short(folder: str) -> None:
    assert len(book(folder).split()) <= MOST_WORDS[folder]


@pytest.mark.parametrize("folder", MOST_WORDS)
def test_house_rules_come_last_and_are_few(folder: str) -> None:
    before, rules = book(folder).split(HOUSE_RULES)
    assert "\n#" not in rules
    assert 0 < len(rules.split()) <= MOST_WORDS_OF_HOUSE_RULES - len(HOUSE_RULES.split())
    assert len(before.split()) > len(rules.split())


@pytest.mark.parametrize("folder", MOST_WORDS)
def test_rule_book_speaks_of_no_data(folder: str) -> None:
    assert [found[0] for found in OF_PROGRAMS.finditer(book(folder))] == []


@pytest.mark.parametrize("game_id", registry.ids())
def test_rule_book_holds_no_name_of_the_implementation(game_id: str) -> None:
    """Keys of a single English word, such as `board`, are what anybody calls the thing; joined ones are ours."""
    text = flat(registry.describe(game_id).package.removeprefix("games."))
    found, actions = names(game_id)
    assert found
    assert actions
    assert {key for key in found if not re.fullmatch("[a-z]+", key) and holds(text, key)} == set()
    assert {action for action in actions if action.casefold() not in PLAIN and holds(text, action)} == set()


def test_words_that_rule_books_may_share_with_actions_are_actions() -> None:
    every = {action.casefold() for game_id in registry.ids() for action in names(game_id)[1]}
    assert every >= PLAIN


def test_names_are_found_as_words_of_their_own() -> None:
    assert holds("then roll 5-2, and", "roll 5-2")
    assert holds("Draw upcard.", "draw upcard")
    assert not holds("the known cards of others", "Th")


@pytest.mark.parametrize(
    ("folder", "told"),
    [
        ("army5x5a", f"After {ARMY_TURNS} turns"),
        ("backgammon", f"after {BACKGAMMON_TURNS} turns in all, one more is played"),
        ("gin_rummy", f"knock** instead, if your deadwood is {KNOCK_CARD} points or less"),
        ("gin_rummy", f"a bonus of {GIN_BONUS} points on top"),
        ("gin_rummy", f"takes the upcard for the {MAX_UPCARD_DRAWS}th time"),
        ("quadranto", f"After {QUADRANTO_TURNS} turns in all"),
    ],
)
def test_rule_book_tells_the_numbers_of_the_code(folder: str, told: str) -> None:
    assert told in flat(folder)


def test_yokai_tells_every_configuration() -> None:
    rows = re.findall(r"^\| (\d+) \| (.+?) \| (\d+)×(\d+) \| (.+) \|$", book("yokai"), re.MULTILINE)
    told: dict[tuple[int, int], tuple[int, ...]] = {}
    for cards, colours, rows_of_grid, columns_of_grid, hints in rows:
        board = BOARDS[int(cards)]
        assert colours == ", ".join(COLOURS[: board.colours])
        assert int(rows_of_grid) == int(columns_of_grid) == board.grid == board.start + 2 * board.offset
        for players, counts in re.findall(r"(\w+)(?: players)?: (\d, \d, \d)", hints):
            told[int(cards), NUMBERS[players]] = tuple(map(int, counts.split(", ")))
    assert told == HINTS
    assert [cards for cards in BOARDS if config(cards, 2).is_ring] == [8]
