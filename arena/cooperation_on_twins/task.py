"""What is learned together on a twin, and the compiled functions that learn it and that let policies play."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from arena.cooperation_on_twins.environment import Renaming, TwinEnv
from cwm.twins.form import TwinForm
from games.batched.api import Outcome
from games.batched.keys import root_key
from games.batched.wrappers import no_episodes
from search.learn.api import Params
from search.learn.methods.augmented import AugmentedState, AugmentedTrainer
from search.learn.methods.population import FictitiousPartners
from search.learn.networks.actor_critic import ActorCritic
from search.learn.networks.config import NetworkConfig
from search.learn.networks.own_turns import OwnTurns
from search.learn.play.evaluation import Policy, PolicyEvaluator, StepReader
from search.learn.ppo.config import PpoConfig
from search.learn.ppo.losses import Losses
from search.learn.ppo.training import Trainer, TrainingState, UpdateReport


@dataclass(frozen=True)
class TeamTask:
    """What is learned, and who plays.

    Attributes:
        network: the learner's.
        ppo: its settings.
        max_actions: of players in one game; then it is cut.
        seeds: of the policies, which are trained side by side.
        partners: whether all players but one are drawn from a frozen population; else all are the learner.
        symmetries: whether players see the game through symmetries of their own.
        begins: after which updates all ordered pairs of the policies play, and states of their games are kept, at which
            games begin from then on (state-augmented self-play); () for games that begin with a deal.
        rollouts: games of each pair then.
    """

    network: NetworkConfig
    ppo: PpoConfig
    max_actions: int
    seeds: tuple[int, ...]
    partners: bool = False
    symmetries: bool = False
    begins: tuple[int, ...] = ()
    rollouts: int = 0

    def to_json(self) -> dict[str, Any]:
        """Returns the task as JSON."""
        told = {"network": self.network.to_json(), "ppo": self.ppo.to_json(), "max_actions": self.max_actions}
        told |= {"seeds": list(self.seeds), "partners": self.partners, "symmetries": self.symmetries}
        return {**told, "begins": list(self.begins), "rollouts": self.rollouts}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "TeamTask":
        """Returns what `to_json` wrote."""
        network, ppo = NetworkConfig.from_json(data["network"]), PpoConfig.from_json(data["ppo"])
        told = {name: data[name] for name in ("partners", "symmetries", "rollouts")}
        return cls(network, ppo, data["max_actions"], tuple(data["seeds"]), begins=tuple(data["begins"]), **told)


AT_ONCE: Final = 4096
"""Games that are played in one call: their memory does not grow with the games that are asked for."""

Functions = Mapping[str, Callable[..., tuple[Any, ...]]]
TeamState: TypeAlias = TrainingState | AugmentedState


class TeamLearner:
    """Learning on one twin as compiled functions.

    Args:
        form: of the twin.
        functions: as for `TwinEnv`.
        task: what is learned.
        members: of the frozen population, stacked; () for none.
        symmetries: through which players see the game; None for none.
    """

    def __init__(
        self, form: TwinForm, functions: Functions, task: TeamTask, members: Params, symmetries: Renaming | None
    ) -> None:
        env = TwinEnv(form, functions, task.max_actions, symmetries)
        network = OwnTurns(ActorCritic(task.network, len(form.actions), rank=1))
        self._task = task
        self._env = env
        self._members = members
        self._augmented: AugmentedTrainer | None = None
        if task.begins:
            self._augmented = AugmentedTrainer(
                env, network, task.ppo, task.seeds, frozenset(task.begins), task.rollouts, task.max_actions, True
            )
        elif task.partners:
            self._trainer = Trainer(lambda members: FictitiousPartners(env, network, members), network, task.ppo)
        else:
            self._trainer = Trainer(lambda _: env, network, task.ppo, one_decides=True)

    def begin(self) -> TeamState:
        """Returns the state before the first update, every leaf with a leading axis of seeds.

        Raises:
            PpoConfigError: the games cannot be shared out over the minibatches.
        """
        if self._augmented is not None:
            return self._augmented.init()
        return self._trainer.init(list(self._task.seeds), self._members)

    def run(self, state: Any, updates: int) -> tuple[TeamState, UpdateReport]:
        """Returns the state after more updates, and what each came to; the state's arrays are used up.

        Args:
            state: as `begin` or `run` returned it.
            updates: how many; they must not go on beyond one after which states are kept.
        """
        if self._augmented is not None:
            return self._augmented.run(state, updates)
        return self._trainer.run(state, updates, self._members)

    def report_shapes(self, updates: int) -> UpdateReport:
        """Returns the shapes of what so many updates come to, [seeds, updates]."""
        axes = len(self._task.seeds), updates
        array_of: Any = jax.ShapeDtypeStruct
        real = array_of(axes, jnp.float32)
        episodes = jax.eval_shape(partial(no_episodes, self._env))
        summed = jax.tree.map(lambda leaf: array_of(axes, leaf.dtype), episodes)
        return UpdateReport(Losses(*[real] * len(Losses._fields)), summed, real, real)


class TwinTable:
    """Whole games of trained policies on one twin, all at once.

    Args:
        form: of the twin.
        functions: as for `TwinEnv`.
        max_actions: of players in one game; then it is cut.
        policies: network and parameters of each.
    """

    def __init__(
        self,
        form: TwinForm,
        functions: Functions,
        max_actions: int,
        policies: Sequence[tuple[NetworkConfig, Mapping[str, NDArray[np.float32]]]],
    ) -> None:
        self._env = TwinEnv(form, functions, max_actions)
        readers: dict[NetworkConfig, StepReader] = {}
        self._policies = []
        for config, params in policies:
            network = OwnTurns(ActorCritic(config, len(form.actions), rank=1))
            reader = readers.setdefault(config, StepReader(network, self._env))
            self._policies.append(Policy(reader, jax.device_put(params)))
        self._evaluators = {greedy: PolicyEvaluator(self._env, max_actions, greedy=greedy) for greedy in (False, True)}

    def play(self, seating: Sequence[int], games: int, seed: int, greedy: bool) -> Outcome:
        """Plays one game on each of many deals, which are the same whoever plays.

        Args:
            seating: number of the policy of every seat.
            games: how many.
            seed: of deals, and of what policies draw.
            greedy: take each policy's likeliest action.
        """
        deals = jax.random.split(root_key("deals", seed), games)
        draws = jax.random.split(root_key("draws", seed, *seating), games)
        seats = [self._policies[number] for number in seating]
        lots = [slice(begin, begin + AT_ONCE) for begin in range(0, games, AT_ONCE)]
        found = [self._evaluators[greedy].play(seats, deals[lot], draws[lot]).outcome for lot in lots]
        joined: Outcome = jax.tree.map(lambda *parts: np.concatenate(parts), *found)
        return joined
