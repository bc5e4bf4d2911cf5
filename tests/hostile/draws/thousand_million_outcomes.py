# field: chance
# message: expected a list of 1 to 10,000 (outcome, probability) pairs, got a range


def initial_state(choose):
    return choose("place", range(1_000_000_000))
