"""What a player can believe: sampled histories that it cannot tell from the real one.

Histories come from the game's inference function, are replayed from the initial state, and are kept if they recreate
what the player saw and did at its own decision points.

A game whose inference function samples the state alone (the CWM paper, 4.2) is taken at its word for the past: a state
is kept if the player sees there what it sees now, and the others know no more than they are shown from then on.
"""

import marshal
import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from games.api import Action, Game, ObsActionHistory, ResamplesHistory, ResamplesState, State, WalksHistories
from search.api import PlannerConfig, Position
from search.errors import BrokenModelError, ErrorCount, NoHistoryError
from search.particles import HistoryKeys, Particle, canonical, same

MOST_FAILED_DRAWS = 3
"""After so many draws in a row without a fitting history, a belief is content with the particles that it has."""

Sampler: TypeAlias = ResamplesHistory | ResamplesState
"""An inference function; one that samples whole histories is asked for these."""


@dataclass
class BeliefCounts:
    """Figures of a belief.

    Attributes:
        tries: histories asked of the inference function.
        accepted: those that led to what the player sees now.
        distinct: different ones among them.
        loose: accepted though an earlier observation or action was not recreated, for lack of better.
        effective: effective sample size of a weighted belief; None where nothing is weighed.
        carried: in a weighted belief, how many histories were kept from the player's last decision.
    """

    tries: int = 0
    accepted: int = 0
    distinct: int = 0
    loose: int = 0
    effective: float | None = None
    carried: int = 0

    def to_json(self) -> dict[str, float]:
        """Returns the figures by name; the last two for a weighted belief alone."""
        counts: dict[str, float] = {name: getattr(self, name) for name in ("tries", "accepted", "distinct", "loose")}
        if self.effective is not None:
            counts |= {"effective": round(self.effective, 1), "carried": self.carried}
        return counts


class BeliefSource(Protocol):
    """Where a search takes its particles from.

    Attributes:
        counts: figures.
        keys: the keys of the histories in the search's tree.
    """

    counts: BeliefCounts
    keys: HistoryKeys

    def next(self) -> Particle:
        """Returns the particle of the next simulation.

        Raises:
            NoHistoryError: there is none, and no valid history can be had.
        """
        ...

    def key(self, particle: Particle, player: int) -> int:
        """Returns the key of `player`'s history in a particle, up to its last own action."""
        ...

    def any_state(self) -> State | None:
        """Returns a state to take a legal action from: a particle's, else one of the right player that does not fit
        what was seen, else None."""
        ...

    def weighted_states(self, fill: bool = True) -> list[tuple[float, State]]:
        """Returns the belief as (weight, state), the weights summing to 1; [] if nothing is believed possible."""
        ...


class Drawer:
    """Draws histories, or states, from the inference function and holds them against what was seen.

    Attributes:
        counts: figures.
        stray: a state in which the player is to move but which does not fit what was seen, if one was met.
    """

    def __init__(
        self,
        game: Game,
        sampler: Sampler,
        position: Position,
        config: PlannerConfig,
        rng: random.Random,
        errors: ErrorCount,
    ) -> None:
        self.counts = BeliefCounts()
        self.stray: State | None = None
        self._game = game
        self._sampler: Any = sampler
        self._position = position
        self._history = list(position.history)
        self._packed = marshal.dumps(self._history)
        self._tries = config.resample_tries
        self._rng = rng
        self._errors = errors
        self._walks = isinstance(game, WalksHistories)
        self._known: dict[tuple[Action, ...] | str, Particle] = {}
        # Not the method itself: an object that holds its own method waits for the garbage collector, and with it every
        # state of the search, each of them tens of kilobytes where OpenSpiel holds it.
        self._draws_histories = isinstance(sampler, ResamplesHistory)

    def draw(self) -> Particle | None:
        """Returns a particle, the same one for the same history; None if none of the tries led to one."""
        loose: Particle | None = None
        for _ in range(self._tries):
            self.counts.tries += 1
            try:
                particle, strict = self._history_sample() if self._draws_histories else self._state_sample()
            except MemoryError:
                raise
            except Exception as error:
                self._errors.add(error)
                continue
            if particle is not None and strict:
                self.counts.accepted += 1
                return particle
            loose = loose or particle
        if loose is not None:
            self.counts.accepted += 1
            self.counts.loose += 1
        return loose

    def _state_sample(self) -> tuple[Particle | None, bool]:
        """Returns a particle in which the player sees what it sees now, or None; its past is not known."""
        game, player = self._game, self._position.player
        state = self._sampler.resample_state(marshal.loads(self._packed), player, self._rng)
        text = canonical(state)
        known = self._known.get(text)
        if known is not None:
            return known, True
        if game.current_player(state) != player:
            raise BrokenModelError(f"a sampled state is one in which player {player} is not to move")
        self.stray = state
        if not same(game.observations(state)[player], self._history[-1][0]):
            return None, False
        particle = self._known[text] = Particle(state, (), [], [], True, game.info.num_players)
        self.counts.distinct += 1
        return particle, True

    def _history_sample(self) -> tuple[Particle | None, bool]:
        """Returns a particle that leads to the present observation, or None, and whether its whole past fits."""
        # A copy for each draw: an inference function that spoils its input must not spoil the search.
        history = marshal.loads(self._packed)
        actions = tuple(self._sampler.resample_history(history, self._position.player, self._rng))
        known = self._known.get(actions)
        if known is not None:
            return known, True
        particle, strict = self._replay(actions)
        if particle is not None and strict:
            self._known[actions] = particle
            self.counts.distinct += 1
        return particle, strict

    def _replay(self, actions: tuple[Action, ...]) -> tuple[Particle | None, bool]:
        game, player, history = self._game, self._position.player, self._history
        current_player, observations = game.current_player, game.observations
        trail: list[tuple[int, State, Action]] | None = None if self._walks else []
        own: list[int] = []
        last, strict = len(history) - 1, True
        states = self._states(actions)
        state = next(states)
        for index, action in enumerate(actions):
            mover = current_player(state)
            if mover == player:
                turn = len(own)
                fits = (
                    turn < last and action == history[turn][1] and same(observations(state)[player], history[turn][0])
                )
                strict = strict and fits
                own.append(index)
            elif mover >= 0 and trail is not None:
                trail.append((mover, state, action))
            state = next(states)
        if current_player(state) != player:
            raise BrokenModelError(f"a sampled history leads to a state in which player {player} is not to move")
        self.stray = state
        if not same(observations(state)[player], history[-1][0]):
            return None, False
        strict = strict and len(own) == last
        return Particle(state, actions, trail, own, strict, game.info.num_players), strict

    def _states(self, actions: tuple[Action, ...]) -> Iterator[State]:
        """Yields the states along a history; where the game walks, only the last of them stays as it is."""
        game = self._game
        if isinstance(game, WalksHistories):
            yield from game.walk(actions)
            return
        state = game.initial_state()
        yield state
        for action in actions:
            state = game.apply_action(state, action)
            yield state


