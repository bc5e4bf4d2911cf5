"""Every policy with every other one of its training, for all trainings in a folder; pairs are kept as they end."""

import json
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any, Final

import numpy as np

from arena.checkpoints import on_game
from arena.checkpoints.on_game import LearnedPolicy
from arena.papers.overcooked.published.cells import EPISODES
from arena.papers.overcooked.tables.returns import FIGURES, TrainedCross
from arena.policy_play.cross_play import PolicyTable
from arena.training import overcooked, training_run
from arena.usage import UsageError
from cwm.storage.files import write_whole
from search.learn import checkpoint

KEPT: Final = "matrix.json"
OnPair = Callable[[int, int], None]
"""Told the number of pairs that were played, and that of all."""


def trainings(folder: Path) -> list[Path]:
    """Returns the folders of finished trainings on OvercookedV2 that a folder is or holds, in order.

    Raises:
        UsageError: there is none.
    """
    found = []
    for path in sorted(folder.glob(f"**/{training_run.RUN}")):
        recipe, seeds = training_run.read_plan(path.parent)
        whole = all((path.parent / f"{recipe.name}-s{seed}" / checkpoint.ABOUT).exists() for seed in seeds)
        if overcooked.knows(recipe.game) and whole and not path.parent.name.startswith("population-"):
            found.append(path.parent)
    if not found:
        raise UsageError(
            f"{folder} holds no finished training on OvercookedV2: give a folder of `cwm train overcooked`, or one "
            "that holds several."
        )
    return found


def played(folder: Path, told: OnPair, episodes: int = EPISODES) -> TrainedCross:
    """Plays the pairs of a training that its folder has no result of yet, and returns those of all.

    Args:
        folder: of a finished training.
        told: see `OnPair`.
        episodes: of every ordered pair, on the same deals.

    Raises:
        CheckpointError: a policy cannot be read.
    """
    recipe, seeds = training_run.read_plan(folder)
    chosen = [on_game.load(folder / f"{recipe.name}-s{seed}") for seed in seeds]
    hashes = {policy.name: on_game.content_hash(folder / policy.name) for policy in chosen}
    results = _results(folder, hashes, episodes)
    pairs = [(one.name, other.name) for one, other in product(chosen, chosen)]
    table: PolicyTable | None = None
    for number, pair in enumerate(pairs, start=1):
        key = " + ".join(pair)
        if key not in results:
            table = table or PolicyTable(chosen)
            results[key] = _pair(table, pair, episodes)
            kept = {"episodes": episodes, "policies": hashes, "pairs": results}
            write_whole(folder / KEPT, json.dumps(kept, indent=1) + "\n")
        told(number, len(pairs))
    return _cross(recipe, chosen, results)


def _results(folder: Path, hashes: Mapping[str, str], episodes: int) -> dict[str, dict[str, float]]:
    """Returns results that were kept of the same policies."""
    try:
        kept = json.loads((folder / KEPT).read_text())
        if kept["policies"] == dict(hashes) and kept["episodes"] == episodes:
            pairs: dict[str, dict[str, float]] = kept["pairs"]
            return pairs
    except (OSError, ValueError, KeyError, TypeError):
        pass  # nothing that can be read: everything is played anew
    return {}


def _pair(table: PolicyTable, pair: tuple[str, str], episodes: int) -> dict[str, float]:
    outcome = table.play(table.evaluator(greedy=False), pair, table.deals(episodes, 0), 0).outcome
    values = {"return": outcome.total} | {name: outcome.figures[name] for name in FIGURES}
    return {name: float(np.asarray(found, np.float64).mean()) for name, found in values.items()}


def _cross(recipe: Any, chosen: Sequence[LearnedPolicy], results: Mapping[str, Mapping[str, float]]) -> TrainedCross:
    names = [policy.name for policy in chosen]

    def by_pair(figure: str) -> list[list[float]]:
        return [[results[f"{one} + {other}"][figure] for other in names] for one in names]

    figures = {}
    for name in FIGURES:
        values = np.array(by_pair(name))
        apart = values[~np.eye(len(names), dtype=bool)]
        figures[name] = (float(values.diagonal().mean()), float(apart.mean()) if apart.size else None)
    returns = tuple(map(tuple, by_pair("return")))
    steps = recipe.ppo.updates * recipe.ppo.steps_per_update
    return TrainedCross(recipe.game, recipe.name, recipe.scale, steps, tuple(names), returns, figures)
