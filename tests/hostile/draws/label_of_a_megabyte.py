# field: chance
# message: a label is text of at most 200 characters, got 1,000,000 characters


def initial_state(choose):
    return choose("a" * 1_000_000, [(0, 0.5), (1, 0.5)])
