"""Off-Belief Learning (Hu et al., 2021; the Yōkai Learning Environment paper, section 5.2).

Games go on as in self-play. At each decision, what the deciding player cannot see is drawn anew from a belief about
partners of the level below; the decision is then judged in that fictitious game: it is made there, everybody plays on
with the current policy, and the critic's values of the player's later decisions, mixed by λ, stand for the rest. So
actions are read as the level below meant them, not as partners have come to mean them.

The memory of a network with `public_private` has read nothing that its player alone saw. It is therefore the same in
the fictitious game, and every player goes on there with its real memory.

One player decides at a time: the first one with more than one legal action. Steps at which a player has no choice are
not judged and teach nothing.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import jax
import jax.numpy as jnp

from games.batched.api import BatchedEnv, chance_keys
from games.batched.wrappers import AutoReset, Episodes, add_episodes, no_episodes
from search.learn import masked_categorical
from search.learn.api import Array, Memory, Observation, Outputs, Params
from search.learn.beliefs.beliefs import LearnedBelief, UniformBelief
from search.learn.beliefs.hidden import HiddenSlots, HintedSlots
from search.learn.errors import OffBeliefError
from search.learn.networks.actor_critic import ActorCritic
from search.learn.play.seats import deciding, of_player
from search.learn.ppo.config import PpoConfig
from search.learn.ppo.rollout import (
    Batch,
    Collector,
    Consulted,
    MakeEnv,
    Progress,
    Runner,
    by_game,
    by_lane,
    consult,
    observe,
)

HINTS_UNHEEDED: Final = (
    "Hints exclude some of what this game hides, which learned beliefs do not heed: "
    "train level 1 alone, with the option `exact_belief`."
)


class BothMemories(NamedTuple):
    """What a lane carries from step to step; leaves [L, ...].

    Attributes:
        policy: the network's memory.
        belief: the memory of the belief, which no network reads.
    """

    policy: Memory
    belief: Memory


class BelievingNetwork:
    """A `Network` whose memory has room for that of a belief; its parameters are those of the network alone.

    Attributes:
        network: the learner's.
        belief: what the off-belief learner draws from.
    """

    def __init__(self, network: ActorCritic, belief: LearnedBelief) -> None:
        """Puts a network and a belief together.

        Raises:
            OffBeliefError: the network's memory would read what its player alone sees.
        """
        if not network.config.public_private:
            raise OffBeliefError(
                "Off-belief learning goes on with the real memory in fictitious games, so the memory may read public "
                "observations alone: build the network with public_private=True and its private_channels."
            )
        self.network = network
        self.belief = belief

    @property
    def num_actions(self) -> int:
        return self.network.num_actions

    def initial_memory(self, lanes: int) -> BothMemories:
        """Returns the memory of sequences that have seen nothing."""
        return BothMemories(self.network.initial_memory(lanes), self.belief.initial_memory(lanes))

    def init(self, key: Array, observation: Observation) -> Params:
        """Returns fresh parameters of the network."""
        return self.network.init(key, observation)

    def apply(
        self,
        params: Params,
        memory: BothMemories,
        observation: Observation,
        starts: Array,
        deciders: Array | None = None,
    ) -> tuple[BothMemories, Outputs]:
        """Reads T steps of L sequences with the network; the belief's memory is left as it is."""
        policy, outputs = self.network.apply(params, memory.policy, observation, starts, deciders)
        return BothMemories(policy, memory.belief), outputs


@dataclass(frozen=True)
class FictitiousConfig:
    """How far fictitious games are played.

    Attributes:
        horizon: K, steps at most, the judged one included; the paper has 4 · players, a whole round. The critic learns
            at decisions alone: a horizon that ends between two decisions of a player asks it what it was never taught.
        decay: λ, how the critic's answers at the player's later decisions are mixed, as in generalised advantage
            estimation: at 0 it is asked at the next decision alone, and the game ends there; at 1 at the horizon alone.
            Where the horizon comes first, it is asked there.
    """

    horizon: int
    decay: float = 0.0

    def __post_init__(self) -> None:
        if self.horizon < 1:
            raise OffBeliefError(f"the horizon is {self.horizon}: expected a whole number of steps, 1 or more.")
        if not 0 <= self.decay <= 1:
            raise OffBeliefError(f"the decay λ is {self.decay}: expected a number from 0 to 1.")


