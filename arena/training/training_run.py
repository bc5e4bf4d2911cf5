"""Trains a recipe whose players all learn, several seeds at once: resumable to the bit, over many short runs.

The loop is shared with methods that need more than one training, or more than a training's state (`advance`).
"""

import json
import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol, TypeVar

import jax
import numpy as np

from arena.training.environments import training_env
from arena.training.recipes import Recipe
from arena.training.time_limit import TimeLimit
from arena.training.training_log import TrainingLog, check_finite
from cwm.storage.files import write_whole
from cwm.storage.lock import RunLock
from games.batched import registry
from games.batched.api import Means
from games.batched.wrappers import metrics
from search.learn import checkpoint
from search.learn.errors import DivergedError, LearnError
from search.learn.networks.actor_critic import ActorCritic
from search.learn.ppo.ppo import Learner
from search.learn.ppo.training import Trainer, UpdateReport

RUN: Final = "training.json"
CHECKPOINT_SECONDS: Final = 60.0
"""So much work is lost at most when a process is killed."""
REPORTS: Final = 200
"""A training reports about so many times."""
SNAPSHOTS: Final = "snapshots"
"""Folder of policies as they were on the way, one folder for each number of environment steps."""
FEWEST_PARTS: Final = 2
METHOD_FIELDS: Final[dict[str, tuple[str, ...]]] = {
    "obl": ("exact_belief", "fictitious_decay"),
    "fcp": ("population",),
    "sa": ("rollouts", "untrained_start"),
    "br": ("partners", "seat"),
    "klr": ("levels", "seat"),
    "sp-br": ("population", "seat"),
}
"""Fields of a recipe that are of one method alone: the checkpoints of others do not tell them."""


class TrainingError(LearnError):
    """A training cannot go on as asked; the message says why."""


@dataclass(frozen=True)
class TrainingPlan:
    """What is trained and where.

    Attributes:
        recipe: method and settings.
        seeds: one policy each, trained side by side.
        folder: keeps everything.
        devices: accelerators that share the games.
        snapshots: into how many equal parts the training falls at whose ends policies are kept; 0: at its end alone.
    """

    recipe: Recipe
    seeds: tuple[int, ...]
    folder: Path
    devices: int = 1
    snapshots: int = 0

    def __post_init__(self) -> None:
        updates = self.recipe.ppo.updates
        if self.snapshots and not FEWEST_PARTS <= self.snapshots <= updates:
            raise TrainingError(
                f"{self.snapshots} snapshots were asked for: give {FEWEST_PARTS} parts or more, and no more than the "
                f"training has updates ({updates}); the policies at its end are kept anyway."
            )


class Standing(NamedTuple):
    """How far a training is.

    Attributes:
        steps: environment steps so far: of every policy that is trained side by side, added up over stages.
        total: of the whole training.
        steps_per_second: of all policies together, in the last report.
        reports: the last numbers of every seed, by name.
        stage: which part of the training it is, "" where there is one alone.
    """

    steps: int
    total: int
    steps_per_second: float
    reports: list[dict[str, float | None]]
    stage: str = ""


Listener = Callable[[Standing], None]


class Trained(Protocol):
    """What the loop reads of a state; every leaf has a leading axis of seeds."""

    @property
    def learner(self) -> Learner: ...

    @property
    def updates(self) -> Any: ...


State = TypeVar("State", bound=Trained)
Keeper = Callable[[Trained, int], None]
"""Told where a training stands, and after how many updates."""


def trainer_of(recipe: Recipe, devices: int = 1) -> Trainer:
    """Returns the trainer of a recipe whose players all learn."""
    env = training_env(recipe)
    network = ActorCritic(recipe.network, env.num_actions)
    one_decides = not registry.make(recipe.game).simultaneous
    return Trainer(lambda _: env, network, recipe.ppo, devices=devices, one_decides=one_decides)


def train(plan: TrainingPlan, limit: TimeLimit, on_report: Listener) -> bool:
    """Trains on from where the folder stands; all players learn, from fresh deals.

    Args:
        plan: what is trained.
        limit: when to stop and keep the state.
        on_report: told after every report.

    Returns:
        Whether the training is finished; its policies then stand in `NAME-sSEED` folders.

    Raises:
        TrainingError: the folder holds another training.
        RunLockedError: another process trains in it.
        CheckpointError: its state cannot be read.
    """
    with claimed(plan):
        trainer = trainer_of(plan.recipe, plan.devices)
        state = restored(plan, trainer.init(list(plan.seeds)))
        state = advance(plan, state, trainer.run, limit, on_report)
        return finished(plan, state)


