# Samples histories that cannot be played.
# base: coin
# violation: resample_history is illegal
def resample_history(obs_action_history, player_id):
    return ["edge"] + list(obs_action_history[-1][0]["said"])
