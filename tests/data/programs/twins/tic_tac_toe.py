import jax.numpy as jnp
import numpy as np

MARKS = ".xo"
TURNS = ("x", "o", "Terminal")
LINES = np.array([[0, 1, 2], [3, 4, 5], [6, 7, 8], [0, 3, 6], [1, 4, 7], [2, 5, 8], [0, 4, 8], [2, 4, 6]])


def list_actions():
    return [f"{mark}({square // 3},{square % 3})" for mark in "xo" for square in range(9)]


def list_chance_outcomes():
    return []


def encode(state):
    return {"board": [MARKS.index(mark) for mark in state["board"]], "turn": TURNS.index(state["current_player"])}


def decode(arrays):
    return {"board": [MARKS[mark] for mark in arrays["board"]], "current_player": TURNS[arrays["turn"]]}


def init():
    return {"board": jnp.zeros(9, jnp.int8), "turn": jnp.zeros((), jnp.int8)}


def step(arrays, index):
    mark = (1 + index // 9).astype(jnp.int8)
    board = arrays["board"].at[index % 9].set(mark)
    over = won(board) | jnp.all(board != 0)
    return {"board": board, "turn": jnp.where(over, 2, 1 - index // 9).astype(jnp.int8)}


def won(board):
    rows = board[LINES]
    return jnp.any((rows[:, 0] != 0) & (rows[:, 0] == rows[:, 1]) & (rows[:, 1] == rows[:, 2]))


def player(arrays):
    return jnp.where(arrays["turn"] == 2, -4, arrays["turn"]).astype(jnp.int32)


def legal(arrays):
    free = arrays["board"] == 0
    return jnp.concatenate([free & (arrays["turn"] == 0), free & (arrays["turn"] == 1)])


def chance(arrays):
    return jnp.zeros(0, jnp.float32)


def rewards(arrays):
    rows = arrays["board"][LINES]
    lines = (rows[:, 0] == rows[:, 1]) & (rows[:, 1] == rows[:, 2])
    sign = jnp.any(lines & (rows[:, 0] == 1)).astype(jnp.float32) - jnp.any(lines & (rows[:, 0] == 2))
    return jnp.where(arrays["turn"] == 2, sign, 0.0) * np.array([1.0, -1.0], np.float32)


def observe(arrays, player_id):
    # The schema lists texts in alphabetical order: ".", "o", "x" and "Terminal", "o", "x".
    board = arrays["board"][:, None] == np.array([0, 2, 1])
    turn = arrays["turn"] == np.array([2, 1, 0])
    return jnp.concatenate([board.reshape(-1), turn]).astype(jnp.float32)
