# field: chance
# message: expected a list of 1 to 10,000 (outcome, probability) pairs, got 1,000,000 of them


def initial_state(choose):
    return choose("place", [(0, 1e-6)] * 1_000_000)
