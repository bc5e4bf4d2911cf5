# place: inference_source
# message: a sample is not what agent
# slow: yes


def resample_history(history, agent):
    sample = []
    sample.append(sample)
    return sample * len(history)
