# place: prior_source
# message: answered differently
# slow: yes


CALLS = [0]


def policy_prior(history, legal, agent):
    CALLS[0] += 1
    return [0.2, 0.2, 0.6] if CALLS[0] % 2 else [0.6, 0.2, 0.2]
