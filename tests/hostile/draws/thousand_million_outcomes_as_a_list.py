# field: memory_exceeded
# message: memory


def initial_state(choose):
    return choose("place", [(0, 1e-9)] * 1_000_000_000)
