# place: inference_source
# message: no answer in time
# ends: timeout


import random


def resample_history(history, agent):
    while True:
        random.random()
