# place: prior_source
# message: returned 5 probabilities for 3 legal actions
# ends: crash
# slow: yes


def policy_prior(history, legal, agent):
    return [0.2] * 5
