ALICE = ["lamp on", "lamp off", "open door", "give up"]
BOB = ["guess cat", "guess dog", "give up"]


def initial_state(choose):
    return {"pet": choose("pet", [("cat", 0.5), ("dog", 0.5)]), "done": None, "over": False}


def active(state):
    if state["over"]:
        return []
    return [0] if state["done"] is None else [1]


def legal_actions(state, agent):
    return list((ALICE, BOB)[agent]) if agent in active(state) else []


def move(state, actions, choose):
    if state["done"] is None:
        paid = {"open door": -5.0, "give up": 1.0}.get(actions[0], 0.0)
        after = {"pet": state["pet"], "done": actions[0], "over": actions[0] == "give up"}
    else:
        paid = 0.5 if actions[1] == "give up" else 10.0 if actions[1] == "guess " + state["pet"] else -10.0
        after = {"pet": state["pet"], "done": state["done"], "over": True}
    return after, [paid, paid], [after["over"]] * 2


def observe(state, actions, choose):
    shown = state["pet"] if state["done"] == "open door" else None
    return [{"pet": state["pet"], "done": state["done"]}, {"pet": shown, "done": state["done"]}]
