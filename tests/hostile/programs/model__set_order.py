# Lists actions in the order of a set, which hangs on the hash seed.
# base: stones
# violation: answers differ in another process
def get_legal_actions(state):
    names = {f"take {number}" for number in (1, 2) if number <= state["stones"]}
    return list(names | {f"take {number} slowly" for number in (1, 2) if number <= state["stones"]})
