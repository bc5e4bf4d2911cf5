import random


def resample_history(history, agent):
    seen = [told for told, _ in history]
    names = ("own", "other") if agent == 0 else ("other", "own")
    starts = {"start of agent %d" % one: seen[0][names[one]] for one in range(2)}
    entries = [(None, starts)]
    for number in range(1, len(seen)):
        own = history[number - 1][1]
        (column, row), after = seen[number - 1]["other"], seen[number]["other"]
        for other in random.sample(ACTIONS, len(ACTIONS)):
            east, south = STEPS[other]
            if [min(4, max(0, column + east)), min(4, max(0, row + south))] == after:
                break
        entries.append(([own, other] if agent == 0 else [other, own], {}))
    return entries


