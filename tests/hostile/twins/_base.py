# A right twin of the game of one switch; hostile ones define some of its functions anew.
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax


def list_actions():
    return ["off", "on"]


def list_chance_outcomes():
    return []


def encode(state):
    return {"on": state["on"]}


def decode(arrays):
    return {"on": arrays["on"]}


def init():
    return {"on": jnp.zeros((), jnp.int32)}


def step(arrays, index):
    return {"on": index}


def player(arrays):
    return jnp.where(arrays["on"] == 1, -4, 0)


def legal(arrays):
    return jnp.full(2, arrays["on"] == 0)


def chance(arrays):
    return jnp.zeros(0)


def rewards(arrays):
    return arrays["on"][None] * 1.0


def observe(arrays, player_id):
    return arrays["on"][None]
