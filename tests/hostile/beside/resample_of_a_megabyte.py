# place: inference_source
# message: expected 1 entries


def resample_history(history, agent):
    return "x" * 1_000_000
