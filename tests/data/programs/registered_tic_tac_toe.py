"""The registered game tic_tac_toe in the program API, for tests: its states are OpenSpiel's."""

LINES = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]


def _winner(board):
    for a, b, c in LINES:
        if board[a] != "." and board[a] == board[b] == board[c]:
            return board[a]
    return None


def apply_action(state, action):
    mark = action[0]
    board = list(state["board"])
    board[3 * int(action[2]) + int(action[4])] = mark
    over = _winner(board) is not None or "." not in board
    return {"board": board, "current_player": "Terminal" if over else "o" if mark == "x" else "x"}


def get_current_player(state):
    return {"x": 0, "o": 1, "Terminal": -4}[state["current_player"]]


def get_player_name(player_id):
    return {-1: "chance", -4: "terminal", 0: "x", 1: "o"}[player_id]


def get_rewards(state):
    winner = _winner(state["board"])
    return {None: [0.0, 0.0], "x": [1.0, -1.0], "o": [-1.0, 1.0]}[winner]


def get_legal_actions(state):
    mark = state["current_player"]
    if mark == "Terminal":
        return []
    return [f"{mark}({cell // 3},{cell % 3})" for cell, owner in enumerate(state["board"]) if owner == "."]


def get_chance_outcomes(state):
    return []


def get_observations(state):
    return [{"board": list(state["board"]), "current_player": state["current_player"]} for _ in range(2)]
