# place: inference_source
# message: 'tiger' cannot be drawn as 'cellar'
# slow: yes


def resample_history(history, agent):
    return [(None, {"tiger": "cellar"})] * len(history)
