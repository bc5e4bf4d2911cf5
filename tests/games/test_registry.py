"""Games are found by id, lazily, and wrong ids say what would be right."""

import subprocess
import sys

import pytest

from games import registry
from games.api import GameError, UnknownGameError
from games.posg.registry import ids as simultaneous_ids

YOKAI = [f"yokai-{cards}c-{players}p" for cards in (9, 16) for players in (2, 3, 4)]
REDUCED = "yokai-8c-2p"
LAYOUT = "overcooked-v2-cramped-room"
HANABI = [f"hanabi-{name}" for name in ("2p", "3p", "4p", "5p", "mini-2p", "small-2p", "tiny-2p")]


PAPER = "tic_tac_toe connect_four leduc_poker gin_rummy mnk army5x5a quadranto hand_of_war backgammon bargaining"


def test_ids_are_the_ten_games_of_the_paper_kuhn_poker_six_yokai_a_reduced_one_hanabi_and_simultaneous_games() -> None:
    turns = [*PAPER.split(), "kuhn_poker", *YOKAI, REDUCED, *HANABI]
    assert sorted(registry.ids()) == sorted([*turns, *simultaneous_ids()])


def test_the_reduced_yokai_is_noted_as_not_the_papers_and_a_layout_as_one_of_many() -> None:
    notes = {game_id: registry.describe(game_id).note for game_id in registry.ids()}
    told = {game_id: note for game_id, note in notes.items() if note}
    assert told.keys() == {REDUCED, LAYOUT}
    assert told[REDUCED] == "reduced setting, not in the paper"
    assert told[LAYOUT].startswith("one of 23 layouts, which all have options: overcooked-v2-LAYOUT[,OPTION=VALUE]")


def test_layouts_that_are_not_listed_are_known_and_one_id_is_all_that_mean_the_same() -> None:
    assert len(registry.unlisted()) == 22
    assert not set(registry.unlisted()) & set(registry.ids())
    game = registry.make("overcooked-v2-test-time-wide,delivery=signal,steps=5")
    assert game.info.id == "overcooked-v2-test-time-wide,steps=5"
    assert registry.absolute("overcooked-v2-two-rooms,sight=all") == "overcooked-v2-two-rooms"
    assert [registry.knows(name) for name in (game.info.id, "overcooked-v2-x", "tic_tac_toe", "no")] == [1, 0, 1, 0]
    assert "Recipes: onion, onion, onion; tomato, tomato, tomato." in registry.rule_book(game.info.id)
    assert "The game ends after 5 rounds." in registry.rule_book(game.info.id)
    assert "`steps` `5`" in registry.rules(game.info.id)


@pytest.mark.parametrize("game_id", registry.ids())
def test_made_game_carries_its_id(game_id: str) -> None:
    assert registry.make(game_id).info.id == game_id


@pytest.mark.parametrize(
    ("game_id", "utility", "bounds", "perfect", "chance", "length"),
    [
        ("tic_tac_toe", "win_loss_draw", (-1.0, 1.0), True, False, 9),
        ("connect_four", "win_loss_draw", (-1.0, 1.0), True, False, 42),
        ("kuhn_poker", "zero_sum", (-2.0, 2.0), False, True, 3),
        ("leduc_poker", "zero_sum", (-13.0, 13.0), False, True, 8),
        ("backgammon", "win_loss_draw", (-1.0, 1.0), True, True, 1500),
        ("bargaining", "general_sum", (0.0, 10.0), False, True, 10),
    ],
)
def test_info_of_the_small_games(
    game_id: str, utility: str, bounds: tuple[float, float], perfect: bool, chance: bool, length: int
) -> None:
    info = registry.make(game_id).info
    assert (info.num_players, info.utility, info.max_length) == (2, utility, length)
    assert (info.min_utility, info.max_utility) == bounds
    assert (info.perfect_information, info.has_chance, info.simultaneous) == (perfect, chance, False)


def test_unknown_id_lists_the_known_and_the_nearest() -> None:
    with pytest.raises(UnknownGameError, match=r"'yokai-9c-5p'. Did you mean yokai-9c-\dp\? Known: tic_tac_toe, "):
        registry.make("yokai-9c-5p")


def test_id_that_resembles_nothing_gets_no_hint() -> None:
    with pytest.raises(UnknownGameError) as raised:
        registry.describe("zzz")
    assert "Did you mean" not in str(raised.value)
    assert all(game_id in str(raised.value) for game_id in registry.ids())


def test_unknown_parameter_is_refused() -> None:
    with pytest.raises(GameError, match=r"leduc_poker cannot be made with \['memory'\]"):
        registry.make("leduc_poker", memory=True)


def test_parameter_that_the_id_fixes_is_refused() -> None:
    with pytest.raises(GameError, match="yokai-9c-2p fixes players"):
        registry.make("yokai-9c-2p", players=3)


def test_any_open_spiel_game_is_made_by_its_own_name() -> None:
    game = registry.make("open_spiel:mnk(m=3,n=3,k=3)")
    assert game.info.id == "open_spiel:mnk(m=3,n=3,k=3)"
    assert len(game.legal_actions(game.initial_state())) == 9


def test_open_spiel_name_that_does_not_exist_is_refused() -> None:
    with pytest.raises(GameError, match="OpenSpiel has no game 'nonesuch'"):
        registry.make("open_spiel:nonesuch")


def test_open_spiel_parameter_that_does_not_exist_is_refused() -> None:
    with pytest.raises(GameError, match="OpenSpiel refused"):
        registry.make("open_spiel:leduc_poker(colours=2)")


def test_open_spiel_game_with_chance_inside_its_states_is_refused() -> None:
    with pytest.raises(GameError, match="draws chance inside its states"):
        registry.make("open_spiel:mfg_crowd_modelling")


@pytest.mark.parametrize("game_id", registry.ids())
def test_rules_text_is_there(game_id: str) -> None:
    assert len(registry.rules(game_id)) > 1000


def test_game_without_rules_text_says_so() -> None:
    with pytest.raises(GameError, match="has no rules text"):
        registry.rules("open_spiel:mnk")


def test_importing_the_registry_loads_no_game() -> None:
    code = "import sys, games.registry; sys.exit('pyspiel' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
