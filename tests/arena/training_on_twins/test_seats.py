"""Games with a learner at one seat: what it is shown and paid, and how games follow one another."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from arena.training_on_twins import judging
from arena.training_on_twins.seats import STUCK, SeatGames, is_stuck
from search.learn.api import Outputs

LANES = 256


class Says:
    """A policy that says what its parameter is, and remembers how often it was asked since its game began."""

    num_actions = 2

    def initial_memory(self, lanes):
        return jnp.zeros(lanes)

    def apply(self, params, memory, observation, starts, deciders=None):
        memory = jnp.where(starts[0], 0.0, memory) + 1
        logits = jnp.broadcast_to(jnp.where(params, jnp.array([0.0, 1e9]), jnp.array([1e9, 0.0])), (*starts.shape, 2))
        return memory, Outputs(logits, jnp.zeros(starts.shape), jnp.zeros((*starts.shape, 1)))


SAYS_YES = (Says(), 1, True, jnp.ones(1, bool))
# Of the first partner the second player says yes, of the second one the first.
PARTNERS = (Says(), 2, False, jnp.array([False, True, True, False]))


@pytest.fixture(scope="module")
def played(coin):
    """Returns games at their learners' first decisions, and those after one step in which all said the same."""

    @partial(jax.jit, static_argnames="how")
    def run(key, seat, said, params, max_actions, how):
        games = SeatGames(*coin, max_actions, *how)
        deal, begin, on = jax.random.split(key, 3)
        deals, seats = games.deals(LANES, deal), jnp.full(LANES, seat)
        first = games.begin(seats, deals, params, begin)
        return (games.show(first, seats), *games.step(first, jnp.full(LANES, said), seats, deals, params, on))

    def of(seat, said, others=(None, 1, True, ()), max_actions=2):
        *how, params = others
        return jax.device_get(run(jax.random.key(1), seat, said, params, max_actions, tuple(how)))

    return of


def test_the_second_player_decides_after_the_first_and_is_paid_at_the_end_while_the_next_game_begins(played):
    shown, standing, paid = played(seat=1, said=1)
    first, coins = shown.observation[:, 0], shown.observation[:, 2]
    assert paid.reward.tolist() == (-(first + 10 + 100 * coins)).tolist()
    assert paid.done.all()
    # Its last action is the last one that is allowed.
    assert not paid.cut.any()
    assert standing.player.tolist() == [1] * LANES
    assert standing.lengths.tolist() == [1] * LANES
    # Coins and players by chance are even, and drawn anew.
    assert 0.4 < coins.mean() < 0.6
    assert 0.4 < first.mean() < 0.6
    again = standing.games[1][:, 2]
    assert 0.4 < (again != coins).mean() < 0.6


def test_what_others_do_after_the_learner_pays_it_too(played):
    shown, standing, paid = played(seat=0, said=1, others=SAYS_YES)
    assert shown.observation[:, :2].tolist() == [[0, 0]] * LANES
    assert paid.reward.tolist() == (1 + 10 + 100 * shown.observation[:, 2]).tolist()
    assert paid.ended.wins.tolist() == [1] * LANES
    assert (paid.ended.games.sum(), paid.ended.losses.sum()) == (LANES, 0)
    assert paid.ended.total.tolist() == paid.reward.tolist()
    assert standing.totals.tolist() == [[0, 0]] * LANES


def test_a_policy_at_another_seat_remembers_its_own_decisions_of_one_game_alone(played):
    _, standing, _ = played(seat=0, said=0, others=SAYS_YES)
    # It decided once, in the game before; its next decision is the first of its game again.
    assert standing.memory.tolist() == [[0, 1]] * LANES
    assert standing.starts.all()


def test_a_draw_is_neither_won_nor_lost(played):
    _, _, paid = played(seat=0, said=0)
    drawn = paid.reward == 0
    assert drawn.any()
    assert (paid.ended.wins + paid.ended.losses)[drawn].tolist() == [0] * drawn.sum()
    assert paid.ended.wins[~drawn].all()


def test_a_game_that_is_too_long_is_cut_pays_nothing_and_counts_for_itself(played):
    _, standing, paid = played(seat=0, said=1, max_actions=1)
    assert paid.done.all()
    assert paid.cut.all()
    assert paid.ended.cut.tolist() == [1] * LANES
    assert (paid.ended.games.sum(), paid.reward.sum()) == (0, 0)
    assert standing.player.tolist() == [0] * LANES


def test_a_partner_is_drawn_for_each_game_and_has_a_policy_for_each_seat(played):
    shown, standing, paid = played(seat=0, said=0, others=PARTNERS)
    second = (paid.reward - 100 * shown.observation[:, 2]) / 10
    # The second player said yes where the first partner played, in about half of the games.
    assert set(second.tolist()) == {0.0, 1.0}
    assert 0.4 < second.mean() < 0.6
    assert 0.4 < (standing.partner != 1 - second).mean() < 0.6
    first = played(seat=1, said=0, others=PARTNERS)[0].observation[:, 0]
    assert 0.4 < first.mean() < 0.6


def test_games_whose_learner_never_moves_stand_still_and_say_so(coin):
    form, functions = coin
    looked = functions["look"]
    # Whoever would be the second player is the first one.
    alone = functions | {"look": lambda *state: (jnp.minimum(looked(*state)[0], 0), *looked(*state)[1:])}
    games = SeatGames(form, alone, 2, most_rounds=20)

    @jax.jit
    def run(seats, key):
        deals = games.deals(4, key)
        first = games.begin(seats, deals, (), key)
        after, paid = games.step(first, jnp.zeros(4, jnp.int32), seats, deals, (), key)
        ended = judging.judged(games, Says(), jnp.ones(()), seats[0], 4, 4, key)
        return is_stuck(first, seats), first, after, paid, ended

    stuck, first, after, paid, ended = run(jnp.ones(4, jnp.int32), jax.random.key(0))
    assert (bool(stuck), int(ended.games)) == (True, STUCK)
    jax.tree.map(np.testing.assert_array_equal, after, first)
    assert not paid.done.any()
    stuck, *_, ended = run(jnp.zeros(4, jnp.int32), jax.random.key(0))
    assert (bool(stuck), int(ended.games)) == (False, 4)
