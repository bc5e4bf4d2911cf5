# Shows where an object lies in memory: another place in every process.
# base: stones
# violation: answers differ in another process
TABLE = object()


def get_observations(state):
    return [{"table": id(TABLE)}, {}]
