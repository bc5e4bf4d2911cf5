"""Plays held-out games: the standard mixture of players on the true game, in several processes, each game once.

Game i depends on the seed and on i alone. So neither the number of processes nor what is kept from before changes one.
"""

import itertools
import time
from collections.abc import Generator
from contextlib import closing
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from arena.evaluation.kept_games import KeptGames
from arena.evaluation.mixture import NamedPolicy, collect_mixed, standard_mixture
from arena.evaluation.played_games import followed
from arena.machine.process_pool import ProcessPool
from cwm.trajectories.recorded import Trajectory, game_seed
from games import registry
from games.api import TERMINAL, Game
from games.scripted import recorded

ALONE_S = 3.0
"""So many seconds are played in this process before others are started, which takes them about one."""


def play(game: Game, seed: int, workers: int = 1, kept: Path | None = None) -> Generator[Trajectory, None, None]:
    """Yields games 0, 1, 2, … without end; close the iterator to end the processes.

    Args:
        game: the true game, as it is recorded.
        seed: of all games.
        workers: processes at once; one plays in this process. Other processes are given the game by its id.
        kept: folder of the user's cache, None for nowhere.

    Raises:
        WorkerDiedError: a process that plays ended.
    """
    store = None if kept is None else KeptGames(kept, game.info.id, seed)
    first = 0
    while store is not None and first in store:
        found = _again(game, seed, first, store[first])
        if found is None:
            store.drop(first)
            break
        yield found
        first += 1
    with closing(_fresh(game, seed, first, workers)) as played:
        for trajectory in played:
            if store is not None and trajectory.index not in store:
                store.add(trajectory.index, _actions(trajectory))
            yield trajectory


def _fresh(game: Game, seed: int, first: int, workers: int) -> Generator[Trajectory, None, None]:
    mixture = standard_mixture(game)
    shared = workers > 1 and registry.knows(game.info.id)
    began = time.monotonic()
    while not shared or time.monotonic() < began + ALONE_S:
        yield from collect_mixed(game, 1, seed, mixture, first)
        first += 1
    jobs = ({"game": game.info.id, "seed": seed, "index": index} for index in itertools.count(first))
    done: dict[int, list[str]] = {}
    with closing(ProcessPool(play_one, workers).run(jobs)) as answers:
        for job, answer in answers:
            if isinstance(answer, Exception):
                raise answer
            done[job["index"]] = answer["actions"]
            while first in done:
                played = _again(game, seed, first, done.pop(first))
                assert played is not None
                yield played
                first += 1


def play_one(job: dict[str, Any]) -> dict[str, Any]:
    """Plays one game in a process of its own; returns its actions, chance's included."""
    game, mixture = _players(job["game"])
    return {"actions": _actions(collect_mixed(game, 1, job["seed"], mixture, job["index"])[0])}


@cache
def _players(game_id: str) -> tuple[Game, list[NamedPolicy]]:
    game = recorded(game_id)
    return game, standard_mixture(game)


def _actions(trajectory: Trajectory) -> list[str]:
    return [step.action for step in trajectory.steps if step.action is not None]


def _again(game: Game, seed: int, index: int, actions: list[str]) -> Trajectory | None:
    """Returns a game that was played elsewhere, None if it is none by the rules."""
    trajectory = followed(game, index, actions)
    whole = len(trajectory.steps) == len(actions) + 1 and trajectory.steps[-1].player == TERMINAL
    return replace(trajectory, seed=game_seed(seed, index)) if whole else None
