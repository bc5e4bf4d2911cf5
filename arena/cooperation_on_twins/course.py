"""Trains policies to play together on a model's twin, by a method; resumable to the bit."""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Final

import jax
import numpy as np

from arena.checkpoints.places import seat_folder
from arena.cooperation_on_twins import symmetries
from arena.cooperation_on_twins.environment import Renaming
from arena.cooperation_on_twins.process import TeamProcess
from arena.cooperation_on_twins.symmetries import Symmetries
from arena.cooperation_on_twins.task import TeamTask
from arena.training import fictitious_co_play, state_augmented, training_run
from arena.training.recipes import Recipe, reduced_ppo
from arena.training.time_limit import TimeLimit
from arena.training.training_run import Listener, Standing, Trained, TrainingPlan
from arena.training_on_models.course import Made, about_policy, keep
from arena.training_on_models.lesson import Lesson
from arena.training_on_models.results import Results
from arena.training_on_models.training import Clock
from arena.usage import UsageError
from cwm.model.bundle import ModelBundle
from cwm.storage import stored_json
from cwm.storage.files import write_whole
from cwm.storage.lock import RunLock
from cwm.twins.compiled import CompiledTwin
from cwm.twins.form import TwinForm
from cwm.twins.stored import StoredTwin
from games.batched.api import Means
from search.learn import checkpoint
from search.learn.api import Params
from search.learn.networks.config import NetworkConfig
from search.learn.ppo.config import PpoConfig

METHODS: Final = {
    "sp": "Self-Play IPPO",
    "he": "High-Entropy IPPO",
    "op": "Other-Play",
    "fcp": "Fictitious Co-Play",
    "sa": "State-Augmented Self-Play",
}
KIND: Final = "cooperation on a twin"
SYMMETRIES: Final = "symmetries.json"
MOST_ACTIONS: Final = 2000
"""Of players in a game whose model does not say how long it can be."""
MOST_STEPS: Final = 128
"""Of every game between two updates."""
JUDGED: Final = 1000
"""Games of a trained policy with itself, which its checkpoint tells of."""


@dataclass(frozen=True)
class TeamSettings:
    """Settings of a training; those of small networks that two processor cores can train.

    Attributes:
        method: see `METHODS`.
        steps: environment steps of each policy, of the population of Fictitious Co-Play as well.
        environments: games at once, for each policy.
        hidden: width of the network's layers.
        entropy: coefficient of the entropy; None: that of the method.
        population: policies that an agent of Fictitious Co-Play is trained with, each at three ages.
    """

    method: str = "sp"
    steps: int = 2_500_000
    environments: int = 128
    hidden: int = 64
    entropy: float | None = None
    population: int = 8


@dataclass(frozen=True)
class TwinRecipe(Recipe):
    """A recipe on a twin, whose game need not be registered."""

    @property
    def means(self) -> Means | None:
        """None: the mean of every figure."""
        return None


