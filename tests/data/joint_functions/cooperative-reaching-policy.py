def policy_prior(history, legal, agent):
    column, row = history[-1][0]["own"]
    goal = (0, 0)
    scores = []
    for action in legal:
        east, south = STEPS[action]
        place = (min(4, max(0, column + east)), min(4, max(0, row + south)))
        scores.append(abs(place[0] - goal[0]) + abs(place[1] - goal[1]))
    best = min(scores)
    weights = [1.0 if score == best else 0.05 for score in scores]
    return [weight / sum(weights) for weight in weights]
