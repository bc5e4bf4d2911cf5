# Counts its calls and answers by the count.
# base: stones
# violation: legal_actions is not deterministic
CALLS = [0]


def get_legal_actions(state):
    CALLS[0] += 1
    actions = [f"take {number}" for number in (1, 2) if number <= state["stones"]]
    return actions if CALLS[0] % 2 else actions[::-1]
