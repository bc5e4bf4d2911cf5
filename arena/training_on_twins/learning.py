"""PPO at seats of a twin: play, learn, play on, all compiled; it runs in the process that is shut in."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import jax
import jax.numpy as jnp

from arena.training_on_twins import judging
from arena.training_on_twins.seats import Ended, SeatGames, SeatStanding, marked
from cwm.twins.form import TwinForm
from search.learn import masked_categorical
from search.learn.api import Array, Memory, Params
from search.learn.networks.actor_critic import ActorCritic
from search.learn.networks.config import NetworkConfig
from search.learn.play import several_policies
from search.learn.ppo import ppo
from search.learn.ppo.config import PpoConfig
from search.learn.ppo.ppo import Learner
from search.learn.ppo.returns import advantages
from search.learn.ppo.rollout import Batch

RANDOM: Final = "random"
POLICY: Final = "policy"
ITSELF: Final = "itself"


@dataclass(frozen=True)
class SeatTask:
    """What is learned, and against whom.

    Attributes:
        network: the learner's.
        ppo: its settings.
        max_actions: of one game, chance's included; then it is cut.
        others: who plays the other seats: `random` players; a fixed `policy`; the learner `itself`, which then learns
            at all seats, in as many games each.
        other_network: of the fixed policy; None for none.
        partners: fixed policies, each one for every seat, of which one is drawn for each game.
    """

    network: NetworkConfig
    ppo: PpoConfig
    max_actions: int
    others: str = RANDOM
    other_network: NetworkConfig | None = None
    partners: int = 1

    @property
    def updates(self) -> int:
        """Updates of the whole training."""
        return self.ppo.updates

    @property
    def steps_per_update(self) -> int:
        """Decisions between two updates."""
        return self.ppo.steps_per_update

    def to_json(self) -> dict[str, Any]:
        """Returns the task as JSON."""
        other = None if self.other_network is None else self.other_network.to_json()
        told = {"network": self.network.to_json(), "ppo": self.ppo.to_json(), "other_network": other}
        return {"max_actions": self.max_actions, "others": self.others, "partners": self.partners, **told}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "SeatTask":
        """Returns what `to_json` wrote."""
        other = data["other_network"]
        return cls(
            NetworkConfig.from_json(data["network"]),
            PpoConfig.from_json(data["ppo"]),
            data["max_actions"],
            data["others"],
            None if other is None else NetworkConfig.from_json(other),
            data["partners"],
        )


class SeatState(NamedTuple):
    """All that a training carries.

    Attributes:
        learner: parameters and optimiser.
        standing: the E games.
        seats: int32 [E], the learner's.
        memory: the learner's, leaves [E, ...].
        starts: bool [E]: its next decision is the first of its game.
        updates: int32 [], done so far.
        key: typed key [], of everything drawn from here on.
    """

    learner: Learner
    standing: SeatStanding
    seats: Array
    memory: Memory
    starts: Array
    updates: Array
    key: Array


class UpdateCame(NamedTuple):
    """What one update came to.

    Attributes:
        losses: means over the minibatches, by name: `Losses`, or those of another method.
        ended: sums over the games that ended, scalars.
    """

    losses: Any
    ended: Ended


class SeatDecision(NamedTuple):
    """One decision of E learners; the fields are those of `Batch`."""

    observation: Array
    starts: Array
    legal: Array
    action: Array
    log_probability: Array
    value: Array


class SeatStep(NamedTuple):
    """What came of it.

    Attributes:
        step: the decision.
        reward: float32 [E].
        done: bool [E].
        cut: bool [E].
    """

    step: SeatDecision
    reward: Array
    done: Array
    cut: Array


class SeatLearner:
    """PPO at seats of one twin, as compiled functions.

    Args:
        form: of the twin.
        functions: as for `TwinGames`.
        task: what is learned.
    """

    def __init__(self, form: TwinForm, functions: Mapping[str, Callable[..., tuple[Any, ...]]], task: SeatTask) -> None:
        self.task = task
        self._form = form
        self._network = ActorCritic(task.network, len(form.actions), rank=1)
        other = {RANDOM: None, POLICY: task.other_network, ITSELF: task.network}[task.others]
        others = None if other is None else ActorCritic(other, len(form.actions), rank=1)
        self._games = SeatGames(form, functions, task.max_actions, others, task.partners, task.others != POLICY)
        # Agents are judged, and the best one found, against play by chance, whoever they learn with.
        self._judged = SeatGames(form, functions, task.max_actions)
        self.begin: Any = jax.jit(self._begin)
        self.update: Any = jax.jit(self._update, donate_argnums=0)
        self.evaluate: Any = jax.jit(self._evaluate, static_argnums=2)

    def _evaluate(self, params: Params, seat: Array, games: int, key: Array) -> Ended:
        return judging.judged(self._judged, self._network, params, seat, games, self.task.ppo.environments, key)

    def _begin(self, seed: Array, seat: Array, others: Params) -> SeatState:
        """Returns the state before the first update.

        Args:
            seed: uint32 [], of parameters and of all choices.
            seat: int32 [], the learner's; where it plays with itself, all seats come to the same.
            others: stacked parameters of fixed policies; () where there are none.
        """
        config, lanes = self.task.ppo, self.task.ppo.environments
        own = jnp.zeros_like(seat) if self.task.others == ITSELF else seat
        weights, deal, begin, following = jax.random.split(jax.random.fold_in(jax.random.key(seed), own), 4)
        example = jnp.zeros((1, lanes, self._form.width), jnp.float32)
        params = self._network.init(weights, example)
        seats = jnp.broadcast_to(seat, (lanes,))
        if self.task.others == ITSELF:
            seats = jnp.arange(lanes, dtype=jnp.int32) % self._form.num_players
        deals = self._games.deals(lanes, deal)
        return SeatState(
            Learner(params, ppo.optimiser(config).init(params)),
            self._games.begin(seats, deals, self._others(params, others), begin),
            seats,
            self._network.initial_memory(lanes),
            jnp.ones(lanes, bool),
            jnp.zeros((), jnp.int32),
            following,
        )

    def _others(self, params: Params, others: Params) -> Params:
        return several_policies.stacked([params]) if self.task.others == ITSELF else others

    def _update(self, state: SeatState, others: Params) -> tuple[SeatState, UpdateCame]:
        """Plays and learns.

        Args:
            state: before; its arrays are used up.
            others: stacked parameters of fixed policies; () where there are none.
        """
        config, params = self.task.ppo, state.learner.params
        following, deal, play, order = jax.random.split(state.key, 4)
        deals = self._games.deals(config.environments, deal)
        against = self._others(params, others)

        def step(carry: tuple[SeatState, Ended], key: Array) -> tuple[tuple[SeatState, Ended], SeatStep]:
            state, ended = carry
            choose, going_on = jax.random.split(key)
            shown = self._games.show(state.standing, state.seats)
            memory, outputs = self._network.apply(params, state.memory, shown.observation[None], state.starts[None])
            logits, value = outputs.logits[0], outputs.values[0]
            action = masked_categorical.sample(choose, logits, shown.legal)
            taken = masked_categorical.log_probability(logits, shown.legal, action)
            standing, paid = self._games.step(state.standing, action, state.seats, deals, against, going_on)
            after = state._replace(standing=standing, memory=memory, starts=paid.done)
            sums = jax.tree.map(lambda sum_, lanes: sum_ + lanes.sum(), ended, paid.ended)
            kept = SeatDecision(shown.observation, state.starts, shown.legal, action, taken, value)
            return (after, sums), SeatStep(kept, paid.reward, paid.done, paid.cut)

        none, real = jnp.zeros((), jnp.int32), jnp.zeros((), jnp.float32)
        sums = Ended(none, none, none, real, none)
        (after, ended), played = jax.lax.scan(step, (state, sums), jax.random.split(play, config.steps))
        entropy = ppo.annealed_entropy(config, state.updates)
        learner, losses = ppo.update(
            state.learner, self._network, self._batch(state, after, played), config, entropy, order
        )
        after = after._replace(learner=learner, updates=state.updates + 1, key=following)
        return after, UpdateCame(losses, marked(ended, after.standing, after.seats))

    def _batch(self, state: SeatState, after: SeatState, played: SeatStep) -> Batch:
        config, value = self.task.ppo, played.step.value
        shown = self._games.show(after.standing, after.seats)
        _, outputs = self._network.apply(
            state.learner.params, after.memory, shown.observation[None], after.starts[None]
        )
        # A game that was too long counts as if it had gone on as the critic expected.
        reward = jnp.where(played.cut, value, played.reward)
        advantage, target = advantages(reward, value, played.done, outputs.values[0], config.discount, config.gae_decay)
        return Batch(
            memory=state.memory,
            **played.step._asdict(),
            advantage=advantage,
            target=target,
            judged=~played.cut,
        )
