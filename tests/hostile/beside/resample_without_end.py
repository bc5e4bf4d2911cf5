# place: inference_source
# message: MemoryError
# ends: crash
# slow: yes


import itertools


def resample_history(history, agent):
    return list(itertools.repeat((None, {})))
