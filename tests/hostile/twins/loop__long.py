# A loop of a thousand million rounds.
# says: rounds
def step(arrays, index):
    return {"on": lax.fori_loop(0, 10**9, lambda number, x: x * 3 + number, index)}
