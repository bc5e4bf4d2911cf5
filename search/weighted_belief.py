"""A belief that reads what the others did: sampled histories weighed by how likely a policy makes the other players'
actions in them, and carried over from one decision to the next.

On the scale of the weights: the inference function draws a history from what the player's own observations leave
possible, whatever the others' policies; a history's weight is the ratio of what is believed to what is drawn, up to one
constant, which is the likelihood of all other players' actions since the game began. A history that was drawn at an
earlier decision and still fits is distributed as one drawn now, since drawing and then dropping what does not fit is
drawing from what does. Its weight is the product of the same likelihoods, whenever they were worked out. So old and new
histories are weighed against each other without a correction.
"""

import math
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from games.api import CHANCE, Action, Game, Observation, ResamplesHistory, State
from search import priors
from search.api import PlannerConfig, Position
from search.belief import MOST_FAILED_DRAWS, Drawer, no_history
from search.errors import ErrorCount
from search.likelihood import Reader
from search.particles import HistoryKeys, Particle, same
from search.resampling import effective_size, systematic

MOST_DRAWS = 4
"""At most so many times `belief_size` histories are drawn for one decision."""
MOST_KEPT = 2
"""At most so many times `belief_size` histories are carried over."""
CONTINUATIONS = 8
"""So many new histories tell how carried ones may have gone on, where they all say the same."""
BATCHES = 4
"""Where the effective sample size is too small, that part of `belief_size` is drawn before it is looked at again."""
VARIED_CONTINUATIONS = 64
"""The same, where they do not."""
NEGLIGIBLE = 1e-6
"""A history with a smaller share of the heaviest one's weight is not carried over."""
TREE_KEYS = 1 << 40
"""Keys in a search's tree begin here: they live for one search, those of the particles for a game."""


class Weighed:
    """A particle and its weight.

    Attributes:
        particle: the history.
        copies: how often it was drawn.
        log_weight: of each copy.
        keys: each player's history key, up to its last own action.
    """

    __slots__ = ("copies", "keys", "log_weight", "particle")

    def __init__(self, particle: Particle, log_weight: float, keys: list[int]) -> None:
        self.particle = particle
        self.copies = 0
        self.log_weight = log_weight
        self.keys = keys


@dataclass(frozen=True)
class Kept:
    """What a player keeps of its belief until its next decision.

    Attributes:
        player: whose.
        history: its own decision points so far, the last action None.
        pool: the histories.
        reader: with the keys that they have.
    """

    player: int
    history: tuple[tuple[Observation, Action | None], ...]
    pool: list[Weighed]
    reader: Reader

    def leads_to(self, position: Position) -> bool:
        """Returns whether `position` is a later decision of the same player in the same game, as far as it can tell."""
        last = len(self.history) - 1
        if position.player != self.player or len(position.history) <= len(self.history):
            return False
        past = position.history[: last + 1]
        return (
            all(tuple(step) == then for step, then in zip(past, self.history[:last], strict=False))
            and past[last][0] == self.history[last][0]
        )


@dataclass(frozen=True)
class Continuation:
    """What may have happened since the last decision.

    Attributes:
        actions: of everybody, after the player's own last one.
        log_chance: log-probability of chance's part in the history that this was taken from.
    """

    actions: tuple[Action, ...]
    log_chance: float


