"""Times posggym 0.6.0 and the planners of posggym-baselines, for `cwm posg speed` to set ours beside.

`PYTHON posggym_speed.py SOURCE [BASELINES]` answers lines of JSON on standard input: PYTHON is that of the environment
which `posggym_bridge.py --build` makes, SOURCE the unpacked posggym-0.6.0 there, BASELINES a folder that holds the
package `posggym_baselines` (MIT, github.com/RDLLab/posggym-baselines; neither is shipped). A question names a `game`
of ours, `what` (`step`, `pomcp`, `ipomcp`, `intmcp`, `potmmcp`), `types`, `seconds` and `steps`; an answer is `count`
and `cpu_s`, or `missing`, why there is none. Heuristic policies need none of the packages that posggym.agents imports
for networks: empty stand-ins take their place.
"""

import importlib.abc
import importlib.machinery
import importlib.util
import json
import math
import random
import sys
import time
import types
from collections.abc import Sequence
from typing import Any, Final

GAMES: Final[dict[str, tuple[str, dict[str, Any]]]] = {
    "tiger-2a": ("MultiAgentTiger-v0", {}),
    "mabc": ("MultiAccessBroadcastChannel-v0", {}),
    "rps-repeated": ("RockPaperScissors-v0", {}),
    "two-paths": ("TwoPaths-v0", {}),
    "uav": ("UAV-v0", {}),
    "cooperative-reaching": ("CooperativeReaching-v0", {}),
    "driving": ("Driving-v1", {"grid": "14x14RoundAbout", "num_agents": 2, "obs_dim": (3, 1, 1)}),
    "foraging": ("LevelBasedForaging-v3", {"num_agents": 2, "static_layout": True}),
    "predator-prey": ("PredatorPrey-v0", {}),
    "pursuit-evasion": ("PursuitEvasion-v1", {"grid": "16x16"}),
}
STEP_LIMITS: Final = {"tiger-2a": 20, "mabc": 20, "rps-repeated": 20}
"""Of games that posggym gives none."""
DISCOUNT: Final = 0.99
ABSENT: Final = (
    *("torch", "pymunk", "psutil", "requests", "clint"),
    *("pygame", "pandas", "seaborn", "matplotlib", "tqdm", "yaml"),
)


class _Nothing(type):
    def __getattr__(cls, name: str) -> Any:
        return _Stand


class _Stand(metaclass=_Nothing):
    """Stands for anything of a package that is not there; calling it returns what it is given, as a decorator does."""

    def __init__(self, *_: Any, **__: Any) -> None:
        pass

    def __call__(self, what: Any = None, *_: Any, **__: Any) -> Any:
        return self if what is None else what

    def __truediv__(self, other: Any) -> float:
        return 0.0  # psutil's memory in use, divided

    def __getattr__(self, name: str) -> Any:
        return _Stand()


