# place: prior_source
# message: must return a list of floats, got {
# ends: crash
# slow: yes


def policy_prior(history, legal, agent):
    return {"open left": 0.5, "open the window": 0.5}
