# place: inference_source
# message: is told
# slow: yes


def resample_history(history, agent):
    return [(None, {})] + [(["listen", "listen"] if one[1] == "listen" else [one[1]] * 2, {}) for one in history[:-1]]
