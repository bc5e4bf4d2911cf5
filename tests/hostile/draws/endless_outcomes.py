# field: chance
# message: got a generator


def outcomes():
    while True:
        yield 0, 0.5


def initial_state(choose):
    return choose("place", outcomes())
