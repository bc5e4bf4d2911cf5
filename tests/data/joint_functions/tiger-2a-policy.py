def policy_prior(history: History, legal: list[Action], agent: int) -> list[float]:
    lean = 0
    for told, action in history:
        growl = told["growl"]
        if growl is not None:
            lean += 1 if growl == "left" else -1
        if action is not None and action != "listen":
            lean = 0
    weights = {"open left": 0.02, "open right": 0.02, "listen": 1.0}
    if lean >= 2:
        weights = {"open left": 0.02, "open right": 1.0, "listen": 0.2}
    elif lean <= -2:
        weights = {"open left": 1.0, "open right": 0.02, "listen": 0.2}
    total = sum(weights[action] for action in legal)
    return [weights[action] / total for action in legal]
