"""Between the arrays of batched Yōkai and the JSON states of the reference game."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from games.api import Action, GameError
from games.batched.yokai.environment import YokaiEnv
from games.batched.yokai.state import NOBODY, OVER, PLACED, Sizes, State
from games.yokai.config import ACTIONS_PER_TURN
from games.yokai.observe import seen_this_turn
from games.yokai.rules import YokaiState

STATUS = ("face down", "face up", "placed")
"""Words of `State.status`."""


def from_json(env: YokaiEnv, states: Sequence[YokaiState]) -> State:
    """Returns reference states as the lanes of one batched state.

    Args:
        env: the configuration.
        states: B states, dealt in full.

    Raises:
        GameError: there is no state, or one is still being dealt or is of another configuration.
    """
    sizes = env.sizes
    if not states:
        raise GameError("a batched state has at least one lane: give at least one state.")
    if any(state["phase"] == "deal" for state in states):
        raise GameError("a batched game is dealt at once: apply all actions of chance before converting a state.")
    for state in states:
        if (len(state["colours"]), len(state["observed"])) != (sizes.cards, sizes.players):
            raise GameError(
                f"a state of {len(state['colours'])} cards and {len(state['observed'])} players is none of "
                f"{sizes.config.id}: give states of that game."
            )
    lanes = [_lane(sizes, state) for state in states]
    fields = {name: np.stack([lane[name] for lane in lanes], axis=-1) for name in lanes[0]}
    legal = np.zeros((sizes.cards, sizes.words, len(states)), np.uint32)
    return _with_legal(env)(
        State(**{name: jnp.asarray(field) for name, field in fields.items()}, legal=jnp.asarray(legal))
    )


@cache
def _with_legal(env: YokaiEnv) -> Callable[[State], State]:
    return jax.jit(env.with_legal)


def _lane(sizes: Sizes, state: YokaiState) -> dict[str, Any]:
    index = {colour: number for number, colour in enumerate(sizes.config.colours)}
    over = state["phase"] == "over"
    seen = [] if over else seen_this_turn(state["log"][ACTIONS_PER_TURN * state["turn"] :])
    cards = range(sizes.cards)
    integers = {
        "colours": [index[colour] for colour in state["colours"]],
        "hints": [sum(1 << index[colour] for colour in hint["colours"]) for hint in state["hints"]],
        "cells": [row * sizes.side + column for row, column in state["positions"]],
        "status": [STATUS.index(hint["status"]) for hint in state["hints"]],
        "hint_card": [NOBODY if hint["card"] is None else hint["card"] for hint in state["hints"]],
        "player": NOBODY if over else state["player"],
        "sub_step": OVER if over else state["sub_step"],
        "turn": state["turn"],
        "length": len(state["log"]),
    }
    flags = {
        "locked": state["locked"],
        "observed": [[card in own for card in cards] for own in state["observed"]],
        "seen": [card in seen for card in cards],
        "early": bool(state["log"]) and state["log"][-1] == "end",
    }
    return {name: np.array(value, np.int32) for name, value in integers.items()} | {
        name: np.array(value, bool) for name, value in flags.items()
    }


def to_json(sizes: Sizes, state: State, log: Sequence[Action]) -> YokaiState:
    """Returns one game, without lane axis, as a reference state.

    Args:
        sizes: of the configuration.
        state: the game.
        log: the players' actions so far, which the arrays do not hold.
    """
    arrays: State = jax.tree.map(np.asarray, state)
    words = sizes.config.colours
    over = int(arrays.sub_step) == OVER
    hints = [
        {
            "status": STATUS[status],
            "colours": [word for bit, word in enumerate(words) if mask >> bit & 1],
            "card": int(card) if status == PLACED else None,
        }
        for status, mask, card in zip(arrays.status, arrays.hints, arrays.hint_card, strict=True)
    ]
    return {
        "phase": "over" if over else "play",
        "player": None if over else int(arrays.player),
        "sub_step": None if over else int(arrays.sub_step),
        "turn": int(arrays.turn),
        "colours": [words[colour] for colour in arrays.colours],
        "positions": [[int(cell) // sizes.side, int(cell) % sizes.side] for cell in arrays.cells],
        "locked": [bool(flag) for flag in arrays.locked],
        "hints": hints,
        "observed": [[int(card) for card in np.flatnonzero(own)] for own in arrays.observed],
        "log": list(log),
    }
