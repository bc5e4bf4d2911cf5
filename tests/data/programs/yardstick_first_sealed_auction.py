"""The sealed-bid auction of the yardstick in the program API, for tests: its states are OpenSpiel's."""

import random


def _numbers(state):
    found = [int(action.split()[-1]) for action in state["history"]]
    return found[:3], found[3:6], found[6:]


def _text(worths, bids, winner):
    text = ",".join(map(str, worths)) + ";" + ",".join(map(str, bids))
    return text + "".join(f";{one}" for one in winner)


def apply_action(state, action):
    history = [*state["history"], action]
    return {"history": history, "text": _text(*_numbers({"history": history}))}


def get_current_player(state):
    done = len(state["history"])
    return -1 if done < 3 or done == 6 else done - 3 if done < 6 else -4


def get_player_name(player_id):
    return {-1: "chance", -4: "terminal"}.get(player_id) or f"player_{player_id}"


def get_rewards(state):
    worths, bids, winner = _numbers(state)
    return [float(worths[one] - bids[one]) if winner == [one] else 0.0 for one in range(3)]


def get_legal_actions(state):
    done = len(state["history"])
    worths, bids, winner = _numbers(state)
    if done < 3:
        return [f"Player {done} value: {worth}" for worth in range(1, 7)]
    if done < 6:
        return [f"Player {done - 3} bid: {bid}" for bid in range(worths[done - 3])]
    return [] if winner else [f"Chose winner {one}" for one in range(3) if bids[one] == max(bids)]


def get_chance_outcomes(state):
    actions = get_legal_actions(state) if get_current_player(state) == -1 else []
    return [(action, 1.0 / len(actions)) for action in actions]


def get_observations(state):
    worths, bids, _ = _numbers(state)
    seen = []
    for one in range(3):
        text = f"p{one}" + (f" val {worths[one]}" if one < len(worths) else "")
        seen.append({"text": text + (f" bid {bids[one]}" if one < len(bids) else "")})
    return seen


def resample_history(obs_action_history, player_id):
    words = obs_action_history[-1][0]["text"].split()
    worths = [random.randint(1, 6) for _ in range(3)]
    worths[player_id] = int(words[2])
    bids = [random.randrange(worth) for worth in worths]
    over = "bid" in words
    if over:
        bids[player_id] = int(words[4])
    history = [f"Player {one} value: {worth}" for one, worth in enumerate(worths)]
    history += [f"Player {one} bid: {bid}" for one, bid in enumerate(bids) if over or one < player_id]
    if over:
        history.append(f"Chose winner {random.choice([one for one in range(3) if bids[one] == max(bids)])}")
    return history
