"""Fictitious Co-Play (Strouse et al., 2021; OvercookedV2 paper, appendix C.1.3): learning with a frozen population.

The population holds self-play agents at several ages; the paper has eight with three checkpoints each. The learner
sits at a seat drawn at random, and every other seat is taken by a member drawn at random, for one game. Beside the
networks, members may be other policies: heuristics, or networks of another kind.
"""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import jax
import jax.numpy as jnp

from games.batched.api import Array, BatchedEnv, Outcome, Transition, chance_keys, lanes_first, lanes_last
from search.learn import masked_categorical
from search.learn.api import BatchedPolicy, Memory, Network, Params
from search.learn.play import several_policies
from search.learn.play.seats import of_player
from search.learn.ppo.rollout import by_lane

NOISE: Final = "threefry2x32"
"""Kind of generator that partners draw their actions from."""


class PartneredState(NamedTuple):
    """A game, and who plays it; lanes last. The learner sees its observation alone, never this.

    Attributes:
        game: the game itself.
        seat: int32 [], the learner's.
        partner: int32 [P - 1], members at the other seats, the one after the learner first.
        memory: what they remember as networks of the population, leaves [P - 1, ...].
        noise: uint32 [2], what they draw their next actions from: it is dealt with the game, so that a deal alone
            decides what its partners draw.
        further: what they remember as each of the further policies, leaves [P - 1, ...].
    """

    game: Any
    seat: Array
    partner: Array
    memory: Memory
    noise: Array
    further: tuple[Memory, ...] = ()