class _Rolling(NamedTuple):
    """A fictitious rollout under way.

    Attributes:
        games: E fictitious games.
        memory: of the network, leaves [L, ...].
        total: float32 [E], discounted rewards so far.
        weight: float32 [E], γ to the number of steps times λ to the number of the player's later decisions.
        running: bool [E].
        key: typed key [].
        steps: int32 [], steps so far.
    """

    games: Any
    memory: Memory
    total: Array
    weight: Array
    running: Array
    key: Array
    steps: Array


class Fiction:
    """Judges decisions in fictitious games."""

    def __init__(self, env: BatchedEnv[Any], network: ActorCritic, discount: float, config: FictitiousConfig) -> None:
        """Sets up the judge.

        Args:
            env: the game.
            network: plays on; its memory reads public observations alone.
            discount: γ.
            config: how far.
        """
        self._env = env
        self._network = network
        self._discount = discount
        self._config = config

    def targets(
        self, params: Params, games: Any, memory: Memory, actions: Array, player: Array, shaping: Array, key: Array
    ) -> Array:
        """Returns what one decision in each game is worth: what is paid, and values of the player's later decisions.

        Args:
            params: of the network.
            games: E fictitious games before the decision.
            memory: of the network after the observation that the decision rests on, leaves [L, ...].
            actions: int32 [E, P].
            player: int32 [E], who decides.
            shaping: float32 [], coefficient of the shaping reward.
            key: typed key [].

        Returns:
            float32 [E].
        """
        following, paid, ended = self._step(games, actions, player, shaping, key)
        weight = jnp.full(paid.shape, self._discount, jnp.float32)
        rolling = _Rolling(following, memory, paid, weight, ~ended, key, jnp.ones((), jnp.int32))

        def go_on(rolling: _Rolling) -> _Rolling:
            return self._go_on(params, rolling, player, shaping)

        return jax.lax.while_loop(lambda rolling: rolling.running.any(), go_on, rolling).total

    def _go_on(self, params: Params, rolling: _Rolling, player: Array, shaping: Array) -> _Rolling:
        legal = self._env.legal_mask(rolling.games)
        now, anybody = deciding(legal)
        choose, key = jax.random.split(rolling.key)
        memory, drawn, values = self._ask(params, rolling, legal, now, choose)
        decay = self._config.decay
        again = rolling.running & anybody & (now == player)
        stops = rolling.running & ((rolling.steps >= self._config.horizon) | (again & (decay == 0)))
        value = rolling.weight * of_player(values, player)
        total = rolling.total + jnp.where(stops, value, jnp.where(again, (1 - decay) * value, 0.0))
        weight = jnp.where(again, decay * rolling.weight, rolling.weight)
        running = rolling.running & ~stops
        mine = jnp.arange(self._env.num_players) == now[:, None]
        # Who has no choice takes the one legal action.
        only = masked_categorical.greedy(jnp.zeros(legal.shape), legal)
        actions = jnp.where(mine, drawn[:, None], only)
        games, paid, ended = self._step(rolling.games, actions, player, shaping, choose)
        return _Rolling(
            games=games,
            memory=memory,
            total=total + jnp.where(running, weight * paid, 0.0),
            weight=weight * self._discount,
            running=running & ~ended,
            key=key,
            steps=rolling.steps + 1,
        )

    def _ask(
        self, params: Params, rolling: _Rolling, legal: Array, deciders: Array, key: Array
    ) -> tuple[Memory, Array, Array]:
        """Returns the memory after another look, what each game's decider draws, [E], and all values, [E, P]."""
        seen = jax.tree.map(lambda leaf: leaf[None], observe(self._env, rolling.games))
        starts = jnp.zeros((1, legal.shape[0] * legal.shape[1]), bool)
        memory, outputs = self._network.apply(params, rolling.memory, seen, starts, deciders[None])
        drawn = masked_categorical.sample(key, outputs.logits[0], of_player(legal, deciders))
        return memory, drawn, by_game(outputs.values[0], legal.shape[1])

    def _step(self, games: Any, actions: Array, player: Array, shaping: Array, key: Array) -> tuple[Any, Array, Array]:
        following, paid = self._env.step(games, actions, jax.random.split(chance_keys(key), len(player)))
        return following, of_player(paid.reward + shaping * paid.info["shaping"], player), paid.done