class _StandIns(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Makes modules of packages that are absent."""

    def find_spec(self, name: str, path: Any, target: Any = None) -> Any:
        if name.split(".")[0] in ABSENT or name.startswith("posggym_baselines.ppo"):
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec: Any) -> types.ModuleType:
        module = types.ModuleType(spec.name)
        module.__getattr__ = lambda name: _Stand  # type: ignore[method-assign]
        module.__path__ = []
        return module

    def exec_module(self, module: types.ModuleType) -> None:
        pass


def made(game: str) -> Any:
    """Returns posggym's environment of a game of ours."""
    import posggym

    name, params = GAMES[game]
    return posggym.make(name, **params)


def time_steps(game: str, seconds: float) -> tuple[int, float]:
    """Plays random joint actions; returns steps, and seconds of CPU time."""
    model = made(game).model
    rng = random.Random(0)
    agents = model.possible_agents
    actions = {agent: list(range(model.action_spaces[agent].n)) for agent in agents}
    count, begin = 0, time.process_time()
    while True:
        state = model.sample_initial_state()
        model.sample_initial_obs(state)
        for _ in range(STEP_LIMITS.get(game, 50)):
            joint = {agent: actions[agent][int(rng.random() * len(actions[agent]))] for agent in agents}
            step = model.step(state, joint)
            state = step.state
            count += 1
            if step.all_done:
                break
        spent = time.process_time() - begin
        if spent >= seconds:
            return count, spent


def policy_id(game: str, name: str) -> str:
    """Returns posggym's id of a policy of ours."""
    env_id = GAMES[game][0]
    if name == "uniform":
        return "Random-v0"
    if game == "driving":
        return f"{env_id}/{name}Shortestpath-v0"
    return f"{env_id}/{name}-v0"


def planner(game: str, what: str, names: Sequence[str], seconds: float, model: Any) -> Any:
    """Returns a planner of posggym-baselines for the first agent, with the settings of the paper."""
    from posggym_baselines.planning import (
        INTMCP,
        IPOMCP,
        POMCP,
        POTMMCP,
        MCTSConfig,
        OtherAgentMixturePolicy,
        POTMMCPMetaPolicy,
        RandomSearchPolicy,
    )

    ego, other = model.possible_agents[:2]
    config = MCTSConfig(
        discount=DISCOUNT,
        search_time_limit=seconds,
        c=1.25 if what == "potmmcp" else math.sqrt(2.0),
        truncated=False,
        action_selection="pucb" if what == "potmmcp" else "ucb",
        pucb_exploration_fraction=0.25,
        step_limit=STEP_LIMITS.get(game),
        seed=0,
        state_belief_only=what == "pomcp",
    )
    if what == "pomcp":
        return POMCP(model, ego, config, RandomSearchPolicy(model, ego))
    if what == "intmcp":
        return INTMCP.initialize(model, ego, config, 2, None)
    ids = [policy_id(game, name) for name in names]
    others = {other: OtherAgentMixturePolicy.load_posggym_agents_policy(model, other, ids)}
    if what == "ipomcp":
        return IPOMCP(model, ego, config, others, RandomSearchPolicy(model, ego))
    meta = {theirs: dict.fromkeys(ids, 1.0 / len(ids)) for theirs in ids}
    lead = POTMMCPMetaPolicy.load_posggym_agents_meta_policy(model, ego, meta)
    return POTMMCP(model, ego, config, others, lead)


def time_planner(game: str, what: str, names: Sequence[str], seconds: float, steps: int) -> tuple[int, float]:
    """Plays the first steps of a game with a random other; returns simulations, and seconds of CPU time."""
    env = made(game)
    model = env.model
    one = planner(game, what, names, seconds, model)
    ego, other = model.possible_agents[:2]
    rng = random.Random(0)
    observations, _ = env.reset(seed=0)
    one.reset()
    count, spent = 0, 0.0
    for _ in range(steps):
        begin = time.process_time()
        action = one.step(observations[ego])
        spent += time.process_time() - begin
        count += int(one.step_statistics["num_sims"])
        joint = {ego: action, other: int(rng.random() * model.action_spaces[other].n)}
        observations, _, _, _, done, _ = env.step(joint)
        if done:
            break
    return count, spent


def main() -> None:
    """Answers until there are no more questions."""
    answers, sys.stdout = sys.stdout, sys.stderr
    sys.path[:0] = sys.argv[1:]
    sys.meta_path.append(_StandIns())
    for line in sys.stdin:
        asked = json.loads(line)
        game, what = asked["game"], asked["what"]
        try:
            if game not in GAMES:
                raise KeyError(f"posggym has no {game}")
            if what == "step":
                count, spent = time_steps(game, asked["seconds"])
            else:
                count, spent = time_planner(game, what, asked["types"], asked["seconds"], asked["steps"])
            answer: dict[str, Any] = {"count": count, "cpu_s": spent}
        except Exception as error:
            answer = {"missing": f"{type(error).__name__}: {error}"}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
