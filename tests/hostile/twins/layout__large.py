# A state of many numbers.
# says: at most 16,384 are taken
def init():
    return {"on": jnp.zeros((200, 200), jnp.int32)}
