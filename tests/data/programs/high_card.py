"""A small game of hidden information in the program API, for tests.

Each of two players gets one of four cards, dealt by chance. Player 0 bets or passes; after a bet player 1 calls or
folds. The higher card wins the pot: 1 without a bet, 2 after a called bet; a fold loses 1.
"""

import random

CARDS = ["1", "2", "3", "4"]


def apply_action(state, action):
    new = {"cards": list(state["cards"]), "moves": list(state["moves"])}
    if len(new["cards"]) < 2:
        new["cards"].append(action[len("deal ") :])
    else:
        new["moves"].append(action)
    return new


def _over(state):
    return state["moves"] == ["pass"] or len(state["moves"]) == 2


def get_current_player(state):
    if len(state["cards"]) < 2:
        return -1
    return -4 if _over(state) else len(state["moves"])


def get_player_name(player_id):
    return {-1: "chance", -4: "terminal", 0: "first", 1: "second"}[player_id]


def get_rewards(state):
    if not _over(state):
        return [0.0, 0.0]
    if state["moves"] == ["bet", "fold"]:
        return [1.0, -1.0]
    stake = 2.0 if len(state["moves"]) == 2 else 1.0
    sign = 1.0 if state["cards"][0] > state["cards"][1] else -1.0
    return [sign * stake, -sign * stake]


def get_legal_actions(state):
    player = get_current_player(state)
    if player == -1:
        return ["deal " + card for card in CARDS if card not in state["cards"]]
    return {0: ["bet", "pass"], 1: ["call", "fold"], -4: []}[player]


def get_chance_outcomes(state):
    if get_current_player(state) != -1:
        return []
    actions = get_legal_actions(state)
    return [(action, 1.0 / len(actions)) for action in actions]


def get_observations(state):
    cards = state["cards"]
    return [
        {"card": cards[player] if len(cards) > player else None, "moves": list(state["moves"])} for player in range(2)
    ]


def resample_history(obs_action_history, player_id):
    seen = obs_action_history[-1][0]
    other = random.choice([card for card in CARDS if card != seen["card"]])
    cards = [seen["card"], other] if player_id == 0 else [other, seen["card"]]
    return ["deal " + card for card in cards] + list(seen["moves"])
