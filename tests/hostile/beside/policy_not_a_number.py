# place: prior_source
# message: must return finite numbers, got nan
# ends: crash


def policy_prior(history, legal, agent):
    return [float("nan")] * len(legal)
