# place: prior_source
# message: no answer in time
# ends: timeout


def policy_prior(history, legal, agent):
    while True:
        pass
