# place: inference_source
# message: no answer in time
# ends: timeout
# slow: yes


import random


def resample_history(history, agent):
    while True:
        random.random()
