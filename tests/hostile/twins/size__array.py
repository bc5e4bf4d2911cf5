# Makes a large array.
# says: more than 262,144 numbers
def step(arrays, index):
    return {"on": jnp.zeros((1000, 1000), jnp.int32).at[index, index].set(1).sum()}
