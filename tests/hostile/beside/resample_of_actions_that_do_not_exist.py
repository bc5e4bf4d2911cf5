# place: inference_source
# message: is not legal for agent


def resample_history(history, agent):
    return [(None, {}), *([(["open the window"] * 2, {})] * (len(history) - 1))]
