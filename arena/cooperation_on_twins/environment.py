"""A twin as `BatchedEnv`: what chance does is drawn inside of a step, so that a player is to move always.

Each player may see the game through a symmetry of its own (Other-Play). What its observations are then is not derived:
the game is played in several copies, each with actions and outcomes renamed, and every player looks at its own.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from cwm.twins.form import TwinForm
from cwm.twins.play import CHANCE, TERMINAL, Seen, chosen
from games.batched.api import Array, Outcome, Transition, chance_keys


class TwinState(NamedTuple):
    """A game; lanes last.

    Attributes:
        copies: arrays of the twin, leaves [K, ...]: one a player where they see it through symmetries, else one.
        symmetry: int32 [K], number of each copy's symmetry.
        totals: float32 [P], what every player was paid so far.
        length: int32 [], actions of players so far.
    """

    copies: tuple[Array, ...]
    symmetry: Array
    totals: Array
    length: Array


class Renaming(NamedTuple):
    """Symmetries of a game, the first of which changes nothing.

    Attributes:
        actions: int32 [G, A], what an action is called in each.
        outcomes: int32 [G, C], what an outcome of chance is called in each.
    """

    actions: NDArray[np.int32]
    outcomes: NDArray[np.int32]


class TwinEnv:
    """Games of one twin for P players.

    Who is not to move may take action 0 alone, which does nothing. A player's image is [1, 1, W + 1]: its vector, and
    1 where it is to move. Figures are `positive`, that the return is above 0, and `cut`, that the game was too long.
    """

    def __init__(
        self,
        form: TwinForm,
        functions: Mapping[str, Callable[..., tuple[Any, ...]]],
        max_actions: int,
        symmetries: Renaming | None = None,
    ) -> None:
        """Sets up.

        Args:
            form: of the twin.
            functions: `init`, `step` and `look` of one game, as `cwm.twins.text.build.function_of` returns them.
            max_actions: of players in one game; then it is cut.
            symmetries: through which players see the game, each through one that is drawn with the deal; None: alike.
        """
        self._form = form
        self._init_one = functions["init"]
        self._step_one = jax.vmap(functions["step"])
        self._look_one = jax.vmap(functions["look"])
        self._max_actions = max_actions
        self._copies = 1 if symmetries is None else form.num_players
        same = Renaming(_row(len(form.actions)), _row(len(form.outcomes)))
        known = same if symmetries is None else symmetries
        self._actions, self._actions_back = _both_ways(known.actions)
        self._outcomes, self._outcomes_back = _both_ways(known.outcomes)

    @property
    def num_players(self) -> int:
        return self._form.num_players

    @property
    def num_actions(self) -> int:
        return len(self._form.actions)

    @property
    def image_shape(self) -> tuple[int, int, int]:
        return 1, 1, self._form.width + 1

    def init(self, key: Array) -> TwinState:
        """Returns a freshly dealt game, or B games, at the first decision; each depends on its own key alone."""
        dealt: TwinState = _of_lanes(self._begun, key.ndim > 0, (0,), -1)(key)
        return dealt

    def _begun(self, key: Array) -> TwinState:
        deal, draw = jax.random.split(key)
        symmetry = jax.random.randint(draw, (self._copies,), 0, len(self._actions))
        copies = tuple(jnp.broadcast_to(leaf, (self._copies, *jnp.shape(leaf))) for leaf in self._init_one())
        nothing = jnp.zeros(self.num_players, jnp.float32)
        copies, paid = self._chance(copies, symmetry, nothing, deal)
        return TwinState(copies, symmetry, paid, jnp.zeros((), jnp.int32))

    def step(self, state: TwinState, actions: Array, keys: Array) -> tuple[TwinState, Transition]:
        """Plays the action of who is to move, int32 [P], and all that chance does after it.

        What is not legal is replaced by the player's lowest-numbered legal action.
        """
        stepping = _of_lanes(self._step, state.length.ndim > 0, (-1, 0, 0), (-1, 0))
        following: tuple[TwinState, Transition] = stepping(state, jnp.asarray(actions), keys)
        return following

    def _step(self, state: TwinState, actions: Array, key: Array) -> tuple[TwinState, Transition]:
        seen = self._look(state)
        mover, over = seen.player[0], self._is_over(state)
        own = mover % self._copies
        action = actions[mover]
        known = (action >= 0) & (action < self.num_actions)
        fits = known & seen.legal[own][jnp.where(known, action, 0)]
        action = jnp.where(fits, action, jnp.argmax(seen.legal[own]))
        original = self._actions_back[state.symmetry[own], action]
        acted = tuple(self._step_one(*state.copies, self._actions[state.symmetry, original]))
        paid = self._look_one(*acted)[3][0]
        copies, paid = self._chance(acted, state.symmetry, paid, key)
        paid = jnp.where(over, 0.0, paid)
        copies = jax.tree.map(lambda new, old: jnp.where(over, old, new), copies, state.copies)
        following = TwinState(copies, state.symmetry, state.totals + paid, state.length + ~over)
        is_mover = jnp.arange(self.num_players) == mover
        illegal = jnp.where(is_mover, ~fits, actions != 0) & ~over
        told = {"illegal": illegal, "shaping": jnp.zeros_like(paid)}
        return following, Transition(paid, self._is_over(following) & ~over, told)

    def _chance(
        self, copies: tuple[Array, ...], symmetry: Array, paid: Array, key: Array
    ) -> tuple[tuple[Array, ...], Array]:
        """Lets chance act until a player is to move or the game is over; returns also all that was paid, [P]."""
        if not self._form.outcomes:
            return copies, paid

        def waiting(carry: Any) -> Array:
            is_waiting: Array = Seen(*self._look_one(*carry[0])).player[0] == CHANCE
            return is_waiting

        def draw(carry: Any) -> Any:
            copies, paid, key = carry
            key, now = jax.random.split(key)
            likely = Seen(*self._look_one(*copies)).chance[:1]
            outcome = self._outcomes_back[symmetry[0], chosen(likely, jax.random.uniform(now, (1,)))[0]]
            copies = tuple(self._step_one(*copies, self._outcomes[symmetry, outcome]))
            return copies, paid + Seen(*self._look_one(*copies)).rewards[0], key

        copies, paid, _ = jax.lax.while_loop(waiting, draw, (copies, paid, chance_keys(key)))
        return copies, paid

    def _look(self, state: TwinState) -> Seen:
        """Returns what every copy says, leaves [K, ...]; of one game."""
        return Seen(*self._look_one(*state.copies))

    def _is_over(self, state: TwinState) -> Array:
        return (self._look(state).player[0] == TERMINAL) | (state.length >= self._max_actions)

    def legal_mask(self, state: TwinState) -> Array:
        """Returns which actions are legal, bool [P, A]; action 0 alone for who is not to move."""

        def mask(state: TwinState) -> Array:
            seen = self._look(state)
            moves = (jnp.arange(self.num_players) == seen.player[0]) & ~self._is_over(state)
            return jnp.where(moves[:, None], self._each(seen.legal), jnp.arange(self.num_actions) == 0)

        masks: Array = _of_lanes(mask, state.length.ndim > 0, (-1,), 0)(state)
        return masks

    def sample(self, state: TwinState, uniform: Array) -> Array:
        """Returns uniformly drawn legal actions, int32 [P]; `uniform`, float32 [] in [0, 1), decides."""
        weights = self.legal_mask(state).astype(jnp.float32)
        flat = weights.reshape(-1, self.num_actions)
        found = chosen(flat, jnp.broadcast_to(uniform[..., None], weights.shape[:-1]).reshape(-1))
        return found.reshape(weights.shape[:-1])

    def observe(self, state: TwinState) -> Array:
        """Returns what every player sees, float32 [P, 1, 1, W + 1]."""

        def images(state: TwinState) -> Array:
            seen = self._look(state)
            players = jnp.arange(self.num_players)
            own = self._each(seen.observations)[players, players]
            moves = (players == seen.player[0]) & ~self._is_over(state)
            return jnp.concatenate([own, moves[:, None].astype(own.dtype)], axis=1)[:, None, None]

        shown: Array = _of_lanes(images, state.length.ndim > 0, (-1,), 0)(state)
        return shown

    def _each(self, values: Array) -> Array:
        """Returns what copies say, [K, ...], as what each player's copy says, [P, ...]."""
        return values[jnp.arange(self.num_players) % self._copies]

    def is_over(self, state: TwinState) -> Array:
        """Whether the game has ended or was cut, bool []."""
        over: Array = _of_lanes(self._is_over, state.length.ndim > 0, (-1,), 0)(state)
        return over

    def outcome(self, state: TwinState) -> Outcome:
        """Returns what came of the game; where players are paid differently, the mean of their returns."""

        def told(state: TwinState) -> Outcome:
            total = state.totals.mean()
            ended = self._look(state).player[0] == TERMINAL
            return Outcome(total, state.length, {"positive": total > 0, "cut": self._is_over(state) & ~ended})

        found: Outcome = _of_lanes(told, state.length.ndim > 0, (-1,), 0)(state)
        return found


def _row(count: int) -> NDArray[np.int32]:
    return np.arange(count, dtype=np.int32)[None]


def _both_ways(names: NDArray[np.int32]) -> tuple[Array, Array]:
    """Returns permutations and their inverses, int32 [G, N]."""
    return jnp.asarray(names, jnp.int32), jnp.asarray(np.argsort(names, axis=1), jnp.int32)


def _of_lanes(function: Callable[..., Any], has_lanes: bool, into: Any, out: Any) -> Callable[..., Any]:
    """Returns a function of one game for as many as there are."""
    return jax.vmap(function, in_axes=into, out_axes=out) if has_lanes else function