class TeamCourse:
    """Trainings of one method on the twin of one cooperative model.

    Args:
        bundle: the model.
        twin: its own.
        settings: the same in every call on a folder.
        seeds: one policy each.
        folder: keeps everything; made if it is missing.

    Raises:
        UsageError: the model's players are not paid alike, there is no such method, or it needs more seeds.
    """

    def __init__(
        self, bundle: ModelBundle, twin: StoredTwin, settings: TeamSettings, seeds: tuple[int, ...], folder: Path
    ) -> None:
        info = bundle.game_info
        if settings.method not in METHODS:
            raise UsageError(f"There is no method {settings.method!r}: choose one of {', '.join(METHODS)}.")
        if info.utility != "identical" or info.num_players < 2:
            raise UsageError(
                f"{info.id} is no cooperative game of several players, in which all are paid alike: its agents learn "
                "with `cwm train ppo`."
            )
        self.max_actions = info.max_length or MOST_ACTIONS
        network = NetworkConfig(encoder="mlp", layers=2, hidden=settings.hidden, filters=settings.hidden)
        steps = min(self.max_actions, MOST_STEPS)
        ppo = reduced_ppo(settings.method, settings.steps, steps, settings.environments)
        if settings.entropy is not None:
            ppo = replace(ppo, entropy=settings.entropy)
        recipe = TwinRecipe(info.id, settings.method, "reduced", False, network, ppo, population=settings.population)
        if settings.method == "sa" and len(seeds) < state_augmented.FEWEST:
            raise UsageError(
                f"sa trains policies on states that pairs of them reach, but there is one seed, {seeds[0]}: give at "
                "least two by the option `seeds`, e.g. 0,1."
            )
        self.plan = TrainingPlan(recipe, seeds, folder)
        self._bundle = bundle
        self._twin = twin
        self._settings = settings
        self._lesson = Lesson(bundle, 0, twin.traced.form.actions, {"schema": twin.schema}, {})
        self._clock = Clock()

    @property
    def names(self) -> list[str]:
        """Of the policies, which lie in folders of these names."""
        return [f"{self.plan.recipe.name}-s{seed}" for seed in self.plan.seeds]

    def train(self, limit: TimeLimit, on_report: Listener, say: Callable[[str], None]) -> bool:
        """Trains on from where the folder stands; returns whether all policies are there.

        Args:
            limit: when to stop and keep the state.
            on_report: told after every report.
            say: told in words what begins.

        Raises:
            UsageError: the folder holds another training, or Other-Play finds no symmetry.
            RunLockedError: another process trains in it.
            LearnError: the settings do not fit together, or what it learns from cannot be learned.
            TwinProblemError: the process ended, or answered otherwise than it can; what was kept is kept.
            SandboxUnavailableError: the process cannot be locked.
        """
        folder = self.plan.folder
        if not folder.exists():
            # Settings with which nothing can be trained claim no folder.
            self.plan.recipe.ppo.check_lanes(self.plan.recipe.ppo.environments)
        folder.mkdir(parents=True, exist_ok=True)
        with RunLock(folder):
            told = {"kind": KIND, "game": self._bundle.info["id"], "model": self._bundle.hash, "twin": self._twin.hash}
            keep(folder, told | {"settings": asdict(self._settings), "seeds": list(self.plan.seeds)})
            if all((seat_folder(folder / name, 0) / checkpoint.ABOUT).exists() for name in self.names):
                return True
            if self._settings.method == "fcp":
                return self._with_partners(limit, on_report, say)
            seen = self._symmetries(say) if self._settings.method == "op" else None
            say("compiling the twin and what learns on it")
            task = self._task(self.plan, symmetries=seen is not None, **self._starts())
            with TeamProcess(self._twin.traced, task, symmetries=seen) as process:
                return self._trained(self.plan, process, limit, on_report, self.plan.folder)

    def _starts(self) -> dict[str, Any]:
        """Returns where games begin, as a task tells of it."""
        recipe = self.plan.recipe
        if recipe.method != "sa":
            return {}
        return {"begins": tuple(sorted(state_augmented.iterations(recipe))), "rollouts": recipe.rollouts}

    def _task(self, plan: TrainingPlan, **flags: Any) -> TeamTask:
        return TeamTask(plan.recipe.network, plan.recipe.ppo, self.max_actions, plan.seeds, **flags)

    def _trained(
        self, plan: TrainingPlan, process: TeamProcess, limit: TimeLimit, on_report: Listener, folder: Path
    ) -> bool:
        """Trains to the end if there is time, and writes the policies into a folder; returns whether it did."""
        state = _advanced(plan, process, limit, on_report, lambda state, done: None)
        if training_run.updates_of(state) < plan.recipe.ppo.updates:
            return False
        params = [_params_of(state, place) for place in range(len(plan.seeds))]
        process.seat([(plan.recipe.network, one) for one in params])
        players = self._bundle.game_info.num_players
        for place, (seed, one) in enumerate(zip(plan.seeds, params, strict=True)):
            found = process.play([place] * players, JUDGED, seed)
            results = Results(JUDGED, 0.0, 0.0, float(found.total.mean()))
            self._export(folder / f"{plan.recipe.name}-s{seed}", one, seed, results)
        return True

    def _export(self, folder: Path, params: Params, seed: int, results: Results) -> None:
        """Writes a policy, which plays all seats alike, where agents look for it: once a seat."""
        recipe = self.plan.recipe
        steps = recipe.ppo.updates * recipe.ppo.steps_per_update
        made = Made(recipe.network, self._twin.traced.form.width, steps, seed, asdict(self._settings))
        told = {"name": folder.name, "method": recipe.name, "trained_on": {"twin": self._twin.hash}}
        for seat in reversed(range(self._bundle.game_info.num_players)):
            about = about_policy(replace(self._lesson, seat=seat), made, results, self._clock)
            checkpoint.save_policy(seat_folder(folder, seat), params, about | told)

    def _with_partners(self, limit: TimeLimit, on_report: Listener, say: Callable[[str], None]) -> bool:
        """Trains a population for each seed, and a policy with it."""
        for index, seed in enumerate(self.plan.seeds):
            own = replace(self.plan, seeds=(seed,))
            population = fictitious_co_play.population_plan(own)
            names = fictitious_co_play.members(population)
            if not all((population.folder / name / checkpoint.ABOUT).exists() for name in names):
                say(f"compiling the twin and what the population of seed {seed} learns on it")
                told = _told(on_report, self.plan, 2 * index, f"population of {len(population.seeds)}")
                with TeamProcess(self._twin.traced, self._task(population)) as process:
                    if not self._population(population, process, limit, told):
                        return False
            if (seat_folder(own.folder / f"fcp-s{seed}", 0) / checkpoint.ABOUT).exists():
                continue
            if limit.is_up():
                return False
            say(f"compiling the twin and what learns with the population of seed {seed}")
            members = checkpoint.arrays_of(fictitious_co_play.load(population))
            stage = replace(own, folder=own.folder / f"fcp-s{seed}")
            told = _told(on_report, self.plan, 2 * index + 1, f"fcp-s{seed}")
            with TeamProcess(self._twin.traced, self._task(stage, partners=True), members) as process:
                if not self._trained(stage, process, limit, told, own.folder):
                    return False
        return True

    def _population(self, plan: TrainingPlan, process: TeamProcess, limit: TimeLimit, on_report: Listener) -> bool:
        """Trains a population and keeps its members at their ages; returns whether all are there."""
        total, each = plan.recipe.ppo.updates, training_run.piece(plan.recipe)
        ages = [training_run.whole_pieces(total, each, share) for share in fictitious_co_play.AGES]

        def keep_members(state: Trained, done: int) -> None:
            marks = [f"-age{age}" for age, at in enumerate(ages, start=1) if at == done]
            for suffix in [*marks, *([""] if done == total else [])]:
                for place, seed in enumerate(plan.seeds):
                    name = f"{plan.recipe.name}-s{seed}{suffix}"
                    told = {"kind": KIND, "name": name, "network": plan.recipe.network.to_json(), "updates": done}
                    checkpoint.save_policy(plan.folder / name, _params_of(state, place), told)

        return training_run.updates_of(_advanced(plan, process, limit, on_report, keep_members)) == total

    def _symmetries(self, say: Callable[[str], None]) -> Renaming:
        """Returns the symmetries of the game, found at the first time."""
        path = self.plan.folder / SYMMETRIES
        form = self._twin.traced.form
        if not path.exists():
            say("looking for symmetries of the game")
            with CompiledTwin(self._twin.traced, symmetries.GAMES) as twin:
                found = symmetries.find(form, twin, 0, lambda done, of: None)
            tables = {name: part.tolist() for name, part in found.renaming._asdict().items()}
            told = {"titles": list(found.titles), **tables}
            write_whole(path, json.dumps(told) + "\n")
        found = stored_json.read(
            path, partial(_symmetries_of, form), UsageError, f"delete {path} to look for them anew"
        )
        if len(found) < 2:
            raise UsageError(
                f"No symmetry of {self._bundle.info['id']} was found: no renaming of its actions and outcomes left its "
                "games what they are, and without one Other-Play is self-play; choose another method."
            )
        say(f"{len(found)} symmetries confirmed by games of the twin: {'; '.join(found.titles)}")
        return found.renaming


