import jax.numpy as jnp
import numpy as np

ACTIONS = ["Pass", "Bet"]


def list_actions():
    return ACTIONS


def list_chance_outcomes():
    return ["Deal:0", "Deal:1", "Deal:2"]


def encode(state):
    betting = [ACTIONS.index(action) for action in state["betting"]]
    return {
        "cards": [-1 if card is None else card for card in state["private_cards"]],
        "betting": betting + [-1] * (3 - len(betting)),
        "paid": state["contributions"],
        "turn": state["current_player"],
    }


def decode(arrays):
    return {
        "private_cards": [None if card < 0 else card for card in arrays["cards"]],
        "betting": [ACTIONS[action] for action in arrays["betting"] if action >= 0],
        "contributions": arrays["paid"],
        "current_player": arrays["turn"],
    }


def init():
    return {
        "cards": jnp.full(2, -1, jnp.int8),
        "betting": jnp.full(3, -1, jnp.int8),
        "paid": jnp.ones(2, jnp.int8),
        "turn": jnp.full((), -1, jnp.int8),
    }


def step(arrays, index):
    cards, betting, paid, turn = (arrays[name] for name in ("cards", "betting", "paid", "turn"))
    index = index.astype(jnp.int8)
    dealing = turn == -1
    first = cards[0] < 0
    dealt = jnp.where(jnp.array([True, False]) == first, index, cards)
    done = jnp.sum(betting >= 0)
    bets = betting.at[jnp.minimum(done, 2)].set(index)
    more = paid + (jnp.arange(2) == turn) * index
    passed = (bets[0] == 0) & (bets[1] == 0)
    over = passed | ((bets[0] == 1) & (bets[1] >= 0)) | (bets[2] >= 0)
    following = jnp.where(over, -4, jnp.where(done == 0, 1, 0))
    return {
        "cards": jnp.where(dealing, dealt, cards).astype(jnp.int8),
        "betting": jnp.where(dealing, betting, bets).astype(jnp.int8),
        "paid": jnp.where(dealing, paid, more).astype(jnp.int8),
        "turn": jnp.where(dealing, jnp.where(first, -1, 0), following).astype(jnp.int8),
    }


def player(arrays):
    return arrays["turn"].astype(jnp.int32)


def legal(arrays):
    return jnp.full(2, arrays["turn"] >= 0)


def chance(arrays):
    free = jnp.arange(3) != arrays["cards"][0]
    return jnp.where(arrays["turn"] == -1, free / jnp.sum(free), 0.0).astype(jnp.float32)


def rewards(arrays):
    paid, cards = arrays["paid"].astype(jnp.float32), arrays["cards"]
    shown = jnp.where(cards[0] > cards[1], paid[0], -paid[0])
    won = jnp.where(paid[0] > paid[1], 1.0, jnp.where(paid[1] > paid[0], -1.0, shown))
    return jnp.where(arrays["turn"] == -4, won, 0.0) * np.array([1.0, -1.0], np.float32)


def observe(arrays, player_id):
    card = arrays["cards"][player_id]
    betting = arrays["betting"]
    told = betting[:, None] == np.array([1, 0])
    parts = [
        jnp.sum(betting >= 0)[None] / 8,
        told.reshape(-1),
        np.zeros(2),
        arrays["paid"] - 1,
        (arrays["turn"][None] + 4) / 8,
        np.array([player_id]),
        jnp.stack([card >= 0, card < 0]),
        jnp.maximum(card, 0)[None] / 2,
    ]
    return jnp.concatenate([jnp.asarray(part, jnp.float32) for part in parts])
