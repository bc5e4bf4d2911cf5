def value_function(state, agent, steps):
    if _met(state) is not None:
        return 0.0
    best = 0.0
    for (column, row), worth in WORTH.items():
        away = max(abs(column - one[0]) + abs(row - one[1]) for one in state)
        if 0 < away <= steps:
            best = max(best, worth * 0.99 ** (away - 1))
    return 0.7 * best