def advance(
    plan: TrainingPlan,
    state: State,
    run: Callable[[State, int], tuple[State, UpdateReport]],
    limit: TimeLimit,
    on_report: Listener,
    keep: Keeper | None = None,
) -> State:
    """Trains on, writes down how it goes, and keeps the state in the plan's folder.

    Args:
        plan: what is trained.
        state: where it stands.
        run: (state, updates) -> (state, reports). Pieces begin at multiples of `piece`.
        limit: see `train`.
        on_report: told after every piece.
        keep: writes what is to be kept on the way, given where the training stands after a piece, and, since an
            interruption may have come between, where it goes on from; default: the plan's snapshots, in its folder.

    Returns:
        The state at the end, or after the last piece for which there was time.

    Raises:
        DivergedError: losses are not finite; the state that was kept last is left as it is.
    """
    total, each = plan.recipe.ppo.updates, piece(plan.recipe)
    steps_per_update = plan.recipe.ppo.steps_per_update
    keep = keep or keeper(plan, plan.folder)
    means = plan.recipe.means
    saved = time.monotonic()
    done, diverged = updates_of(state), False
    begun = done
    keep(state, done)
    with TrainingLog(plan.folder, done * steps_per_update) as log:
        try:
            while done < total and not limit.is_up():
                count = min(each, total - done)
                before = time.monotonic()
                state, report = run(state, count)
                done += count
                found = _numbers(report, means)
                for seed, numbers in zip(plan.seeds, found, strict=True):
                    check_finite(f"{plan.recipe.name}-s{seed}", done, numbers)
                took = time.monotonic() - before
                # Every other number of updates is a program of its own.
                limit.trained(took, compiled=done - count == begun or count < each)
                rate = count * steps_per_update * len(plan.seeds) / took
                log.report(plan.seeds, done * steps_per_update, [{**one, "steps_per_second": rate} for one in found])
                on_report(Standing(done * steps_per_update, total * steps_per_update, rate, found))
                keep(state, done)
                now = time.monotonic()
                if now - saved > CHECKPOINT_SECONDS:
                    _save(plan, state)
                    saved = now
        except DivergedError:
            # Its state would take the place of the last one that was good.
            diverged = True
            raise
        finally:
            if not diverged:
                _save(plan, state)
    return state


