# place: prior_source
# message: changed an argument
# slow: yes


def policy_prior(history, legal, agent):
    history.clear()
    return [1.0 / 3] * 3
