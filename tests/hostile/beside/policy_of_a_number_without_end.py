# place: prior_source
# message: must return a list of floats
# ends: crash
# slow: yes


def policy_prior(history, legal, agent):
    return [10**5000, 1.0, 1.0]
