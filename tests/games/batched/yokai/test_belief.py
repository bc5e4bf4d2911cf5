import random
from itertools import pairwise

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from games.api import GameError
from games.batched.api import stack
from games.batched.yokai.environment import make
from games.batched.yokai.state import Sizes
from games.yokai.config import config
from games.yokai.game import make as make_reference
from tests.oracles import exact_beliefs as belief

POSTERIOR = jax.jit(belief.posterior)
MARGINALS = jax.jit(belief.marginals)
WORDS = ("red", "green", "blue")
NINE, EIGHT = Sizes(config(9, 2)), Sizes(config(8, 2))


def game_states(seed, cards=9):
    """A random game that nobody ends."""
    game, rng = make_reference(cards, 2), random.Random(seed)
    state, states = game.initial_state(), []
    while game.current_player(state) != -4:
        states.append(state)
        state = game.apply_action(state, rng.choice([a for a in game.legal_actions(state) if a != "end"]))
    return [*states, state][cards + game.config.hints :]


def brute_force(states, player, truthful):
    """The posterior by the definition, from the reference's states, without the code under test."""
    last = states[-1]
    cards = len(last["colours"])
    weights = []
    for assignment in belief.assignments(Sizes(config(cards, 2))):
        colours = [WORDS[index] for index in assignment]
        weight = float(all(colours[card] == last["colours"][card] for card in last["observed"][player]))
        for before, after in pairwise(states):
            action = after["log"][-1]
            if not weight or not action.startswith("place") or before["player"] == player:
                continue
            hint = int(action.split()[1])
            card = after["hints"][hint]["card"]
            pairs = [
                (k, j, colours[j] in before["hints"][k]["colours"])
                for k in range(len(before["hints"]))
                for j in range(cards)
                if before["hints"][k]["status"] == "face up" and not before["locked"][j]
            ]
            true = [pair[:2] for pair in pairs if pair[2]]
            false = [pair[:2] for pair in pairs if not pair[2]]
            if (hint, card) in true:
                weight *= (truthful if false else 1) / len(true)
            else:
                weight *= (1 - truthful if true else 1) / len(false)
        weights.append(weight)
    return np.array(weights) / sum(weights)


@pytest.mark.parametrize(("sizes", "count"), [(NINE, 1680), (EIGHT, 70)])
def test_there_are_1680_assignments_of_nine_cards_and_70_of_eight_in_order(sizes, count):
    found = belief.assignments(sizes)
    assert found.shape == (count, sizes.cards)
    each = sizes.config.cards_per_colour
    assert (np.sort(found, axis=1) == np.repeat(np.arange(sizes.colours), each)).all()
    assert [tuple(row) for row in found] == sorted({tuple(row) for row in found})


@pytest.mark.parametrize("truthful", [0.5, 0.9])
@pytest.mark.parametrize(("cards", "seed"), [(9, 1), (9, 2), (8, 1), (8, 2)])
def test_posterior_equals_the_definition(cards, truthful, seed):
    states = game_states(seed, cards)
    for player in range(2):
        found = POSTERIOR(belief.from_state(states[-1], player), truthful)
        np.testing.assert_allclose(found, brute_force(states, player, truthful), rtol=5e-5, atol=1e-9)


@pytest.mark.parametrize("sizes", [NINE, EIGHT])
def test_uniform_beliefs_use_own_observations_alone(sizes):
    states = game_states(3, sizes.cards)
    evidence = belief.from_state(states[-1], 0)
    found = np.asarray(POSTERIOR(evidence))
    possible = (np.asarray(evidence.known) == belief.assignments(sizes)) | (np.asarray(evidence.known) < 0)
    expected = possible.all(axis=1) / possible.all(axis=1).sum()
    np.testing.assert_allclose(found, expected, rtol=5e-5)
    assert found.sum() == pytest.approx(1, rel=1e-4)


@pytest.mark.parametrize(("sizes", "colours"), [(NINE, 3), (EIGHT, 2)])
def test_a_player_without_knowledge_finds_every_colour_equally_likely(sizes, colours):
    found = MARGINALS(POSTERIOR(belief.no_evidence(sizes), 0.8))
    np.testing.assert_allclose(found, np.full((sizes.cards, colours), 1 / colours), rtol=5e-5)


@pytest.mark.parametrize("cards", [9, 8])
def test_evidence_gathered_step_by_step_is_that_of_the_log(cards):
    env, reference = make(f"yokai-{cards}c-2p"), make_reference(cards, 2)
    states = game_states(4, cards)
    index = {word: number for number, word in enumerate(WORDS)}
    colours = np.array([index[word] for word in states[0]["colours"]])
    hints = np.array([sum(1 << index[w] for w in hint["colours"]) for hint in states[0]["hints"]])
    state, evidence = jax.jit(lambda *dealt: (env.start(*dealt), belief.no_evidence(env.sizes)))(colours, hints)

    @jax.jit
    def follow(state, evidence, actions):
        following, _ = env.step(state, actions)
        return following, belief.add(evidence, state, following, 1)

    for before, after in pairwise(states):
        actions = np.zeros(2, np.int32)
        actions[before["player"]] = reference.action_index(after["log"][-1])
        state, evidence = follow(state, evidence, actions)
    jax.tree.map(np.testing.assert_array_equal, evidence, belief.from_state(states[-1], 1))


def test_batched_beliefs_are_those_of_each_game():
    each = [belief.from_state(game_states(seed)[-1], 0) for seed in (5, 6)]
    together = jax.jit(jax.vmap(lambda one: belief.posterior(one, 0.7), in_axes=-1))(stack(each))
    for found, evidence in zip(np.asarray(together), each, strict=True):
        np.testing.assert_allclose(found, POSTERIOR(evidence, 0.7), rtol=5e-5, atol=1e-9)


def test_a_truthful_hint_never_contradicts_the_true_colours_under_certainty():
    evidence = belief.no_evidence(NINE)._replace(
        card=jnp.array([4, -1, -1, -1]),
        faces=jnp.zeros((4, 4), jnp.int32).at[0, 0].set(1),
        unlocked=jnp.zeros((4, 9), bool).at[0].set(True),
    )
    found = MARGINALS(POSTERIOR(evidence, 1.0))
    np.testing.assert_allclose(found[4], [1, 0, 0], atol=1e-5)


def test_a_state_that_is_being_dealt_and_an_impossible_probability_are_refused():
    with pytest.raises(GameError, match="dealt"):
        belief.from_state(make_reference(9, 2).initial_state(), 0)
    with pytest.raises(GameError, match="from 0 to 1"):
        belief.posterior(belief.no_evidence(NINE), 1.5)


def test_sixteen_cards_are_too_many():
    with pytest.raises(GameError, match="63,063,000"):
        belief.no_evidence(Sizes(config(16, 2)))
