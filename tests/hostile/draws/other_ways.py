# field: chance
# message: equal draws before it were followed by other outcomes

CALLS = []


def initial_state(choose):
    CALLS.append(0)
    many = list(range(100 if len(CALLS) < 3 else 1))
    choose("first", [(one, 1.0 / len(many)) for one in many])
    return 0


# kind: distribution
