# field: chance
# message: a label is text of at most 200 characters, got a Label


class Label(str):
    def __len__(self):
        return 1

    def __hash__(self):
        return hash("start")

    def __eq__(self, other):
        return True


def initial_state(choose):
    return choose(Label("a"), [(0, 0.5), (1, 0.5)])
