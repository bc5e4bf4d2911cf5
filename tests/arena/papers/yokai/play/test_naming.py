"""Policies with themselves, every player with names of its own for colours and cells."""

import jax
import numpy as np
import pytest

from arena.checkpoints import on_game
from arena.papers.yokai.play import naming
from arena.papers.yokai.play.name_figures import (
    ALL_COLOURS,
    APART,
    NO_COLOUR,
    common_names,
    figures_of,
    name_figures,
    turned,
)
from arena.policy_play.cross_play import PolicyTable
from games.batched.keys import root_key
from games.yokai.symmetry import Element, Symmetries
from search.learn.play.evaluation import PolicyEvaluator

WORDS = ("blue", "green", "red")
PLAIN = (0, 1, 2)


def seen(colours=PLAIN, turns=0):
    return Element(tuple(colours), turns, False, ())


@pytest.mark.parametrize(
    ("colours", "told"),
    [
        ((0, 1, 2), ALL_COLOURS),
        ((0, 2, 1), "blue"),
        ((1, 0, 2), "red"),
        ((1, 2, 0), NO_COLOUR),
    ],
)
def test_names_are_common_where_they_mean_the_same_colour(colours, told):
    assert common_names([seen(), seen(colours)], WORDS) == told
    assert common_names([seen(colours), seen(colours)], WORDS) == ALL_COLOURS


def test_names_are_common_whatever_else_both_see_otherwise():
    # One player calls the first colour green, the second red and the third blue; the other one the first colour blue,
    # the second red and the third green. Only "red" means the same colour to both.
    assert common_names([seen((1, 2, 0)), seen((0, 2, 1))], WORDS) == "red"


def test_three_players_share_a_name_if_all_of_them_do():
    assert common_names([seen(), seen(), seen((0, 2, 1))], WORDS) == "blue"
    assert common_names([seen(), seen((0, 2, 1)), seen((1, 0, 2))], WORDS) == NO_COLOUR


@pytest.mark.parametrize(("turns", "told"), [((0, 0), 0), ((3, 0), 1), ((1, 3), 2), ((2, 3, 3), 1), ((0, 1, 2), 2)])
def test_turns_are_told_by_the_two_players_that_are_furthest_apart(turns, told):
    assert turned([seen(turns=number) for number in turns]) == APART[told]


def test_figures_are_means_over_the_games_of_a_class():
    games = [[seen(), seen()], [seen(), seen((0, 2, 1), 2)], [seen(), seen((0, 2, 1), 1)]]
    found = figures_of("one", games, [9.0, 1.0, 3.0], WORDS)
    assert found.all_games.mean == pytest.approx(13 / 3)
    assert {key: (value.mean, value.n) for key, value in found.by_colours.items()} == {
        ALL_COLOURS: (9.0, 1),
        "blue": (2.0, 2),
    }
    assert {key: value.mean for key, value in found.by_turns.items()} == {APART[0]: 9.0, APART[2]: 1.0, APART[1]: 3.0}
    other = figures_of("two", [[seen(), seen((1, 2, 0))], [seen(), seen((1, 0, 2))]], [0.0, 1.0], WORDS)
    both = name_figures([found, other], WORDS, 3)
    assert both.colours == (ALL_COLOURS, "blue", "red", NO_COLOUR)
    assert both.turns == APART


def test_every_game_counts_in_one_class_of_each_kind(save_policy):
    chosen = [on_game.load(save_policy(f"p{seed}", "yokai-8c-2p", seed=seed)) for seed in range(2)]
    found = naming.run(chosen, 40, seed=3)
    assert [policy.name for policy in found.policies] == ["p0", "p1"]
    for policy in found.policies:
        for classes in (policy.by_colours, policy.by_turns):
            assert sum(value.n for value in classes.values()) == 40
            together = sum(value.n * value.mean for value in classes.values())
            assert together / 40 == pytest.approx(policy.all_games.mean)
    assert naming.run(chosen[:1], 40, seed=3).policies[0] == found.policies[0]


@pytest.mark.slow
def test_where_nobody_sees_anything_otherwise_the_games_are_those_of_self_play(save_policy, monkeypatch):
    monkeypatch.setattr(naming, "Symmetries", lambda config: Symmetries(config, colours=False, turns=False))
    policy = on_game.load(save_policy(game="yokai-8c-2p", seed=1))
    found = naming.run([policy], 200, seed=5).policies[0]
    assert set(found.by_colours) == {ALL_COLOURS}
    assert set(found.by_turns) == {APART[0]}
    table = PolicyTable([policy])
    deals = jax.vmap(jax.random.split)(table.deals(200, 5))[:, 0]  # Other-Play draws symmetries from the other half
    draws = jax.random.split(root_key("names", 5, policy.name), 200)
    plain = PolicyEvaluator(table.env, table.steps).play([table.seats[policy.name]] * 2, deals, draws)
    won = np.asarray(plain.outcome.figures["score_if_won"])
    assert found.all_games.mean == pytest.approx(won.mean())
    assert won.any()
