"""Nim with one heap: a game of a user's own, in a file of its own."""

from games.api import TERMINAL, GameInfo, IllegalActionError

RULES = "One heap of 7 matches. The players take 1, 2 or 3 in turn; whoever takes the last one wins."


class Nim:
    def __init__(self, heap=7):
        self.heap = heap
        self.info = GameInfo("nim", 2, "win_loss_draw", -1, 1, True, False, ("first", "second"), max_length=heap)

    def initial_state(self):
        return {"heap": self.heap, "player": 0}

    def current_player(self, state):
        return state["player"] if state["heap"] else TERMINAL

    def legal_actions(self, state):
        return [f"take {count}" for count in (1, 2, 3) if count <= state["heap"]]

    def chance_outcomes(self, state):
        return []

    def apply_action(self, state, action):
        if action not in self.legal_actions(state):
            raise IllegalActionError(f"{action!r} is not legal.")
        return {"heap": state["heap"] - int(action.split()[1]), "player": 1 - state["player"]}

    def rewards(self, state):
        if state["heap"]:
            return [0.0, 0.0]
        return [-1.0, 1.0] if state["player"] == 0 else [1.0, -1.0]

    def observations(self, state):
        return [dict(state), dict(state)]

    def render(self, state, player=None):
        return "|" * state["heap"]
