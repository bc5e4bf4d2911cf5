# Shows the time.
# base: stones
# violation: observations is not deterministic
import time


def get_observations(state):
    return [{"time": time.perf_counter_ns()}, {}]
