# field: start
# message: initial_state raised ValueError


def initial_state(choose):
    cells = getattr(choose, "__closure__", None)
    reading = cells[0].cell_contents if cells else choose
    reading.open = ["another each time: %d" % len(getattr(reading, "_given", ())), [[0, 1.0]]]
    raise ValueError
