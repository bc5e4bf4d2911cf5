ACTIONS = ["open left", "open right", "listen"]
SIDES = ["left", "right"]
CREAKS = ["left", "right", "silence"]
MADE = {"open left": "left", "open right": "right", "listen": "silence"}


def initial_state(choose):
    return choose("tiger", [("left", 0.5), ("right", 0.5)])


def active(state):
    return [0, 1]


def legal_actions(state, agent):
    return list(ACTIONS)


def move(state, actions, choose):
    rewards = [-1.0 if action == "listen" else -100.0 if action == "open " + state else 10.0 for action in actions]
    if any(action != "listen" for action in actions):
        state = choose("tiger", [("left", 0.5), ("right", 0.5)])
    return state, rewards, [False, False]


def observe(state, actions, choose):
    if actions is None:
        return [{"growl": None, "creak": None} for _ in range(2)]
    told = []
    for agent in range(2):
        if actions[agent] == "listen":
            growls = [(side, 0.85 if side == state else 0.15) for side in SIDES]
            made = MADE[actions[1 - agent]]
            creaks = [(creak, 0.9 if creak == made else 0.05) for creak in CREAKS]
        else:
            growls = [(side, 0.5) for side in SIDES]
            creaks = [(creak, 1.0 / 3.0) for creak in CREAKS]
        growl = choose("growl of agent %d" % agent, growls)
        told.append({"growl": growl, "creak": choose("creak of agent %d" % agent, creaks)})
    return told