class Belief:
    """A pool of particles, drawn one by one as the search asks for them, then shared in turn."""

    def __init__(
        self,
        game: Game,
        sampler: Sampler,
        position: Position,
        config: PlannerConfig,
        rng: random.Random,
        errors: ErrorCount,
    ) -> None:
        self.keys = HistoryKeys()
        self._drawer = Drawer(game, sampler, position, config, rng, errors)
        self.counts = self._drawer.counts
        self._game = game
        self._player = position.player
        self._size = config.belief_size
        self._rng = rng
        self._pool: list[Particle] = []
        self._turn = 0
        self._failed_draws = 0

    def next(self) -> Particle:
        """Returns the particle of the next simulation.

        Raises:
            NoHistoryError: there is none, and no valid history can be had.
        """
        particle = self._another()
        if particle is not None:
            return particle
        if not self._pool:
            raise no_history(self.counts.tries, self._player)
        particle = self._pool[self._turn % len(self._pool)]
        self._turn += 1
        return particle

    def key(self, particle: Particle, player: int) -> int:
        """Returns the key of `player`'s history in a particle, up to its last own action."""
        return particle.key(player, self._game, self.keys)

    def any_state(self) -> State | None:
        """Returns a state to take a legal action from: a particle's, else one of the right player that does not fit
        what was seen, else None."""
        return self._rng.choice(self._pool).state if self._pool else self._drawer.stray

    def weighted_states(self, fill: bool = True) -> list[tuple[float, State]]:
        """Returns the belief as (weight, state), the weights summing to 1; [] if nothing is believed possible.

        Args:
            fill: draw as many histories as the settings allow; else those that the search drew are told.
        """
        while fill and self._another() is not None:
            pass
        shares: dict[int, list[Particle]] = {}
        for particle in self._pool:
            shares.setdefault(id(particle), []).append(particle)
        return [(len(equal) / len(self._pool), equal[0].state) for equal in shares.values()]

    def _another(self) -> Particle | None:
        """Returns one more particle, None if there are enough or none could be drawn."""
        if len(self._pool) >= self._size or self._failed_draws >= MOST_FAILED_DRAWS:
            return None
        particle = self._drawer.draw()
        if particle is None:
            self._failed_draws += 1
        else:
            self._failed_draws = 0
            self._pool.append(particle)
        return particle


def no_history(tries: int, player: int) -> NoHistoryError:
    """Returns what is raised where no history fits."""
    return NoHistoryError(f"none of {tries} sampled histories recreates what player {player} sees")


def one_history(history: ObsActionHistory) -> bool:
    """Returns whether `history` has the shape that `Position` asks for: last action None, none before it."""
    return bool(history) and history[-1][1] is None and all(action is not None for _, action in history[:-1])
