# Samples histories in which the player did something else.
# base: coin
# violation: resample_history changes the player's own history
def get_observations(state):
    return [{"coin": state["coin"]}, {"number": len(state["said"])}]


def resample_history(obs_action_history, player_id):
    coin = random.choices(["heads", "tails"], [0.75, 0.25])[0]
    said = ["hum"] * len(obs_action_history) if player_id == 1 else []
    return [obs_action_history[-1][0].get("coin", coin)] + said
