# place: inference_source
# message: a sample is not what agent
# slow: yes


def resample_history(history, agent):
    return [(None, {"tiger": "x" * 1_000_000})] * len(history)