class _Judgement(NamedTuple):
    """What comes of one step.

    Attributes:
        target: float32 [L], of the critic.
        judged: bool [L], whether it was found out; see `rollout.Batch`.
        deciders: int32 [E], who decided.
    """

    target: Array
    judged: Array
    deciders: Array


class _Step(NamedTuple):
    """What a step leaves for the update; leaves [L, ...], `deciders` int32 [E]."""

    observation: Observation
    starts: Array
    legal: Array
    action: Array
    log_probability: Array
    value: Array
    target: Array
    judged: Array
    deciders: Array


def collector(
    make_env: MakeEnv,
    network: BelievingNetwork,
    hidden: HiddenSlots,
    config: PpoConfig,
    fictitious: FictitiousConfig,
    belief_params: Callable[[Any], Params] = lambda context: context,
    dealt_at_once: int | None = 64,
) -> Collector:
    """Returns the collector of off-belief learning, for `Trainer(make_env, network, config, collect)`.

    Args:
        make_env: builds the environment from the context.
        network: the learner's, with the belief about the level below.
        hidden: what the environment hides.
        config: steps, γ.
        fictitious: how far fictitious games are played.
        belief_params: finds the belief's parameters in the context; default: they are the context.
        dealt_at_once: see `AutoReset`.

    Raises:
        OffBeliefError: the belief is learned, and players are told what it could not heed.
    """
    if isinstance(hidden, HintedSlots) and not isinstance(network.belief, UniformBelief):
        raise OffBeliefError(HINTS_UNHEEDED)
    learner, belief = network.network, network.belief

    def collect(params: Params, runner: Runner, context: Any, progress: Progress) -> tuple[Runner, Batch, Episodes]:
        env = make_env(context)
        believed = belief_params(context)
        resetting = AutoReset(env, dealt_at_once)
        fiction = Fiction(env, learner, config.discount, fictitious)
        players = env.num_players
        environments = runner.starts.shape[0] // players

        def judge(games: Any, policy: Consulted, features: Array, actions: Array, key: Array) -> _Judgement:
            """Returns what is thought of the step that everybody is about to take."""
            player, anybody = deciding(by_game(policy.legal, players))
            draw, play = jax.random.split(key)
            if isinstance(hidden, HintedSlots):
                kinds = hidden.drawn(games, player, draw)
            else:
                known = of_player(hidden.known(games), player)
                kinds = belief.sample(believed, of_player(by_game(features, players), player), known, draw)
            imagined = hidden.with_hidden(games, kinds)
            found = fiction.targets(params, imagined, policy.memory, actions, player, progress.shaping, play)
            judged = by_lane(anybody[:, None] & (jnp.arange(players) == player[:, None]))
            return _Judgement(jnp.where(judged, jnp.repeat(found, players), policy.value), judged, player)

        def step(carry: tuple[Runner, Episodes], _: None) -> tuple[tuple[Runner, Episodes], _Step]:
            runner, episodes = carry
            following, choose, deal, imagine = jax.random.split(runner.key, 4)
            remembered = runner.memory
            policy, seen = consult(learner, params, env, runner.games, remembered.policy, runner.starts)
            shown = jax.tree.map(lambda leaf: leaf[None], seen)
            believing, features = belief.read(believed, remembered.belief, shown, runner.starts[None])
            action = masked_categorical.sample(choose, policy.logits, policy.legal)
            taken = masked_categorical.log_probability(policy.logits, policy.legal, action)
            actions = by_game(action, players)
            judgement = judge(runner.games, policy, features[0], actions, imagine)
            games, paid = resetting.step(runner.games, actions, jax.random.split(deal, environments))
            episodes = add_episodes(episodes, paid.done, paid.outcome)
            kept = _Step(seen, runner.starts, policy.legal, action, taken, policy.value, *judgement)
            memory = BothMemories(policy.memory, believing)
            return (Runner(games, memory, jnp.repeat(paid.done, players), following), episodes), kept

        (ended, episodes), kept = jax.lax.scan(step, (runner, no_episodes(env)), None, config.steps)
        batch = Batch(memory=runner.memory, advantage=kept.target - kept.value, **kept._asdict())
        return ended, batch, episodes

    return collect
