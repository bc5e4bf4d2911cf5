"""The games of two steps and their learners: exact payments, and what coverage alone does."""

import pytest

from arena.papers.overcooked.tables import figure3
from arena.papers.overcooked.tables.q_learning import (
    Pair,
    QSettings,
    gap,
    learned,
    matrix,
    population,
    together,
    untrained,
)
from arena.papers.overcooked.tables.two_steps import button_game, cat_dog

GAME = button_game(3)


def test_bulbs_tell_the_pet_whatever_the_button():
    assert [[GAME.sees(pet, button) for button in range(3)] for pet in (0, 1)] == [[0, 2, 4], [1, 3, 5]]
    assert (GAME.pays(1, 2, 1), GAME.pays(1, 2, 0)) == (10.0, -10.0)


def test_in_cat_dog_the_lamp_is_free_the_barrier_costs_and_leaving_pays_little():
    game = cat_dog()
    assert [[game.sees(pet, action) for action in range(4)] for pet in (0, 1)] == [[0, 1, 2, None], [0, 1, 3, None]]
    assert [game.pays(0, action, 0) for action in range(3)] == [10.0, 10.0, 5.0]
    assert [game.pays(0, action, 1) for action in range(3)] == [-10.0, -10.0, -15.0]
    assert (game.pays(0, 3, None), game.pays(0, 1, 2), game.pays(0, 2, 2)) == (1.0, 0.5, -4.5)


def test_values_are_exact_and_actions_that_are_worth_the_same_are_equally_likely():
    right = ((1.0, 0.0), (0.0, 1.0)) * 3
    first = ((1.0, 0.0, 0.0),) * 2
    assert together(GAME, first, right) == 10.0
    assert together(GAME, untrained(GAME).alice, right) == 10.0
    assert together(GAME, first, untrained(GAME).bob) == 0.0
    half = (*right[:1], (1.0, 0.0), *right[2:])  # wrong at the bulb of button 0 and the dog
    assert together(GAME, first, half) == 0.0
    assert together(GAME, untrained(GAME).alice, half) == pytest.approx(10 - 20 / 6)
    leaving = Pair("", ((0, 0, 0, 1.0),) * 2, untrained(cat_dog()).bob)
    assert together(cat_dog(), leaving.alice, leaving.bob) == 1.0


def test_pairs_that_learn_alone_fail_with_strangers_for_want_of_coverage_alone():
    settings = QSettings(games=400)
    game = button_game(10)
    pairs = population(game, range(4), settings)
    played = matrix(game, pairs)
    with_itself, apart = gap([row[:4] for row in played[:4]])
    assert with_itself == 10.0
    assert apart < 5.0
    assert [row[4] for row in played] == [10.0] * 5
    explored = population(game, range(4), QSettings(games=2_000, exploration=0.3))[:4]
    assert gap(matrix(game, explored)) == (10.0, 10.0)


def test_what_is_learned_follows_from_the_seed():
    settings = QSettings(games=50)
    assert learned(GAME, 1, settings) == learned(GAME, 1, settings)
    assert learned(GAME, 1, settings) != learned(GAME, 2, settings)
    assert learned(GAME, 1, settings, random_alice=True).alice == untrained(GAME).alice


def test_the_figure_shows_every_alice_with_every_bob():
    sheet = figure3.sheet(GAME, "Figure 3", QSettings(games=200))
    assert sheet.columns == ["Alice", *map(str, range(10)), "BR"]
    assert [row[0] for row in sheet.rows] == [*map(str, range(10)), "U"]
    assert all(row[-1] == "10.0" for row in sheet.rows)
    assert "200 games, rate 0.1, 0.2% of actions drawn. SP 10.0" in sheet.note
