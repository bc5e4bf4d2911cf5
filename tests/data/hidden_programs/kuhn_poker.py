import random

CARDS = [0, 1, 2]


def apply_action(state, action):
    if state["current_player"] == -1:
        cards = list(state["private_cards"])
        cards[0 if cards[0] is None else 1] = int(action.split(":")[1])
        return {**state, "private_cards": cards, "current_player": 0 if None not in cards else -1}
    player = state["current_player"]
    betting = [*state["betting"], action]
    contributions = list(state["contributions"])
    contributions[player] += action == "Bet"
    over = betting in (["Pass", "Pass"], ["Bet", "Pass"], ["Bet", "Bet"]) or len(betting) == 3
    following = -4 if over else 1 - player
    return {**state, "betting": betting, "contributions": contributions, "current_player": following}


def get_current_player(state):
    return state["current_player"]


def get_player_name(player_id):
    return {-1: "chance", -4: "terminal"}.get(player_id) or f"player_{player_id}"


def get_rewards(state):
    if state["current_player"] != -4:
        return [0.0, 0.0]
    chips = state["contributions"]
    if chips[0] != chips[1]:
        winner = 0 if chips[0] > chips[1] else 1
    else:
        winner = 0 if state["private_cards"][0] > state["private_cards"][1] else 1
    won = float(min(chips))
    return [won, -won] if winner == 0 else [-won, won]


def get_legal_actions(state):
    if state["current_player"] == -1:
        return [f"Deal:{card}" for card in CARDS if card not in state["private_cards"]]
    return [] if state["current_player"] == -4 else ["Pass", "Bet"]


def get_chance_outcomes(state):
    if state["current_player"] != -1:
        return []
    actions = get_legal_actions(state)
    return [(action, 1.0 / len(actions)) for action in actions]


def get_observations(state):
    public = {key: state[key] for key in ("betting", "contributions", "current_player")}
    return [{"player": player, "private_card": state["private_cards"][player], **public} for player in range(2)]


def possible(seen, player_id):
    return [card for card in CARDS if card != seen["private_card"]]


def deals(seen, player_id, other):
    return [seen["private_card"], other] if player_id == 0 else [other, seen["private_card"]]


def resample_history(obs_action_history, player_id, last_is_terminal):
    seen = obs_action_history[-1][0]
    other = random.choice(possible(seen, player_id))
    return [*(f"Deal:{card}" for card in deals(seen, player_id, other)), *seen["betting"]]


def resample_state(obs_action_history, player_id):
    seen = obs_action_history[-1][0]
    cards = deals(seen, player_id, random.choice(possible(seen, player_id)))
    return {"private_cards": cards, **{key: seen[key] for key in ("betting", "contributions", "current_player")}}
