"""What a policy comes to at a seat of a twin, greedily, against random players."""

from typing import Any

import jax
import jax.numpy as jnp

from arena.training_on_twins.seats import Ended, SeatGames, is_stuck, marked
from search.learn import masked_categorical
from search.learn.api import Array, Network, Params


def judged(
    games: SeatGames, network: Network, params: Params, seat: Array, count: int, lanes: int, key: Array
) -> Ended:
    """Plays the likeliest actions, in equally many games at each place, and returns sums over the games, scalars.

    Args:
        games: of the twin, the others playing at random.
        network: the policy's.
        params: of it.
        seat: int32 [], the policy's.
        count: at least so many games.
        lanes: at most so many games at once.
        key: of all that others and chance do.
    """
    lanes = min(count, lanes)
    quota = -(-count // lanes)
    deal, begin, play = jax.random.split(key, 3)
    deals = games.deals(lanes, deal)
    seats = jnp.broadcast_to(seat, (lanes,))
    whole = jnp.zeros(lanes, jnp.int32)

    def lacking(carry: Any) -> Array:
        return ~is_stuck(carry[0], seats) & jnp.any(carry[3].games + carry[3].cut < quota)

    def step(carry: Any) -> Any:
        standing, memory, starts, found, key = carry
        key, going_on = jax.random.split(key)
        shown = games.show(standing, seats)
        memory, outputs = network.apply(params, memory, shown.observation[None], starts[None])
        action = masked_categorical.greedy(outputs.logits[0], shown.legal)
        standing, paid = games.step(standing, action, seats, deals, (), going_on)
        wanted = found.games + found.cut < quota
        found = jax.tree.map(lambda sum_, more: sum_ + jnp.where(wanted, more, 0), found, paid.ended)
        return standing, memory, paid.done, found, key

    nothing = Ended(whole, whole, whole, whole.astype(jnp.float32), whole)
    first = games.begin(seats, deals, (), begin)
    begun = first, network.initial_memory(lanes), jnp.ones(lanes, bool), nothing, play
    last, _, _, ended, _ = jax.lax.while_loop(lacking, step, begun)
    return marked(Ended(*map(jnp.sum, ended)), last, seats)
