"""One-ply search over a blueprint: everybody plays the policy prior, and the player who searches may leave it once.

The prior's likeliest action is the blueprint. A few others are tried beside it in the same sampled worlds with the same
luck, each game being played on by the blueprint of all players; an action is played instead only if it gains more than
a margin, beyond doubt. So a search cannot break a convention that the partners rely on for a gain that is noise, and
what is played is, up to that doubt, no worse than the blueprint.

Source: Lerer, Hu, Foerster, Brown, "Improving Policies via Search in Cooperative Partially Observable Games" (2020),
single-agent search; the margin is ours.
"""

import math
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import fmean, stdev

from games.api import CHANCE, TERMINAL, Action, Game, State
from search import evaluators
from search.api import Decision, Evaluator, Position
from search.belief import Belief, BeliefSource
from search.errors import FEWEST_ERRORS, BrokenModelError, ErrorCount, describe
from search.ismcts import Ismcts
from search.particles import Particle
from search.priors import PolicyPrior, policy_of
from search.selection import pick

LEAST_WORLDS = 6
"""No action is given up, and none is played instead of the blueprint's, after fewer worlds."""


class Blueprint(Ismcts):
    """The planner `blueprint`: it believes as `ismcts` does, and searches one ply."""

    def _believe(self, position: Position, rng: random.Random, errors: ErrorCount) -> BeliefSource:
        if self._config.candidates == 1:
            # One history tells what is legal and what the prior likes: nothing is to be weighed.
            return Belief(self._game, self._sampler, position, self._config, rng, errors)
        return super()._believe(position, rng, errors)

    def _search(
        self,
        position: Position,
        belief: BeliefSource,
        first: Particle,
        legal: list[Action],
        rng: random.Random,
        errors: ErrorCount,
    ) -> Decision:
        prior = policy_of(self._game, errors)
        shares = prior(first.state, legal, position.player)
        order = sorted(range(len(legal)), key=lambda place: -shares[place])[: self._config.candidates]
        trials = [_Trial(legal[place]) for place in order]
        comparison = _Comparison(self._game, prior, trials, position.player, self._config.max_rollout_actions)
        if self._config.leaf == "value":
            comparison.leaf = evaluators.make(self._game, self._config, position.player)
        why = None
        if len(trials) > 1:
            why = self._compare(comparison, belief, first, rng, errors)
        if why is not None:
            return self._fall_back(why, belief, errors, rng)
        return Decision(
            action=self._chosen(trials).action,
            visits={trial.action: len(trial.returns) for trial in trials},
            values={trial.action: fmean(trial.returns) for trial in trials if trial.returns},
            simulations=sum(len(trial.returns) for trial in trials),
            fallback=None,
            belief=belief.counts.to_json(),
            errors=errors.to_json(),
            priors=dict(zip(legal, shares, strict=True)) if position.as_searched else None,
        )

    def _compare(
        self, comparison: "_Comparison", belief: BeliefSource, first: Particle, rng: random.Random, errors: ErrorCount
    ) -> str | None:
        """Plays worlds until the budget is spent or every other action is given up; returns why the search failed."""
        config = self._config
        end = math.inf if config.seconds is None else time.monotonic() + config.seconds
        left, failed, worlds = config.simulations, 0, 0
        particle = first
        while left > 0 and len(comparison.alive) > 1 and (worlds == 0 or time.monotonic() < end):
            try:
                left -= len(comparison.alive)
                comparison.play(particle.state, rng.getrandbits(63))
                worlds += 1
                if worlds >= LEAST_WORLDS:
                    comparison.give_up(config.margin, config.margin_errors)
                particle = belief.next()
            except MemoryError:
                raise
            except Exception as error:
                errors.add(error)
                failed += 1
                if failed >= max(FEWEST_ERRORS, worlds):
                    return f"the model raised in {failed} of {failed + worlds} sampled worlds, last {describe(error)}"
        return None

    def _chosen(self, trials: Sequence["_Trial"]) -> "_Trial":
        """Returns the trial that gains most over the first one, among those that gain beyond doubt, else the first."""
        best, most = trials[0], self._config.margin
        for trial in trials[1:]:
            gain, error = trial.gain
            if len(trial.gains) >= LEAST_WORLDS and gain > most and gain > self._config.margin_errors * error:
                best, most = trial, gain
        return best


@dataclass
class _Trial:
    """One action at the root.

    Attributes:
        action: the action.
        returns: what the player got after it, a world; fewer where the action was given up.
        gains: how much more than after the blueprint's action, a world.
    """

    action: Action
    returns: list[float] = field(default_factory=list)
    gains: list[float] = field(default_factory=list)

    @property
    def gain(self) -> tuple[float, float]:
        """The mean gain and its standard error."""
        if len(self.gains) < 2:
            return 0.0, math.inf
        return fmean(self.gains), stdev(self.gains) / math.sqrt(len(self.gains))


class _Comparison:
    """Plays the same worlds after each action.

    Attributes:
        alive: the trials that are still played; the first is the blueprint's.
        leaf: values where a game is cut; None: what is still open counts as 0.
    """

    def __init__(self, game: Game, prior: PolicyPrior, trials: Sequence[_Trial], player: int, max_actions: int) -> None:
        self.alive = list(trials)
        self.leaf: Evaluator | None = None
        self._game = game
        self._prior = prior
        self._player = player
        self._max_actions = max_actions

    def play(self, state: State, seed: int) -> None:
        """Plays one world after every action that is alive; the same seed deals the same to all of them."""
        returns = [self._played(state, trial.action, random.Random(seed)) for trial in self.alive]
        for trial, paid in zip(self.alive, returns, strict=True):
            trial.returns.append(paid)
            trial.gains.append(paid - returns[0])

    def give_up(self, margin: float, errors: float) -> None:
        """Drops the actions that would need luck to come beyond the margin still."""
        first, *others = self.alive
        kept = [trial for trial in others if trial.gain[0] + errors * trial.gain[1] > margin]
        self.alive = [first, *kept]

    def _played(self, state: State, action: Action, chance: random.Random) -> float:
        """Returns what the player gets from `action` on.

        Raises:
            BrokenModelError: that is no finite number.
        """
        game, player = self._game, self._player
        total = 0.0
        for _ in range(self._max_actions):
            state = game.apply_action(state, action)
            total += game.rewards(state)[player]
            mover = game.current_player(state)
            if mover == TERMINAL:
                break
            if mover == CHANCE:
                action = pick(game.chance_outcomes(state), chance.random())
            else:
                action = likeliest(self._prior, state, game.legal_actions(state), mover)
        else:
            if self.leaf is not None:
                total += self.leaf(game, state, chance)[player]
        if not math.isfinite(total):
            raise BrokenModelError(f"the rewards of a game sum to {total}, expected a finite number")
        return total


def likeliest(prior: PolicyPrior, state: State, legal: Sequence[Action], player: int) -> Action:
    """Returns the action to which a prior gives most, the first of several; where there is one, it is not asked."""
    if len(legal) == 1:
        return legal[0]
    shares = prior(state, legal, player)
    return legal[shares.index(max(shares))]
