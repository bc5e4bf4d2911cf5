# Offers the guesser other actions, depending on the coin.
# base: coin
# violation: legal actions betray what is hidden
def get_legal_actions(state):
    player = get_current_player(state)
    if player == -1:
        return ["heads", "tails"]
    if player == -4:
        return []
    if len(state["said"]) < 2:
        return ["hum", "cough"]
    return ["guess heads", "guess tails"] if state["coin"] == "heads" else ["guess tails"]
