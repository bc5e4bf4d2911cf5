ACTIONS = ["stay", "up", "down", "left", "right"]
STEPS = {"stay": (0, 0), "up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}
STARTS = [([column, row], 1.0 / 9.0) for row in (1, 2, 3) for column in (1, 2, 3)]
WORTH = {(0, 0): 1.0, (4, 4): 1.0, (4, 0): 0.75, (0, 4): 0.75}


def initial_state(choose):
    return [choose("start of agent 0", STARTS), choose("start of agent 1", STARTS)]


def _met(state):
    return WORTH.get(tuple(state[0])) if state[0] == state[1] else None


def active(state):
    return [0, 1] if _met(state) is None else []


def legal_actions(state, agent):
    return list(ACTIONS) if _met(state) is None else []


def move(state, actions, choose):
    after = []
    for (column, row), action in zip(state, actions):
        east, south = STEPS[action]
        after.append([min(4, max(0, column + east)), min(4, max(0, row + south))])
    worth = _met(after)
    return after, [worth or 0.0] * 2, [worth is not None] * 2


def observe(state, actions, choose):
    first, second = list(state[0]), list(state[1])
    return [{"own": first, "other": second}, {"own": list(second), "other": list(first)}]
