import random


def resample_history(history, agent):
    """For kitchens that are seen as a whole: of each step what the other can have done, given what it led to."""
    state, entries = initial_state(None), [(None, {})]
    for number in range(1, len(history)):
        own, told = history[number - 1][1], history[number][0]
        for other in random.sample(ACTIONS, len(ACTIONS)):
            actions = [own, other] if agent == 0 else [other, own]
            after = move(state, actions, None)[0]
            if observe(after, actions, None)[agent] == told:
                break
        state = after
        entries.append((actions, {}))
    return entries
