# A loop whose rounds nobody knows.
# says: without a fixed number of rounds
def step(arrays, index):
    return {"on": lax.while_loop(lambda x: x != 7, lambda x: x * 3 + 1, index)}
