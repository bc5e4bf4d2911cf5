def value_function(state, agent, steps):
    worth = 0.0
    for cell, item in state["items"].items():
        if "cooked" in item or cell in state["timers"]:
            worth = max(worth, 20.0 * 0.98 ** (12 + state["timers"].get(cell, 0)) * min(1.0, steps / 30))
        elif "onion" in item:
            worth = max(worth, 2.0 * len(item) * min(1.0, steps / 40))
    if any("cooked" in chef["item"] for chef in state["chefs"]):
        worth += 18.0 * min(1.0, steps / 6)
    return worth
