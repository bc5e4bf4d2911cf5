ROWS = ["##P##", "o...o", "#...#", "#S#D#"]
STARTS = [[3, 1], [1, 1]]
ROOMS = [[[1, 1], [2, 1], [3, 1], [1, 2], [2, 2], [3, 2]]] * 2
RECIPES = [["onion", "onion", "onion"]]
ANYWHERE, COSTS, REDRAWN, SIGHT = False, False, False, None

ACTIONS = ["right", "down", "left", "up", "stay", "interact"]
STEPS = {"right": (1, 0), "down": (0, 1), "left": (-1, 0), "up": (0, -1)}
FACINGS = ["up", "down", "right", "left"]
PILES = {"o": "onion", "t": "tomato", "c": "carrot", "l": "leek"}
ORDER = {name: number for number, name in enumerate(["plate", "cooked", "onion", "tomato", "carrot", "leek"])}
WIDTH, HEIGHT = len(ROWS[0]), len(ROWS)
NAMES = {"#": "counter", "P": "pot", "B": "button"}


def _sign(column, row):
    return ROWS[row][column] if 0 <= column < WIDTH and 0 <= row < HEIGHT else "."


def _evenly(outcomes):
    return [(outcome, 1.0 / len(outcomes)) for outcome in outcomes]


def _recipe(choose):
    if len(RECIPES) == 1:
        return RECIPES[0]
    return choose("recipe", _evenly([", ".join(recipe) for recipe in RECIPES])).split(", ")


def initial_state(choose):
    recipe, chefs = _recipe(choose), [{"cell": cell, "facing": "up", "item": []} for cell in STARTS]
    if ANYWHERE:
        taken = []
        for agent, chef in enumerate(chefs):
            free = [cell for cell in ROOMS[agent] if cell not in taken]
            chef["cell"] = choose("cell of chef %d" % agent, _evenly(free))
            taken.append(chef["cell"])
        for agent, chef in enumerate(chefs):
            chef["facing"] = choose("facing of chef %d" % agent, _evenly(FACINGS))
    return {"chefs": chefs, "items": {}, "timers": {}, "recipe": recipe}


def active(state):
    return [0, 1]


def legal_actions(state, agent):
    return list(ACTIONS)


def move(state, actions, choose):
    chefs = [dict(chef) for chef in state["chefs"]]
    items, timers, recipe = dict(state["items"]), dict(state["timers"]), state["recipe"]
    here, wished = [chef["cell"] for chef in chefs], []
    for chef, action in zip(chefs, actions):
        wish = chef["cell"]
        if action in STEPS:
            chef["facing"] = action
            there = [wish[0] + STEPS[action][0], wish[1] + STEPS[action][1]]
            wish = there if _sign(*there) == "." else wish
        wished.append(wish)
    if wished[0] == wished[1] or (wished == here[::-1]):
        wished = here
    for chef, cell in zip(chefs, wished):
        chef["cell"] = cell
    paid, right = 0.0, False
    for chef, action in zip(chefs, actions):
        if action == "interact":
            found, was_right = _use(chef, items, timers, recipe)
            paid, right = paid + found, right or was_right
    for cell in list(timers):
        timers[cell] -= 1
        if timers[cell] == 0:
            del timers[cell]
            if cell in items:
                items[cell] = ["cooked", *items[cell]]
    if right and REDRAWN:
        recipe = _recipe(choose)
    return {"chefs": chefs, "items": items, "timers": timers, "recipe": recipe}, [paid, paid], [False, False]


def _use(chef, items, timers, recipe):
    step = STEPS[chef["facing"]]
    cell = [chef["cell"][0] + step[0], chef["cell"][1] + step[1]]
    sign, key, held = _sign(*cell), "%d,%d" % tuple(cell), chef["item"]
    there = items.get(key, [])
    if sign in PILES or sign == "S":
        chef["item"] = held or [PILES.get(sign, "plate")]
    elif sign == "#" and (not held or not there):
        chef["item"] = there
        items[key] = held
        if not held:
            del items[key]
    elif sign == "P" and key not in timers:
        if "cooked" in there:
            if held == ["plate"]:
                chef["item"] = ["plate", *there]
                del items[key]
        elif len(held) == 1 and held[0] != "plate" and len(there) < 3:
            items[key] = sorted([*there, *held], key=ORDER.get)
            chef["item"] = []
            if len(items[key]) == 3:
                timers[key] = 20
    elif sign == "D" and "cooked" in held:
        chef["item"] = []
        if held == ["plate", "cooked", *recipe]:
            return 20.0, True
        return (-20.0 if COSTS else 0.0), False
    elif sign == "B" and not held:
        timers[key] = 10
        return -5.0, False
    return 0.0, False


def observe(state, actions, choose):
    return [_seen(state, agent) for agent in range(2)]


def _seen(state, agent):
    left, top, width, height = 0, 0, WIDTH, HEIGHT
    if SIGHT is not None:
        column, row = state["chefs"][agent]["cell"]
        left, top, width, height = column - SIGHT, row - SIGHT, 2 * SIGHT + 1, 2 * SIGHT + 1
    lit, cells, shown = [], [], False
    for row in range(top, top + height):
        for column in range(left, left + width):
            sign, key, place = _sign(column, row), "%d,%d" % (column, row), [column - left, row - top]
            if state["items"].get(key):
                timer = state["timers"].get(key, 0)
                cells.append({"cell": place, "kind": NAMES[sign], "item": state["items"][key], "timer": timer})
            if sign == "B" and key in state["timers"]:
                lit.append(place)
            shown = shown or sign == "R" or (sign == "B" and key in state["timers"])
    chefs = []
    for chef in state["chefs"]:
        column, row = chef["cell"]
        inside = left <= column < left + width and top <= row < top + height
        chefs.append({**chef, "cell": [column - left, row - top]} if inside else None)
    rows = range(top, top + height)
    return {
        "view": ["".join(_sign(column, row) for column in range(left, left + width)) for row in rows],
        "self": chefs[agent],
        "others": [chefs[1 - agent]] if chefs[1 - agent] else [],
        "cells": cells,
        "lit": lit,
        "recipe": list(state["recipe"]) if shown else None,
    }
