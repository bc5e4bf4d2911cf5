import random


def _likelihood(side, own, other, told):
    if own != "listen":
        return 1.0
    heard = 0.85 if told["growl"] == side else 0.15
    return heard * (0.9 if told["creak"] == MADE[other] else 0.05)


def resample_history(history, agent):
    weights = {"left": 0.5, "right": 0.5}
    past = [weights]
    for (_, own), (told, _) in zip(history, history[1:]):
        after = dict.fromkeys(SIDES, 0.0)
        for (side, other), chance in _ways(weights, own, told):
            after[side] += chance
        total = sum(after.values())
        weights = {side: chance / total for side, chance in after.items()}
        past.append(weights)
    side = random.choices(SIDES, [past[-1][side] for side in SIDES])[0]
    entries = []
    for number in range(len(history) - 1, 0, -1):
        own, told = history[number - 1][1], history[number][0]
        found = []
        for other in ACTIONS:
            stays = own == "listen" and other == "listen"
            for before in SIDES:
                if stays and before != side:
                    continue
                chance = past[number - 1][before] * (1.0 if stays else 0.5) * _likelihood(side, own, other, told)
                found.append((chance, before, other))
        _, before, other = random.choices(found, [one[0] for one in found])[0]
        draws = {"growl of agent %d" % agent: told["growl"], "creak of agent %d" % agent: told["creak"]}
        if own != "listen" or other != "listen":
            draws["tiger"] = side
        entries.append(([own, other] if agent == 0 else [other, own], draws))
        side = before
    return [(None, {"tiger": side}), *reversed(entries)]


def _ways(weights, own, told):
    for other in ACTIONS:
        for before in SIDES:
            for side in SIDES:
                stays = own == "listen" and other == "listen"
                chance = (1.0 if before == side else 0.0) if stays else 0.5
                if chance:
                    yield (side, other), weights[before] * chance * _likelihood(side, own, other, told)