class WeightedBelief:
    """A pool of weighed histories; the simulations share them by weight.

    Attributes:
        counts: figures.
        keys: the keys of the histories in the search's tree.
    """

    def __init__(
        self,
        game: Game,
        sampler: ResamplesHistory,
        position: Position,
        config: PlannerConfig,
        rng: random.Random,
        errors: ErrorCount,
        kept: Kept | None = None,
    ) -> None:
        self._game = game
        self._position = position
        self._config = config
        self._rng = rng
        self._errors = errors
        self._drawer = Drawer(game, sampler, position, config, rng, errors)
        self.counts = self._drawer.counts
        self.keys = HistoryKeys(TREE_KEYS)
        self._drawn: dict[int, Weighed] = {}
        self._pool: list[Weighed] = []
        self._draws = 0
        self._failed_draws = 0
        prior = priors.policy_of(game, errors)
        if kept is not None and kept.leads_to(position):
            self._reader = kept.reader
            self._reader.prior = prior
            self._carry(kept)
        else:
            self._reader = Reader(game, config, prior)
        self._fill()
        self._shares = self._weights()
        self.counts.effective = self._effective()
        self._deal: list[Particle] = []
        self._turn = 0

    def next(self) -> Particle:
        """Returns the particle of the next simulation.

        Raises:
            NoHistoryError: there is none.
        """
        if not self._deal:
            if not self._pool:
                raise no_history(self.counts.tries, self._position.player)
            counts = systematic(self._shares, self._config.simulations, self._rng)
            self._deal = [own.particle for own, count in zip(self._pool, counts, strict=True) for _ in range(count)]
            self._rng.shuffle(self._deal)
        particle = self._deal[self._turn % len(self._deal)]
        self._turn += 1
        return particle

    def key(self, particle: Particle, player: int) -> int:
        """Returns the key of `player`'s history in a particle, up to its last own action."""
        return particle.key(player, self._game, self._reader.keys)

    def any_state(self) -> State | None:
        """Returns a state to take a legal action from: a particle's, else one of the right player that does not fit
        what was seen, else None."""
        return self._rng.choice(self._pool).particle.state if self._pool else self._drawer.stray

    def weighted_states(self, fill: bool = True) -> list[tuple[float, State]]:
        """Returns the belief as (weight, state), the weights summing to 1, at most `belief_size` of them."""
        size = self._config.belief_size
        if len(self._pool) <= size:
            return [(share, own.particle.state) for own, share in zip(self._pool, self._shares, strict=True)]
        counts = systematic(self._shares, size, self._rng)
        return [(count / size, own.particle.state) for own, count in zip(self._pool, counts, strict=True) if count]

    def kept(self) -> Kept:
        """Returns what to carry over to the player's next decision."""
        heaviest = max(self._shares, default=0.0)
        pool = [
            own
            for own, share in zip(self._pool, self._shares, strict=True)
            if own.particle.strict and share > NEGLIGIBLE * heaviest
        ]
        return Kept(
            self._position.player, tuple((seen, done) for seen, done in self._position.history), pool, self._reader
        )

    # ---------------------------------------------------------------- drawing

    def _fill(self) -> None:
        """Draws until there are `belief_size` histories and their effective number is high enough."""
        size = self._config.belief_size
        while self._more() and self._copies() < size:
            for _ in range(size - self._copies()):
                self._draw()
        wanted = self._config.belief_threshold * size
        while self._more() and self._effective() < wanted:
            for _ in range(max(1, size // BATCHES)):
                self._draw()

    def _copies(self) -> int:
        return sum(own.copies for own in self._pool)

    def _more(self) -> bool:
        return self._draws < MOST_DRAWS * self._config.belief_size and self._failed_draws < MOST_FAILED_DRAWS

    def _draw(self) -> Particle | None:
        """Adds a new history to the pool, or one more copy of a history that was drawn for this decision before."""
        if not self._more():
            return None
        self._draws += 1
        particle = self._drawer.draw()
        weighed = None if particle is None else self._drawn.get(id(particle)) or self._weigh(particle)
        if particle is None or weighed is None:
            self._failed_draws += 1
            return None
        self._failed_draws = 0
        weighed.copies += 1
        if weighed.copies == 1:
            self._drawn[id(particle)] = weighed
            self._pool.append(weighed)
        return particle

    def _weigh(self, particle: Particle) -> Weighed | None:
        """Reads all that the others did in a new history; None if the model fails on it."""
        keys = self._reader.start()
        total = 0.0
        try:
            for mover, state, action in particle.decisions(self._game):
                found = self._reader.read(keys, mover, state, action)
                # The inference function says that this was done, the model that it is not legal: the least likely.
                total += -math.inf if found is None else found
        except MemoryError:
            raise
        except Exception as error:
            self._errors.add(error)
            return None
        particle.know(keys)
        return Weighed(particle, total, keys)

    # ---------------------------------------------------------------- weights

    def _weights(self) -> list[float]:
        """Returns each particle's share of the belief. Where nothing fits the policy at all, all are alike."""
        top = max((own.log_weight for own in self._pool), default=0.0)
        if top == -math.inf:
            total = sum(own.copies for own in self._pool)
            return [own.copies / total for own in self._pool]
        raw = [own.copies * math.exp(own.log_weight - top) for own in self._pool]
        total_weight = math.fsum(raw)
        return [weight / total_weight for weight in raw]

    def _effective(self) -> float:
        return effective_size(self._weights(), [own.copies for own in self._pool])

    # ---------------------------------------------------------------- carrying over

    def _carry(self, kept: Kept) -> None:
        """Extends the histories of the last decision by what happened since."""
        continuations = self._continuations(len(kept.history))
        if not continuations:
            return
        carried, ratios, turn = [], [], 0
        for old in self._thinned(kept.pool):
            # Equal histories may have gone on differently: their copies take different continuations.
            shares = Counter(continuations[(turn + copy) % len(continuations)] for copy in range(old.copies))
            turn += old.copies
            for continuation, copies in shares.items():
                extended = self._tried(old, continuation, len(kept.history))
                if extended is not None:
                    own, ratio = extended
                    own.copies = copies
                    carried.append(own)
                    ratios.append(ratio)
        if not carried:
            return
        # What chance did since may be likelier after one history than after another. With weights in this ratio, of
        # mean 1, the carried histories are again distributed as new ones.
        mean = math.fsum(own.copies * ratio for own, ratio in zip(carried, ratios, strict=True))
        mean /= sum(own.copies for own in carried)
        for own, ratio in zip(carried, ratios, strict=True):
            own.log_weight += math.log(ratio / mean)
        self.counts.carried = sum(own.copies for own in carried)
        self._pool += carried

    def _thinned(self, pool: list[Weighed]) -> list[Weighed]:
        """Returns at most `MOST_KEPT * belief_size` of the particles, drawn by weight if there are more."""
        most = MOST_KEPT * self._config.belief_size
        if len(pool) <= most:
            return pool
        top = max(own.log_weight for own in pool)
        if top == -math.inf:
            return pool[:most]
        raw = [own.copies * math.exp(own.log_weight - top) for own in pool]
        total = math.fsum(raw)
        # Each stands for as much weight as one of the old copies had on average, which keeps the scale.
        log_mean = top + math.log(total / sum(own.copies for own in pool))
        thinned = []
        for own, count in zip(pool, systematic([weight / total for weight in raw], most, self._rng), strict=True):
            if count:
                copy = Weighed(own.particle, log_mean, own.keys)
                copy.copies = count
                thinned.append(copy)
        return thinned

    def _continuations(self, decisions: int) -> list[Continuation]:
        """Draws new histories, which join the pool, and returns how each went on after so many own decisions."""
        found: list[Continuation] = []
        self._sample_continuations(CONTINUATIONS, decisions, found)
        if len({continuation.actions for continuation in found}) > 1:
            self._sample_continuations(VARIED_CONTINUATIONS - CONTINUATIONS, decisions, found)
        return found

    def _sample_continuations(self, count: int, decisions: int, found: list[Continuation]) -> None:
        for _ in range(count):
            particle = self._draw()
            if particle is None or not particle.strict:
                continue
            begin = particle.own[decisions - 1] + 1
            try:
                found.append(Continuation(particle.actions[begin:], self._log_chance(particle.actions, begin)))
            except MemoryError:
                raise
            except Exception as error:
                self._errors.add(error)

    def _log_chance(self, actions: Sequence[Action], begin: int) -> float:
        """Returns the log-probability of what chance does in a history from index `begin` on."""
        game = self._game
        if not game.info.has_chance:
            return 0.0
        state = game.initial_state()
        total = 0.0
        for index, action in enumerate(actions):
            if index >= begin and game.current_player(state) == CHANCE:
                total += math.log(dict(game.chance_outcomes(state))[action])
            state = game.apply_action(state, action)
        return total

    def _tried(self, old: Weighed, continuation: Continuation, decisions: int) -> tuple[Weighed, float] | None:
        """Does what `_extended` does; where the model fails, that is counted, and the history is dropped."""
        try:
            return self._extended(old, continuation, decisions)
        except MemoryError:
            raise
        except Exception as error:
            self._errors.add(error)
            return None

    def _extended(self, old: Weighed, continuation: Continuation, decisions: int) -> tuple[Weighed, float] | None:
        """Returns an old history with what happened since, and how much likelier chance's part in it is than in the
        history that the continuation comes from; None if the two do not fit each other or what the player saw."""
        game, player, history = self._game, self._position.player, self._position.history
        last, turn = len(history) - 1, decisions
        done = history[decisions - 1][1]
        keys = old.keys.copy()
        log_weight, log_chance = old.log_weight, -continuation.log_chance
        actions = (*old.particle.actions, done or "", *continuation.actions)
        own = [*old.particle.own, len(old.particle.actions)]
        state = game.apply_action(old.particle.state, done or "")
        for index, action in enumerate(continuation.actions, len(old.particle.actions) + 1):
            mover = game.current_player(state)
            if mover == player:
                if turn >= last or action != history[turn][1] or not self._sees(state, turn):
                    return None
                own.append(index)
                turn += 1
            elif mover == CHANCE:
                chance = dict(game.chance_outcomes(state)).get(action, 0.0)
                if chance <= 0.0:
                    return None
                log_chance += math.log(chance)
            elif mover >= 0:
                found = self._reader.read(keys, mover, state, action)
                if found is None:
                    return None
                log_weight += found
            else:
                return None
            state = game.apply_action(state, action)
        if turn != last or game.current_player(state) != player or not self._sees(state, last):
            return None
        particle = Particle(state, actions, [], own, True, game.info.num_players)
        particle.know(keys)
        return Weighed(particle, log_weight, keys), math.exp(log_chance)

    def _sees(self, state: State, turn: int) -> bool:
        position = self._position
        return same(self._game.observations(state)[position.player], position.history[turn][0])
