LINES = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]


def _winner(board):
    for a, b, c in LINES:
        if board[a] is not None and board[a] == board[b] == board[c]:
            return board[a]
    return None


def apply_action(state, action):
    mark, cell = action[0], int(action[1:])
    board = list(state["board"])
    board[cell] = mark
    return {"board": board, "next": "o" if mark == "x" else "x"}


def get_current_player(state):
    if _winner(state["board"]) is not None or None not in state["board"]:
        return -4
    return 0 if state["next"] == "x" else 1


def get_player_name(player_id):
    return {-1: "chance", -4: "terminal", 0: "first", 1: "second"}[player_id]


def get_rewards(state):
    winner = _winner(state["board"])
    if winner is None:
        return [0.0, 0.0]
    return [1.0, -1.0] if winner == "x" else [-1.0, 1.0]


def get_legal_actions(state):
    if get_current_player(state) == -4:
        return []
    return [state["next"] + str(cell) for cell, mark in enumerate(state["board"]) if mark is None]


def get_chance_outcomes(state):
    return []


def get_observations(state):
    return [{"board": list(state["board"]), "next": state["next"]} for _ in range(2)]
