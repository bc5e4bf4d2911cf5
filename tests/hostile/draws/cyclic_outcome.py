# field: chance
# message: an outcome is no JSON


def initial_state(choose):
    inner = []
    inner.append(inner)
    return choose("place", [(inner, 1.0)])
