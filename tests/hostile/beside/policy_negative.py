# place: prior_source
# message: every probability must be greater than 0, got -1.0
# ends: crash


def policy_prior(history, legal, agent):
    return [3.0, -1.0, -1.0]
