"""Exact beliefs about the colours of Yōkai's cards: the posterior over all assignments for one player.

There are 1,680 assignments of nine cards and 70 of eight; those of sixteen are too many to list.

A player knows the colours that it has observed itself. The others' placed hints say more if one models how they are
chosen: with probability p a pair of face-up hint and unlocked card is drawn uniformly from the truthful pairs, else
from the untruthful ones; where one of the two sets is empty, from the other. Own placements say nothing new.

Functions take one game, without lane axis; use `jax.vmap` for many.
"""

from functools import cache
from itertools import product
from typing import Final, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from games.api import GameError
from games.batched.api import Array
from games.batched.yokai.state import FACE_UP, PLACED, Sizes, State
from games.yokai.config import ACTIONS_PER_TURN, BOARDS, config
from games.yokai.rules import YokaiState, rules_of

UNKNOWN: Final = -1
LISTED: Final = (8, 9)
"""Numbers of cards whose assignments are listed."""
SMALLEST: Final = float(np.finfo(np.float32).tiny)


def assignments(sizes: Sizes) -> NDArray[np.int32]:
    """Returns all A colour assignments in lexicographic order, [A, Y], index of the colour by card id.

    A is 1,680 with nine cards and 70 with eight.

    Raises:
        GameError: the game has more assignments than can be listed.
    """
    if sizes.cards not in LISTED:
        raise GameError(f"exact beliefs list all assignments of 8 or 9 cards; {sizes.config.id} has 63,063,000.")
    return _assignments(sizes.cards)


