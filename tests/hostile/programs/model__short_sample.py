# Samples histories that stop before now.
# base: coin
# violation: resample_history ends elsewhere
def resample_history(obs_action_history, player_id):
    return []
