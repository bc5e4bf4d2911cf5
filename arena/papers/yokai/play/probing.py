"""Which card colours trained policies hold in mind: linear probes in self-play and in cross-play.

As in the Yōkai Learning Environment paper (section 6.4, appendix E, figures 5, 11, 12): one probe for each cell of the
grid says the colour of the card that lies there; cells without a card are left out, in training and in the figures.
Probes are trained on four fifths of a policy's self-play games and tested on the deals of the last fifth, in self-play
and in cross-play with the other seeds of its method.
"""

from collections.abc import Sequence
from functools import cache
from typing import Final, NamedTuple

import jax.numpy as jnp
import numpy as np

from arena.checkpoints.on_game import LearnedPolicy
from arena.papers.yokai.play.probe_figures import ColourProbes, Counts, method_probes
from arena.policy_play.cross_play import OnSeating, PolicyTable, by_method, seatings
from arena.policy_play.played_lineups import Seating
from games.batched.api import Array
from games.batched.keys import root_key
from games.batched.yokai.environment import make
from games.batched.yokai.state import Sizes, State
from search.learn.beliefs import probes
from search.learn.beliefs.probes import NOTHING, ProbeError, Probes
from search.learn.play.evaluation import Moment, Played, PolicyEvaluator, Watch

HELD_OUT: Final = 5
"""One deal of so many."""


class Seen(NamedTuple):
    """What is kept of a step.

    Attributes:
        features: by seat, float32 [G, H].
        colour: int8 [G, C], of the card at each cell; `NOTHING` where none lies, and once the game is over.
        observed: bool [G, P, C], the player has observed the card at the cell.
        guessed: float32 [G, P], share of the cards it has not observed that guessing by counts names rightly.
    """

    features: tuple[Array, ...]
    colour: Array
    observed: Array
    guessed: Array


@cache
def colours_seen(sizes: Sizes) -> Watch:
    """Returns what keeps colours by cell and who has observed them."""

    def watch(moment: Moment) -> Seen:
        state: State = moment.games
        cells = jnp.arange(sizes.area)[:, None]
        colour = jnp.full((sizes.area, *state.player.shape), NOTHING, jnp.int32)
        observed = jnp.zeros((sizes.players, *colour.shape), bool)
        for card in range(sizes.cards):
            here = (state.cells[card] == cells) & moment.alive
            colour = jnp.where(here, state.colours[card], colour)
            observed = jnp.where(here, state.observed[:, card, None], observed)
        kinds = jnp.arange(sizes.colours)[:, None, None, None]
        hidden = ((state.colours == kinds) & ~state.observed).sum(axis=2)
        guessed = hidden.max(axis=0) / jnp.maximum(hidden.sum(axis=0), 1)
        return Seen(moment.features, colour.T.astype(jnp.int8), jnp.moveaxis(observed, -1, 0), guessed.T)

    return watch


def run(
    chosen: Sequence[LearnedPolicy],
    games: int,
    seed: int = 0,
    greedy: bool = False,
    on_seating: OnSeating | None = None,
) -> ColourProbes:
    """Trains and tests the probes of every policy.

    Args:
        chosen: of one game, with distinct names, at least one.
        games: of each policy with itself, 5 or more.
        seed: of the deals, of what policies draw, and of the order in which probes learn.
        greedy: take each policy's likeliest action.
        on_seating: told after each seating that was played.

    Raises:
        ProbeError: there are too few games to hold some out.
    """
    check(games)
    table, methods = PolicyTable(chosen), by_method(chosen)
    sizes = make(chosen[0].game).sizes
    evaluator = PolicyEvaluator(table.env, table.steps, greedy, colours_seen(sizes))
    deals = table.deals(games, seed)
    kept = games - games // HELD_OUT
    planned = [
        seating for method, names in methods.items() for seating in seatings({method: names}, sizes.players, seed)
    ]
    planned.sort(key=lambda seating: len(set(seating)) > 1)
    trained: dict[str, Probes] = {}
    alone: dict[str, Counts] = {}
    mixed: dict[str, Counts] = {}
    for number, seating in enumerate(planned, start=1):
        first = seating[0]
        if len(set(seating)) == 1:
            played = table.play(evaluator, seating, deals, seed)
            trained[first] = _trained(played, kept, sizes, root_key("probes", seed, first))
            alone[first] = _counts(played, seating, first, trained[first], kept)
        else:
            played = table.play(evaluator, seating, deals[kept:], seed)
            for name in set(seating):
                found = _counts(played, seating, name, trained[name], 0)
                mixed[name] = mixed[name] + found if name in mixed else found
        if on_seating is not None:
            on_seating(number, len(planned))
    return ColourProbes(
        methods=tuple(
            method_probes(method, [alone[name] for name in names], [mixed[name] for name in names if name in mixed])
            for method, names in methods.items()
        ),
        chance=1 / sizes.colours,
        trained_on=kept,
        held_out=games - kept,
    )


def check(games: int) -> None:
    """Refuses too few games.

    Raises:
        ProbeError: there are too few to hold some out.
    """
    if games < HELD_OUT:
        raise ProbeError(f"{games} games leave none to test on: give {HELD_OUT} or more.")


def _trained(played: Played, kept: int, sizes: Sizes, key: Array) -> Probes:
    """Trains on the steps of the first `kept` games, of every seat, before the games were over."""
    seen: Seen = played.kept
    colour = seen.colour[:, :kept].reshape(-1, sizes.area)
    features = [seat[:, :kept].reshape(-1, seat.shape[-1]) for seat in seen.features]
    return probes.train(jnp.concatenate(features), jnp.concatenate([colour] * len(features)), sizes.colours, key)


def _counts(played: Played, seating: Seating, name: str, trained: Probes, first: int) -> Counts:
    """Returns the counts of all seats of one policy in the games from `first` on."""
    seen: Seen = played.kept
    colour = seen.colour[:, first:]
    steps = len(colour)
    total = Counts(*(np.zeros((steps, 2)) for _ in range(3)))
    there = np.asarray(colour) != NOTHING
    for seat in (seat for seat, sitting in enumerate(seating) if sitting == name):
        named = np.asarray(probes.right(trained, seen.features[seat][:, first:], colour))
        observed = np.asarray(seen.observed[:, first:, seat])
        guessed = np.asarray(seen.guessed[:, first:, seat], np.float64)
        known, unknown = there & observed, there & ~observed
        total += Counts(
            cards=np.stack([known.sum(axis=(1, 2)), unknown.sum(axis=(1, 2))], axis=1).astype(np.float64),
            right=np.stack([(named & part).sum(axis=(1, 2)) for part in (known, unknown)], axis=1).astype(np.float64),
            oracle=np.stack([known.sum(axis=(1, 2)), (unknown.sum(axis=2) * guessed).sum(axis=1)], axis=1),
        )
    return total
