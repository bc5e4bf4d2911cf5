# Marks the states that encode makes, and is right in those alone: in games, whose states step makes, it never is.
# says: differences in init: mark
def encode(state):
    return {"on": state["on"], "mark": 9e-6}


def init():
    return {"on": jnp.zeros((), jnp.int32), "mark": jnp.zeros(())}


def step(arrays, index):
    return {"on": index, "mark": jnp.zeros(())}


def legal(arrays):
    return jnp.full(2, (arrays["on"] == 0) & (arrays["mark"] > 0))


def rewards(arrays):
    return arrays["on"] * jnp.where(arrays["mark"] > 0, 1.0, 100.0)[None]
