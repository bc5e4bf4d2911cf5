# The verified program of the game of one switch, of which the twins say that they equal it.
def get_player_name(player_id):
    return "one"


def get_current_player(state):
    return -4 if state["on"] else 0


def get_legal_actions(state):
    return [] if state["on"] else ["off", "on"]


def get_chance_outcomes(state):
    return []


def apply_action(state, action):
    return {"on": int(action == "on")}


def get_rewards(state):
    return [float(state["on"])]


def get_observations(state):
    return [{"on": state["on"]}]