@cache
def _assignments(cards: int) -> NDArray[np.int32]:
    colours = BOARDS[cards].colours
    every = np.array(list(product(range(colours), repeat=cards)), np.int32)
    of_each = [(every == colour).sum(axis=1) == cards // colours for colour in range(colours)]
    chosen: NDArray[np.int32] = every[np.logical_and.reduce(of_each)]
    chosen.setflags(write=False)
    return chosen


class Evidence(NamedTuple):
    """What one player knows, first-hand and from the others' placements.

    Attributes:
        known: int32 [Y], colour of each card that it has observed, else `UNKNOWN`.
        card: int32 [H], the card that another player placed the hint on; `UNKNOWN` if none did.
        faces: int32 [H, H]: when hint h was placed, the colour mask of each face-up hint, 0 for the others.
        unlocked: bool [H, Y]: when hint h was placed, which cards were unlocked.
    """

    known: Array
    card: Array
    faces: Array
    unlocked: Array


def no_evidence(sizes: Sizes) -> Evidence:
    """Returns what a player knows before the game.

    Raises:
        GameError: the game has more assignments than can be listed.
    """
    cards = assignments(sizes).shape[1]
    return Evidence(
        known=jnp.full(cards, UNKNOWN, jnp.int32),
        card=jnp.full(sizes.hints, UNKNOWN, jnp.int32),
        faces=jnp.zeros((sizes.hints, sizes.hints), jnp.int32),
        unlocked=jnp.zeros((sizes.hints, cards), bool),
    )


def add(evidence: Evidence, before: State, after: State, player: Array | int) -> Evidence:
    """Returns the evidence after one more step.

    Args:
        evidence: what was known before it.
        before: the game before the step.
        after: the game after the step; not the next game of an automatic reset.
        player: whose evidence it is.
    """
    placed = (after.status == PLACED) & (before.status != PLACED) & (before.player != player)
    faces = jnp.where(before.status == FACE_UP, before.hints, 0)
    return Evidence(
        known=jnp.where(after.observed[player], after.colours, UNKNOWN),
        card=jnp.where(placed, after.hint_card, evidence.card),
        faces=jnp.where(placed[:, None], faces, evidence.faces),
        unlocked=jnp.where(placed[:, None], ~before.locked, evidence.unlocked),
    )


def from_state(state: YokaiState, player: int) -> Evidence:
    """Returns the evidence that `player` has in a state of the reference game, from its public log.

    Raises:
        GameError: the game is still being dealt, or has more assignments than can be listed.
    """
    if state["phase"] == "deal":
        raise GameError("beliefs begin when all cards and hints are dealt: apply all actions of chance first.")
    settings = config(len(state["colours"]), len(state["observed"]))
    sizes = Sizes(settings)
    empty = no_evidence(sizes)
    index = {colour: number for number, colour in enumerate(settings.colours)}
    masks = [sum(1 << index[word] for word in hint["colours"]) for hint in state["hints"]]
    known, card, faces, unlocked = (np.array(field) for field in empty)
    for observed in state["observed"][player]:
        known[observed] = index[state["colours"][observed]]
    free = np.ones(sizes.cards, bool)
    shown = np.zeros(sizes.hints, np.int32)
    for number, action in enumerate(state["log"]):
        kind, hint, _ = rules_of(settings).parsed[action]
        if kind == "reveal":
            shown[hint] = masks[hint]
        elif kind == "place":
            under = state["hints"][hint]["card"]
            if number // ACTIONS_PER_TURN % settings.players != player:
                card[hint], faces[hint], unlocked[hint] = under, shown, free
            shown[hint] = 0
            free[under] = False
    return Evidence(*(jnp.asarray(field) for field in (known, card, faces, unlocked)))


def posterior(evidence: Evidence, truthful: Array | float | None = None) -> Array:
    """Returns the probability of every assignment, in the order of `assignments`, float32 [A].

    Args:
        evidence: what the player knows.
        truthful: p, the probability that the others place truthfully; None: placements say nothing. With 0 or 1 a
            placement can be impossible under every assignment; then all are 0.

    Raises:
        GameError: p is a number outside [0, 1].
    """
    if isinstance(truthful, int | float) and not 0 <= truthful <= 1:
        raise GameError(f"the probability of a truthful placement is {truthful}: give a number from 0 to 1.")
    every = jnp.asarray(_assignments(evidence.known.shape[0]))
    weights = ((evidence.known == UNKNOWN) | (evidence.known == every)).all(axis=1).astype(jnp.float32)
    if truthful is not None:
        for hint in range(evidence.card.shape[0]):
            placement = evidence.card[hint], evidence.faces[hint], evidence.unlocked[hint]
            weights = weights * _likelihood(hint, *placement, truthful)
    total = weights.sum()
    return jnp.where(total > 0, weights / jnp.maximum(total, SMALLEST), 0)


def _likelihood(hint: int, card: Array, faces: Array, unlocked: Array, truthful: Array | float) -> Array:
    """Returns, for every assignment, how likely one placement was, times the number of pairs, float32 [A]."""
    every = jnp.asarray(_assignments(unlocked.shape[0]))
    colours = np.arange(BOARDS[unlocked.shape[0]].colours)
    of_colour = (every[:, :, None] == colours) & unlocked[:, None]
    shows = (faces[:, None] >> colours) & 1
    true = of_colour.sum(axis=1, dtype=jnp.int32) @ shows.sum(axis=0, dtype=jnp.int32)
    pairs = (faces > 0).sum(dtype=jnp.int32) * unlocked.sum(dtype=jnp.int32)
    false = pairs - true
    is_true = (faces[hint] >> every[:, jnp.maximum(card, 0)]) & 1 == 1
    own, other = jnp.where(is_true, true, false), jnp.where(is_true, false, true)
    chance = jnp.where(is_true, truthful, 1 - jnp.asarray(truthful, jnp.float32))
    likelihood = jnp.where(other == 0, 1.0, chance) * pairs / jnp.maximum(own, 1)
    return jnp.where(card == UNKNOWN, 1.0, likelihood)


def marginals(probabilities: Array) -> Array:
    """Returns the probability of each colour by card, float32 [Y, C], from a posterior [A]."""
    every = next(table for table in map(_assignments, LISTED) if len(table) == probabilities.shape[0])
    one_hot = (every[:, :, None] == np.arange(BOARDS[every.shape[1]].colours)).astype(np.float32)
    result: Array = jnp.tensordot(probabilities, one_hot, axes=1, precision=jax.lax.Precision.HIGHEST)
    return result