class FictitiousPartners:
    """A game of P players as `BatchedEnv` of one, the others being played by a frozen population."""

    def __init__(
        self,
        env: BatchedEnv[Any],
        network: Network | None,
        population: Params,
        further: Sequence[tuple[BatchedPolicy, Params]] = (),
        seat: Array | int | None = None,
        shares: Array | None = None,
    ) -> None:
        """Wraps a game.

        Args:
            env: the game.
            network: of the population; None: there are no members but further ones.
            population: leaves [M, ...].
            further: members that are no networks of the population, each with its parameters.
            seat: the learner's, int32 []; None: drawn for every game.
            shares: float32 [members], how likely each is drawn; None: equally.
        """
        self.env = env
        self._network = network
        self._population = population
        self._networks = 0 if network is None else several_policies.count(population)
        self._further = tuple(further)
        self._others = env.num_players - 1
        self._seat = seat
        self._shares = shares

    @property
    def num_players(self) -> int:
        return 1

    @property
    def num_actions(self) -> int:
        return self.env.num_actions

    @property
    def image_shape(self) -> tuple[int, int, int]:
        return self.env.image_shape

    def init(self, key: Array) -> PartneredState:
        """Returns a freshly dealt game with seat and partners drawn, or B games; each depends on its own key alone."""
        if not key.ndim:
            return _only(self.init(key[None]))
        keys = jax.vmap(lambda one: jax.random.split(one, 4))(key)
        games, players = key.shape[0], self.env.num_players
        if self._seat is None:
            seat = jax.vmap(lambda one: jax.random.randint(one, (), 0, players))(keys[:, 1])
        else:
            seat = jnp.full((games,), self._seat, jnp.int32)
        partner = jax.vmap(self._drawn_members)(keys[:, 2])
        noise = jax.vmap(lambda one: jax.random.bits(one, (2,)))(keys[:, 3])
        lanes = games * self._others
        return PartneredState(
            game=self.env.init(keys[:, 0]),
            seat=seat,
            partner=lanes_last(partner, True),
            memory=self._in_state(() if self._network is None else self._network.initial_memory(lanes)),
            noise=lanes_last(noise, True),
            further=tuple(self._in_state(policy.initial(lanes)) for policy, _ in self._further),
        )

    def _drawn_members(self, key: Array) -> Array:
        """Returns who plays the other seats, int32 [P - 1]."""
        members = self._networks + len(self._further)
        if self._shares is None:
            return jax.random.randint(key, (self._others,), 0, members)
        return jax.random.choice(key, members, (self._others,), p=self._shares).astype(jnp.int32)

    def _in_state(self, memory: Memory) -> Memory:
        """Returns a policy's memory, leaves [B * (P - 1), ...], as leaves [P - 1, ..., B]."""
        return jax.tree.map(lambda leaf: lanes_last(leaf.reshape(-1, self._others, *leaf.shape[1:]), True), memory)

    def step(self, state: PartneredState, actions: Array, keys: Array) -> tuple[PartneredState, Transition]:
        """Plays one action of the learner, int32 [1], and one of every partner."""
        if not state.seat.ndim:
            following, paid = self.step(_with_lane(state), actions[None], keys[None])
            return _only(following), jax.tree.map(lambda array: array[0], paid)
        seats = self._other_seats(state)
        after, chosen = self._partners(state, seats)
        joint = jnp.zeros((len(seats), self.env.num_players), jnp.int32)
        joint = jax.vmap(lambda row, at, values: row.at[at].set(values))(joint, seats, chosen)
        joint = jax.vmap(lambda row, at, own: row.at[at].set(own))(joint, state.seat, actions[:, 0])
        game, paid = self.env.step(state.game, joint, keys)
        own = {name: of_player(values, state.seat)[:, None] for name, values in paid.info.items()}
        transition = Transition(of_player(paid.reward, state.seat)[:, None], paid.done, own)
        return after._replace(game=game), transition

    def _other_seats(self, state: PartneredState) -> Array:
        """Returns the partners' seats, int32 [B, P - 1]."""
        return (state.seat[:, None] + 1 + jnp.arange(self._others)) % self.env.num_players

    def _partners(self, state: PartneredState, seats: Array) -> tuple[PartneredState, Array]:
        """Returns the state with what the partners remember and the noise left, and what they do, int32 [B, P - 1]."""

        def pick(values: Array) -> Array:
            return values[jnp.arange(len(seats))[:, None], seats]

        seen = jax.tree.map(lambda leaf: by_lane(pick(leaf)), self.env.observe(state.game))
        legal = pick(self.env.legal_mask(state.game))
        memory, further = jax.tree.map(lambda leaf: by_lane(lanes_first(leaf, True)), (state.memory, state.further))
        which = lanes_first(state.partner, True).reshape(-1)
        starts = jnp.zeros(which.shape, bool)
        logits = jnp.zeros((*which.shape, self.num_actions), jnp.float32)
        if self._network is not None:
            memory, logits = several_policies.act(self._network, self._population, which, memory, seen, starts)
        keys: Array = jax.random.wrap_key_data(lanes_first(state.noise, True), impl=NOISE)
        pairs = jax.vmap(jax.random.split)(keys)
        chosen = jax.vmap(masked_categorical.sample)(pairs[:, 0], logits.reshape(legal.shape), legal)
        noise = lanes_last(jax.random.key_data(pairs[:, 1]), True)
        kept: list[Memory] = []
        for number, (policy, params) in enumerate(self._further, start=self._networks):
            draws = jax.vmap(lambda key: jax.random.split(chance_keys(key), self._others))(pairs[:, 0]).reshape(-1)
            remembered, actions = policy.act(params, further[len(kept)], seen, by_lane(legal), draws)
            kept.append(self._in_state(remembered))
            chosen = jnp.where((which == number).reshape(chosen.shape), actions.reshape(chosen.shape), chosen)
        after = state._replace(memory=self._in_state(memory), noise=noise, further=tuple(kept))
        return after, chosen

    def _of_learner(self, state: PartneredState, values: Array) -> Array:
        """Returns the learner's part, [1, ...], of what the game says of all players."""
        if not state.seat.ndim:
            return values[state.seat][None]
        return of_player(values, state.seat)[:, None]

    def legal_mask(self, state: PartneredState) -> Array:
        """Returns which actions are legal for the learner, bool [1, N]."""
        return self._of_learner(state, self.env.legal_mask(state.game))

    def sample(self, state: PartneredState, uniform: Array) -> Array:
        """Returns a uniformly drawn legal action of the learner, int32 [1]."""
        return self._of_learner(state, self.env.sample(state.game, uniform))

    def observe(self, state: PartneredState) -> Array:
        """Returns what the learner sees, leaves [1, ...]."""
        seen: Array = jax.tree.map(lambda leaf: self._of_learner(state, leaf), self.env.observe(state.game))
        return seen

    def is_over(self, state: PartneredState) -> Array:
        return self.env.is_over(state.game)

    def outcome(self, state: PartneredState) -> Outcome:
        return self.env.outcome(state.game)


def _with_lane(state: PartneredState) -> PartneredState:
    """Returns one game as a state of one lane."""
    grown: PartneredState = jax.tree.map(lambda array: array[..., None], state)
    return grown


def _only(state: PartneredState) -> PartneredState:
    """Returns the only lane of a state as a game of its own."""
    only: PartneredState = jax.tree.map(lambda array: array[..., 0], state)
    return only
