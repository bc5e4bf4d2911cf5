# Two players take one or two of sixty stones in turn; who takes the last one wins.


def apply_action(state, action):
    left = state["stones"] - int(action.split()[1])
    return {"stones": left, "player": 1 - state["player"], "moves": state["moves"] + 1}


def get_current_player(state):
    return state["player"] if state["stones"] else -4


def get_player_name(player_id):
    return {-4: "terminal", -1: "chance", 0: "first", 1: "second"}[player_id]


def get_rewards(state):
    if state["stones"]:
        return [0.0, 0.0]
    return [-1.0, 1.0] if state["player"] == 0 else [1.0, -1.0]


def get_legal_actions(state):
    return [f"take {number}" for number in (1, 2) if number <= state["stones"]]


def get_chance_outcomes(state):
    return []


def get_observations(state):
    return [{"stones": state["stones"]}, {"stones": state["stones"]}]