def table(bundle: ModelBundle, twin: StoredTwin) -> TeamProcess:
    """Returns a process in which policies play whole games on a twin; nothing is learned there."""
    longest = bundle.game_info.max_length or MOST_ACTIONS
    unused = TeamTask(NetworkConfig(encoder="mlp", hidden=1, filters=1, layers=1), PpoConfig(), longest, (0,))
    return TeamProcess(twin.traced, unused)


def _symmetries_of(form: TwinForm, stored: dict[str, Any]) -> Symmetries:
    lists = {"actions": len(form.actions), "outcomes": len(form.outcomes)}
    rows = len(stored["actions"])
    actions, outcomes = (np.array(stored[name], np.int32).reshape(rows, count) for name, count in lists.items())
    for table, count in zip((actions, outcomes), lists.values(), strict=True):
        if (np.sort(table, axis=1) != np.arange(count)).any():
            raise ValueError("a renaming is no permutation of the twin's actions or outcomes")
    return Symmetries(tuple(stored["titles"]), Renaming(actions, outcomes))


def _advanced(
    plan: TrainingPlan,
    process: TeamProcess,
    limit: TimeLimit,
    on_report: Listener,
    keep_members: Callable[[Trained, int], None],
) -> Trained:
    """Trains on from where a plan's folder stands."""
    plan.folder.mkdir(parents=True, exist_ok=True)
    if checkpoint.has_training(plan.folder):
        state = process.resume(checkpoint.load_training(plan.folder, process.shapes))
    else:
        state = process.begin()
    return training_run.advance(plan, state, process.run, limit, on_report, keep_members)


def _params_of(state: Trained, place: int) -> Params:
    return jax.tree.map(lambda leaf: np.asarray(leaf[place]), state.learner.params)


def _told(on_report: Listener, plan: TrainingPlan, before: int, stage: str) -> Listener:
    """Returns a listener of one of the equally long stages of a whole training."""

    def told(standing: Standing) -> None:
        steps, total = before * standing.total + standing.steps, 2 * len(plan.seeds) * standing.total
        on_report(standing._replace(steps=steps, total=total, stage=stage))

    return told