def piece(recipe: Recipe) -> int:
    """Returns the number of updates between two reports."""
    return max(1, recipe.ppo.updates // REPORTS)


def whole_pieces(total: int, each: int, share: Fraction | float) -> int:
    """Returns the updates after which a share of all is done, in whole pieces but for the end."""
    return min(total, each * math.ceil(share * total / each))


def snapshots_at(total: int, each: int, parts: int) -> frozenset[int]:
    """Returns after which updates policies are kept on the way: of `total`, in pieces of `each`, without the end."""
    return frozenset(whole_pieces(total, each, Fraction(part, parts)) for part in range(1, parts)) - {total}


def keeper(plan: TrainingPlan, folder: Path) -> Keeper:
    """Returns what keeps the plan's snapshots in a folder."""
    ppo = plan.recipe.ppo
    marks = snapshots_at(ppo.updates, piece(plan.recipe), plan.snapshots)

    def keep(state: Trained, done: int) -> None:
        if done in marks:
            export(plan, state, folder / SNAPSHOTS / str(done * ppo.steps_per_update))

    return keep


def finished(plan: TrainingPlan, state: Trained) -> bool:
    """Writes the policies if the training is at its end; returns whether it is."""
    if updates_of(state) < plan.recipe.ppo.updates:
        return False
    export(plan, state, plan.folder)
    return True


def export(plan: TrainingPlan, state: Trained, folder: Path, suffix: str = "") -> None:
    """Writes the policy of every seed into a folder of its name in a folder; the suffix is part of the name."""
    for index, seed in enumerate(plan.seeds):
        name = f"{plan.recipe.name}-s{seed}{suffix}"
        params: Any = jax.tree.map(lambda leaf, index=index: np.asarray(leaf[index]), state.learner.params)
        checkpoint.save_policy(folder / name, params, about(plan.recipe, name, seed, updates_of(state)))


def about(recipe: Recipe, name: str, seed: int, updates: int) -> dict[str, Any]:
    """Returns what a checkpoint says of itself."""
    data = recipe.to_json()
    return {
        "name": name,
        "game": recipe.game,
        "view": recipe.view,
        "method": recipe.name,
        "scale": recipe.scale,
        "seed": seed,
        "steps": updates * recipe.ppo.steps_per_update,
        "network": data["network"],
        "ppo": data["ppo"],
        **{name: data[name] for name in METHOD_FIELDS.get(recipe.method, ()) if name in data},
    }


def read_plan(folder: Path) -> tuple[Recipe, tuple[int, ...]]:
    """Reads which training a folder holds.

    Raises:
        TrainingError: it holds none.
    """
    try:
        data = json.loads((folder / RUN).read_text())
        return Recipe.from_json(data["recipe"]), tuple(data["seeds"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise TrainingError(
            f"{folder / RUN} tells of no training that was begun here ({type(error).__name__}: {error}): choose "
            "another folder, or restore the file."
        ) from error


@contextmanager
def claimed(plan: TrainingPlan) -> Iterator[None]:
    """Claims a folder and keeps every other process out of it: two would write over each other's states.

    Raises:
        TrainingError: it holds another training.
        RunLockedError: another process trains in it.
        LearnError: the settings do not fit together, or not the machine.
    """
    _make_folder(plan)
    with RunLock(plan.folder):
        # Looked at again: while the settings were tried out, another process may have claimed the folder.
        _write_plan(plan)
        yield


def claim(plan: TrainingPlan) -> None:
    """Writes into a fresh folder which training it holds, unless that cannot even begin; it is nobody else's to claim.

    Raises:
        TrainingError: it holds another one.
        LearnError: the settings do not fit together, or not the machine.
    """
    _make_folder(plan)
    _write_plan(plan)


def _make_folder(plan: TrainingPlan) -> None:
    check(plan)
    if not (plan.folder / RUN).exists():
        # A folder that was claimed by settings with which nothing can be trained would refuse those that were meant.
        jax.eval_shape(lambda: trainer_of(plan.recipe, plan.devices).init(list(plan.seeds)))
        plan.folder.mkdir(parents=True, exist_ok=True)


def _write_plan(plan: TrainingPlan) -> None:
    check(plan)
    path = plan.folder / RUN
    if not path.exists():
        wanted = {"recipe": plan.recipe.to_json(), "seeds": list(plan.seeds)}
        write_whole(path, json.dumps(wanted, indent=2) + "\n")


def check(plan: TrainingPlan) -> None:
    """Refuses a folder in which another training was begun.

    Raises:
        TrainingError: one was.
    """
    if not (plan.folder / RUN).exists():
        return
    recipe, seeds = read_plan(plan.folder)
    if (recipe, seeds) != (plan.recipe, plan.seeds):
        raise TrainingError(
            f"{plan.folder} holds another training ({recipe.game}, {recipe.name}, seeds {', '.join(map(str, seeds))}, "
            "or other settings): go on with the settings it began with, or choose another folder."
        )


def restored(plan: TrainingPlan, state: State) -> State:
    """Returns the state that the plan's folder holds; where it holds none, the one given, which is the first.

    Raises:
        CheckpointError: it cannot be read.
    """
    if not checkpoint.has_training(plan.folder):
        return state
    found: State = checkpoint.load_training(plan.folder, state)
    return found


def updates_of(state: Trained) -> int:
    """Returns the number of updates that are done."""
    return int(np.asarray(state.updates).reshape(-1)[0])


def _save(plan: TrainingPlan, state: Trained) -> None:
    checkpoint.save_training(plan.folder, state, {"updates": updates_of(state)})


def _numbers(report: UpdateReport, told: Means | None) -> list[dict[str, float | None]]:
    """Returns the numbers of every seed: the game's metrics over all games that ended, and mean losses."""
    found = []
    for index in range(np.asarray(report.shaping).shape[0]):
        episodes = jax.tree.map(lambda value, index=index: np.asarray(value)[index].sum(axis=0), report.episodes)
        means = {name: float(np.asarray(value)[index].mean()) for name, value in report.losses._asdict().items()}
        found.append(metrics(episodes, told) | means | {"shaping": float(np.asarray(report.shaping)[index, -1])})
    return found
