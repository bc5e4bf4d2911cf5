# Fails to sample.
# base: coin
# violation: resample_history raises
def resample_history(obs_action_history, player_id):
    return [obs_action_history[-1][0]["no such key"]]
