import random

CARDS = range(6)
START = {
    "private_cards": [None, None],
    "public_card": None,
    "round": 1,
    "pot": 2,
    "money": [99, 99],
    "round_1_betting": [],
    "round_2_betting": [],
    "current_player": -1,
}
KEYS = ("public_card", "round", "pot", "money", "round_1_betting", "round_2_betting", "current_player")


def apply_action(state, action):
    state = {**state, "money": list(state["money"])}
    if state["current_player"] == -1:
        return dealt(state, int(action.split(":")[1]))
    player, key = state["current_player"], f"round_{state['round']}_betting"
    state[key] = [*state[key], action]
    if action == "Fold":
        return paid(state, [1 - player])
    lacking = state["money"][player] - state["money"][1 - player]
    chips = lacking + (0 if action == "Call" else 2 * state["round"])
    state["money"][player] -= chips
    state["pot"] += chips
    if action == "Raise" or len(state[key]) == 1:
        return {**state, "current_player": 1 - player}
    if state["round"] == 1:
        return {**state, "round": 2, "current_player": -1}
    return paid(state, winners(state))


def dealt(state, card):
    cards = list(state["private_cards"])
    if None not in cards:
        return {**state, "public_card": card, "current_player": 0}
    cards[cards.index(None)] = card
    return {**state, "private_cards": cards, "current_player": -1 if None in cards else 0}


def paid(state, winning):
    money = [
        chips + (state["pot"] // len(winning) if player in winning else 0)
        for player, chips in enumerate(state["money"])
    ]
    return {**state, "money": money, "pot": 0, "current_player": -4}


def winners(state):
    ranks = [card // 2 for card in state["private_cards"]]
    strength = [rank + 10 * (rank == state["public_card"] // 2) for rank in ranks]
    return [player for player in range(2) if strength[player] == max(strength)]


def get_current_player(state):
    return state["current_player"]


def get_player_name(player_id):
    return {-1: "chance", -4: "terminal"}.get(player_id) or f"player_{player_id}"


def get_rewards(state):
    if state["current_player"] != -4:
        return [0.0, 0.0]
    return [float(chips - 100) for chips in state["money"]]


def get_legal_actions(state):
    player = state["current_player"]
    if player == -1:
        used = [*state["private_cards"], state["public_card"]]
        return [f"Chance outcome:{card}" for card in CARDS if card not in used]
    if player == -4:
        return []
    fold = ["Fold"] if state["money"][player] > state["money"][1 - player] else []
    raised = state[f"round_{state['round']}_betting"].count("Raise")
    return [*fold, "Call", *(["Raise"] if raised < 2 else [])]


def get_chance_outcomes(state):
    if state["current_player"] != -1:
        return []
    actions = get_legal_actions(state)
    return [(action, 1.0 / len(actions)) for action in actions]


def get_observations(state):
    public = {key: state[key] for key in KEYS}
    return [{"player": player, "private_card": state["private_cards"][player], **public} for player in range(2)]


def history(seen, player_id, other):
    cards = [seen["private_card"], other] if player_id == 0 else [other, seen["private_card"]]
    public = [] if seen["public_card"] is None else [f"Chance outcome:{seen['public_card']}"]
    return [*(f"Chance outcome:{card}" for card in cards), *seen["round_1_betting"], *public, *seen["round_2_betting"]]


def resample_history(obs_action_history, player_id, last_is_terminal):
    seen = obs_action_history[-1][0]
    others = [card for card in CARDS if card not in (seen["private_card"], seen["public_card"])]
    histories = [history(seen, player_id, other) for other in others]
    return random.choice([actions for actions in histories if end(actions)["money"] == seen["money"]])


def resample_state(obs_action_history, player_id):
    return end(resample_history(obs_action_history, player_id, False))


def end(actions):
    state = START
    for action in actions:
        state = apply_action(state, action)
    return state
