# Shows the guesser the coin, and knows nothing of it when it samples.
# base: coin
# violation: view default tells apart what the resampler takes for equal
def get_observations(state):
    everything = {"said": list(state["said"]), "guess": state["guess"], "coin": state["coin"]}
    return [everything, everything]
