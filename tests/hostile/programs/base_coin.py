# Chance throws a coin that the holder alone sees; both make a sound; the guesser guesses.
import random


def apply_action(state, action):
    if state["coin"] is None:
        return {"coin": action, "said": [], "guess": None}
    if len(state["said"]) < 2:
        return {"coin": state["coin"], "said": state["said"] + [action], "guess": None}
    return {"coin": state["coin"], "said": list(state["said"]), "guess": action}


def get_current_player(state):
    if state["coin"] is None:
        return -1
    if state["guess"] is not None:
        return -4
    return 0 if len(state["said"]) == 0 else 1


def get_player_name(player_id):
    return {-1: "chance", -4: "terminal", 0: "holder", 1: "guesser"}[player_id]


def get_rewards(state):
    if state["guess"] is None:
        return [0.0, 0.0]
    return [-1.0, 1.0] if state["guess"] == "guess " + state["coin"] else [1.0, -1.0]


def get_legal_actions(state):
    player = get_current_player(state)
    if player == -1:
        return ["heads", "tails"]
    if player == -4:
        return []
    return ["guess heads", "guess tails"] if len(state["said"]) == 2 else ["hum", "cough"]


def get_chance_outcomes(state):
    return [("heads", 0.75), ("tails", 0.25)] if state["coin"] is None else []


def get_observations(state):
    guesser = {"said": list(state["said"]), "guess": state["guess"]}
    return [guesser | {"coin": state["coin"]}, guesser]


def resample_history(obs_action_history, player_id):
    seen = obs_action_history[-1][0]
    coin = seen["coin"] if player_id == 0 else random.choices(["heads", "tails"], [0.75, 0.25])[0]
    return [coin] + list(seen["said"])
