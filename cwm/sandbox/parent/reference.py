"""A program that ships with the project and is right for every game: a check on code of ours that failed.

It is asked what a program was asked at whose answers our code failed. Where our code fails again, it is at fault.
"""

from dataclasses import replace

from cwm.sandbox.wire.api import ProgramSource

SOURCE = """
ACTIONS = ["a", "b"]
TURNS = 4


def _count(state):
    count = state.get("count", 0) if isinstance(state, dict) else 0
    return count if isinstance(count, int) else 0


def get_current_player(state):
    count = _count(state)
    return -4 if count >= TURNS else count % INITIAL_STATE["players"]


def get_legal_actions(state):
    return [] if _count(state) >= TURNS else list(ACTIONS)


def get_chance_outcomes(state):
    return []


def apply_action(state, action):
    return {"count": _count(state) + 1, "players": INITIAL_STATE["players"]}


def get_rewards(state):
    return [0.0] * INITIAL_STATE["players"]


def get_observations(state):
    return [{"count": _count(state)} for _ in range(INITIAL_STATE["players"])]


def resample_history(history, player, last_is_terminal=False):
    return [action for _, action in history if action is not None]


def resample_state(history, player):
    return {"count": len([action for _, action in history if action is not None]), "players": INITIAL_STATE["players"]}


def get_player_name(player):
    return str(player)


def list_actions():
    return list(ACTIONS)


def list_chance_outcomes():
    return []


def encode(state):
    return {"count": _count(state)}


def decode(arrays):
    return {"count": arrays["count"], "players": INITIAL_STATE["players"]}


def init():
    import numpy

    return {"count": numpy.zeros((), "int32")}


def step(arrays, index):
    return {"count": arrays["count"] + 1}


def player(arrays):
    return arrays["count"] % INITIAL_STATE["players"]


def legal(arrays):
    return [arrays["count"] < TURNS for _ in ACTIONS]


def chance(arrays):
    return []


def rewards(arrays):
    return [0.0] * INITIAL_STATE["players"]


def observe(arrays, player_id):
    return [arrays["count"]]
"""
"""Functions of a game as a program, and as a program on arrays (`cwm.interface.twin`)."""
JOINT = """
LIMIT = 4


def initial_state(choose):
    return {"count": 0}


def active(state):
    return list(range(len(ACTIONS))) if state["count"] < LIMIT else []


def legal_actions(state, agent):
    return list(ACTIONS[agent]) if state["count"] < LIMIT else []


def move(state, actions, choose):
    count = state["count"] + 1
    return {"count": count}, [0.0] * len(ACTIONS), [count >= LIMIT] * len(ACTIONS)


def observe(state, actions, choose):
    return [{"count": state["count"]} for _ in ACTIONS]
"""
"""A program with a joint step; `ACTIONS` come before it."""
VALUE = "def value_function(state, player):\n    return 0.0\n"
PRIOR = "def policy_prior(state, actions, player):\n    return [1.0 / len(actions) for _ in actions]\n"


def beside(program: ProgramSource) -> ProgramSource:
    """Returns the program to ask in place of `program`: of the same kind of game, and with the same functions."""
    if program.joint:
        actions = [list(each) for each in program.info["joint"]["actions"]]
        return replace(program, source=f"ACTIONS = {actions!r}\n{JOINT}", value_source=None, prior_source=None)
    return replace(
        program,
        source=SOURCE,
        initial_state={"count": 0, "players": program.info["num_players"]},
        value_source=VALUE if program.value_source else None,
        prior_source=PRIOR if program.prior_source else None,
    )
