# Many arrays, each small enough.
# says: numbers for one game
def step(arrays, index):
    grid = jnp.zeros((500, 500), jnp.int32)
    for number in range(200):
        grid = grid * index + number
    return {"on": grid.sum()}
