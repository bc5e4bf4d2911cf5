# Shows the guesser the coin, and samples to match: only the true game tells that it is hidden.
# base: coin
# violation: observations show what is hidden
def get_observations(state):
    everything = {"said": list(state["said"]), "guess": state["guess"], "coin": state["coin"]}
    return [everything, everything]


def resample_history(obs_action_history, player_id):
    seen = obs_action_history[-1][0]
    return [seen["coin"]] + list(seen["said"])
