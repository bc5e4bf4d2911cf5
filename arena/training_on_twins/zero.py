"""AlphaZero on a twin: games with itself by a search whose model is the twin, and a network that learns from them.

Searches are those of mctx (Gumbel MuZero, Danihelka et al., 2022) on the twin's own states. For two players of
opposed interests, who see everything, in games without chance.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final, NamedTuple

import jax
import jax.numpy as jnp
import mctx
import optax

from arena.training_on_twins import judging
from arena.training_on_twins.learning import UpdateCame
from arena.training_on_twins.seats import Ended, SeatGames
from cwm.twins.form import TwinForm
from cwm.twins.play import TERMINAL, TwinGames, uniform_actions
from search.learn import masked_categorical
from search.learn.api import Array, Params
from search.learn.networks.actor_critic import ActorCritic
from search.learn.networks.config import NetworkConfig
from search.learn.play.seats import of_player
from search.learn.ppo.ppo import Learner

MOST_NORM: Final = 1.0
"""Gradients of a larger norm are scaled down to it."""


@dataclass(frozen=True)
class ZeroTask:
    """What is learned.

    Attributes:
        steps: decisions of the whole training.
        environments: games side by side.
        horizon: decisions of each between two updates.
        minibatches: into which an update's decisions fall.
        simulations: of the search, for each decision.
        learning_rate: of Adam.
        hidden: width of the network's layers.
        layers: of its encoder; another one follows.
        max_actions: of one game; then it is cut.
        opening: a game begins with random actions, at most so many: two good players would meet little of a game.
    """

    steps: int
    environments: int = 200
    horizon: int = 50
    minibatches: int = 20
    simulations: int = 32
    learning_rate: float = 1e-3
    hidden: int = 256
    layers: int = 2
    max_actions: int = 2000
    opening: int = 6

    @property
    def steps_per_update(self) -> int:
        """Decisions between two updates."""
        return self.environments * self.horizon

    @property
    def updates(self) -> int:
        """Updates of the whole training."""
        return self.steps // self.steps_per_update

    @property
    def network(self) -> NetworkConfig:
        """The network's settings."""
        width = {"hidden": self.hidden, "filters": self.hidden, "layers": self.layers}
        return NetworkConfig(encoder="mlp", core="none", activation="relu", **width)  # type: ignore[arg-type]

    def to_json(self) -> dict[str, Any]:
        """Returns the task as JSON."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "ZeroTask":
        """Returns what `to_json` wrote."""
        return cls(**data)


class ZeroState(NamedTuple):
    """All that a training carries.

    Attributes:
        learner: parameters and optimiser.
        games: of the twin, leaves [E, ...].
        lengths: int32 [E], actions so far.
        totals: float32 [E], what the first player was paid so far.
        openings: int32 [E], random actions with which the game begins.
        updates: int32 [], done so far.
        key: typed key [], of everything drawn from here on.
    """

    learner: Learner
    games: tuple[Array, ...]
    lengths: Array
    totals: Array
    openings: Array
    updates: Array
    key: Array


class ZeroLosses(NamedTuple):
    """What an update minimised; every field float32 [].

    Attributes:
        total: of both.
        policy: cross entropy with what searches chose.
        value: half the squared error of the value.
    """

    total: Array
    policy: Array
    value: Array


class Searched(NamedTuple):
    """One decision of E games.

    Attributes:
        observation: float32 [E, W], of who is to move.
        legal: bool [E, A].
        weights: float32 [E, A]: what the search chose.
        value: float32 [E]: the network's, for who is to move.
        reward: float32 [E], of who moved.
        meant: bool [E]: the action was no random one.
        onward: float32 [E]: what a following value counts for who moved: 1, -1 for the other player's, 0 at an end.
        ended: sums over the games that ended, scalars.
    """

    observation: Array
    legal: Array
    weights: Array
    value: Array
    reward: Array
    meant: Array
    onward: Array
    ended: Ended


class ZeroLearner:
    """AlphaZero on one twin, as compiled functions.

    Args:
        form: of the twin.
        functions: as for `TwinGames`.
        task: what is learned.
    """

    def __init__(self, form: TwinForm, functions: Mapping[str, Callable[..., tuple[Any, ...]]], task: ZeroTask) -> None:
        self.task = task
        self._form = form
        self._network = ActorCritic(task.network, len(form.actions), rank=1)
        self._look = TwinGames(form, functions).look
        self._init = functions["init"]
        self._step: Any = jax.vmap(functions["step"])
        self._judged = SeatGames(form, functions, task.max_actions)
        self._optimiser = optax.chain(optax.clip_by_global_norm(MOST_NORM), optax.adam(task.learning_rate))
        self.begin: Any = jax.jit(self._begin)
        self.update: Any = jax.jit(self._update, donate_argnums=0)
        self.evaluate: Any = jax.jit(self._evaluate, static_argnums=2)

    def _begin(self, seed: Array, seat: Array, others: Params) -> ZeroState:
        """Returns the state before the first update; it plays at all seats, so that `seat` has no meaning."""
        lanes = self.task.environments
        weights, open_, following = jax.random.split(jax.random.key(seed), 3)
        params = self._network.init(weights, jnp.zeros((1, lanes, self._form.width), jnp.float32))
        games = self._fresh(lanes)
        lengths, totals = jnp.zeros(lanes, jnp.int32), jnp.zeros(lanes, jnp.float32)
        learner = Learner(params, self._optimiser.init(params))
        openings = self._openings(lanes, open_)
        return ZeroState(learner, games, lengths, totals, openings, jnp.zeros((), jnp.int32), following)

    def _openings(self, lanes: int, key: Array) -> Array:
        return jax.random.randint(key, (lanes,), 0, self.task.opening + 1)

    def _evaluate(self, params: Params, seat: Array, games: int, key: Array) -> Ended:
        return judging.judged(self._judged, self._network, params, seat, games, self.task.environments, key)

    def _fresh(self, lanes: int) -> tuple[Array, ...]:
        return tuple(jnp.broadcast_to(leaf, (lanes, *leaf.shape)) for leaf in self._init())

    def _asked(self, params: Params, observation: Array) -> tuple[Array, Array]:
        """Returns logits and values of [E, W]."""
        _, outputs = self._network.apply(params, (), observation[None], jnp.zeros((1, len(observation)), bool))
        return outputs.logits[0], outputs.values[0]

    def _moved(self, games: tuple[Array, ...], action: Array) -> tuple[tuple[Array, ...], Any, Array, Array]:
        """Returns games after an action, what can be seen of them, the reward of who moved and what follows counts."""
        before = self._look(games).player
        is_over = before == TERMINAL
        stepped = tuple(
            jnp.where(is_over.reshape(-1, *(1,) * (old.ndim - 1)), old, new)
            for old, new in zip(games, self._step(*games, action), strict=True)
        )
        seen = self._look(stepped)
        reward = jnp.where(is_over, 0.0, of_player(seen.rewards, jnp.maximum(before, 0)))
        onward = jnp.where(seen.player == TERMINAL, 0.0, jnp.where(seen.player == before, 1.0, -1.0))
        return stepped, seen, reward, onward

    def _followed(self, params: Params, _: Array, action: Array, games: tuple[Array, ...]) -> tuple[Any, Any]:
        """The model of a search: the twin, and the network at the state that it comes to."""
        stepped, seen, reward, onward = self._moved(games, action)
        logits, value = self._asked(params, of_player(seen.observations, jnp.maximum(seen.player, 0)))
        found = mctx.RecurrentFnOutput(
            reward=reward,
            discount=onward,
            prior_logits=masked_categorical.masked(logits, seen.legal),
            value=jnp.where(seen.player == TERMINAL, 0.0, value),
        )
        return found, stepped

    def _update(self, state: ZeroState, _: Params) -> tuple[ZeroState, UpdateCame]:
        """Plays and learns; the state's arrays are used up."""
        task, params = self.task, state.learner.params
        following, play, order = jax.random.split(state.key, 3)

        def step(carry: Any, key: Array) -> tuple[Any, Searched]:
            games, lengths, totals, openings = carry
            search, random, open_ = jax.random.split(key, 3)
            seen = self._look(games)
            observation = of_player(seen.observations, seen.player)
            logits, value = self._asked(params, observation)
            root = mctx.RootFnOutput(
                prior_logits=masked_categorical.masked(logits, seen.legal), value=value, embedding=games
            )
            chosen = mctx.gumbel_muzero_policy(
                params, search, root, self._followed, task.simulations, invalid_actions=~seen.legal
            )
            meant = lengths >= openings
            action = jnp.where(meant, chosen.action, uniform_actions(seen.legal, random))
            stepped, after, reward, onward = self._moved(games, action)
            lengths, totals = lengths + 1, totals + after.rewards[:, 0]
            over = after.player == TERMINAL
            cut = ~over & (lengths >= task.max_actions)
            # A game that was too long counts as if it had gone on as the network expected.
            reward, onward = jnp.where(cut, value, reward), jnp.where(cut, 0.0, onward)
            counts = over.sum(), (over & (totals > 0)).sum(), (over & (totals < 0)).sum()
            ended = Ended(*counts, jnp.where(over, totals, 0.0).sum(), cut.sum())
            done = over | cut
            games = tuple(
                jnp.where(done.reshape(-1, *(1,) * (old.ndim - 1)), new, old)
                for new, old in zip(self._fresh(len(done)), stepped, strict=True)
            )
            found = Searched(observation, seen.legal, chosen.action_weights, value, reward, meant, onward, ended)
            openings = jnp.where(done, self._openings(len(done), open_), openings)
            return (games, jnp.where(done, 0, lengths), jnp.where(done, 0.0, totals), openings), found

        begun = state.games, state.lengths, state.totals, state.openings
        (games, lengths, totals, openings), found = jax.lax.scan(step, begun, jax.random.split(play, task.horizon))
        learner, losses = self._learned(state.learner, found, self._targets(params, games, found), order)
        ended = Ended(*(part.sum(axis=0) for part in found.ended))
        return ZeroState(learner, games, lengths, totals, openings, state.updates + 1, following), UpdateCame(
            losses, ended
        )

    def _targets(self, params: Params, games: tuple[Array, ...], found: Searched) -> Array:
        """Returns what each decision came to for who made it, float32 [T, E]; after the last one, as is expected."""
        seen = self._look(games)
        _, last = self._asked(params, of_player(seen.observations, seen.player))

        def back(later: Array, now: tuple[Array, Array]) -> tuple[Array, Array]:
            reward, onward = now
            value = reward + onward * later
            return value, value

        targets: Array = jax.lax.scan(back, last, (found.reward, found.onward), reverse=True)[1]
        return targets

    def _learned(self, learner: Learner, found: Searched, targets: Array, key: Array) -> tuple[Learner, ZeroLosses]:
        count = targets.size
        rows = [
            array.reshape(count, *array.shape[2:])
            for array in (found.observation, found.legal, found.weights, found.meant)
        ]

        def loss(params: Params, part: tuple[Array, ...]) -> tuple[Array, ZeroLosses]:
            observation, legal, weights, meant, target = part
            logits, value = self._asked(params, observation)
            likely = masked_categorical.log_probabilities(logits, legal)
            policy = -jnp.where(legal, weights * likely, 0.0).sum(axis=-1).mean()
            # What comes after a random action says nothing of the position before it.
            error = 0.5 * jnp.where(meant, jnp.square(value - target), 0.0).mean()
            return policy + error, ZeroLosses(policy + error, policy, error)

        def minibatch(learner: Learner, chosen: Array) -> tuple[Learner, ZeroLosses]:
            part = tuple(array[chosen] for array in (*rows, targets.reshape(count)))
            slope, losses = jax.grad(loss, has_aux=True)(learner.params, part)
            change, state = self._optimiser.update(slope, learner.optimiser, learner.params)
            return Learner(optax.apply_updates(learner.params, change), state), losses

        order = jax.random.permutation(key, count).reshape(self.task.minibatches, -1)
        learner, losses = jax.lax.scan(minibatch, learner, order)
        return learner, jax.tree.map(jnp.mean, losses)
