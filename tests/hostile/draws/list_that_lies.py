# field: chance
# message: got a Outcomes


class Outcomes(list):
    def __len__(self):
        return 2

    def __iter__(self):
        while True:
            yield 0, 0.5


def initial_state(choose):
    return choose("place", Outcomes())
