"""Nim of the yardstick in the program API, for tests: its states are OpenSpiel's."""

PILES = [2, 3, 4, 5]


def _piles(state):
    return [int(word) for word in state["text"].split(": ")[1].split()]


def _parts(action):
    pile, take = action.strip(";").split(", ")
    return int(pile.split(":")[1]) - 1, int(take.split(":")[1])


def apply_action(state, action):
    piles = _piles(state)
    pile, take = _parts(action)
    piles[pile] -= take
    history = [*state["history"], action]
    return {"history": history, "text": f"({len(history) % 2}): {' '.join(map(str, piles))}"}


def get_current_player(state):
    return len(state["history"]) % 2 if any(_piles(state)) else -4


def get_player_name(player_id):
    return {-4: "terminal"}.get(player_id) or f"player_{player_id}"


def get_rewards(state):
    if any(_piles(state)):
        return [0.0, 0.0]
    loser = (len(state["history"]) - 1) % 2
    return [-1.0, 1.0] if loser == 0 else [1.0, -1.0]


def get_legal_actions(state):
    piles = _piles(state)
    ways = [(take, pile) for take in range(1, 6) for pile in range(4) if piles[pile] >= take]
    return [f"pile:{pile + 1}, take:{take};" for take, pile in ways]


def get_chance_outcomes(state):
    return []


def get_observations(state):
    numbers = [4 * (take - 1) + pile for pile, take in map(_parts, state["history"])]
    return [{"text": ", ".join(map(str, numbers))}] * 2
