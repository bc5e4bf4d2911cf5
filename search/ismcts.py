"""Information-set Monte Carlo tree search with a single observer, over a belief (Cowling et al., 2012).

Each simulation takes a sampled history and walks one tree that all of them share. A node is what the acting player has
seen and done at its own decision points, so no player's moves can depend on what that player does not know. Chance is
drawn on the way; what it did shows in what the next player sees.
"""

import random
from dataclasses import replace

from games.api import Action, Game, ResamplesHistory
from search.api import Decision, PlannerConfig, Position
from search.belief import Belief, BeliefSource, Sampler, one_history
from search.errors import ErrorCount, NoHistoryError, SearchFailedError, describe, root_actions, run_simulations
from search.info_tree import InformationTree
from search.particles import Particle
from search.puct import told
from search.selection import most_visited
from search.weighted_belief import Kept, WeightedBelief


class Ismcts:
    """The planner `ismcts`. It keeps a weighted belief from one decision to the next of the same player and game: a
    planner serves one seat."""

    def __init__(self, game: Game, sampler: Sampler, config: PlannerConfig) -> None:
        self._game = game
        self._sampler = sampler
        self._config = config
        self._kept: Kept | None = None

    def choose(self, position: Position, rng: random.Random) -> Decision:
        """Searches from the position.

        Raises:
            SearchFailedError: the history is malformed, or not even a stray state to take a legal action from was had.
        """
        if not one_history(position.history):
            raise SearchFailedError("ismcts needs the player's history, its last action None and no other one.")
        errors = ErrorCount()
        belief = self._believe(position, rng, errors)
        decision = self._decide(position, belief, rng, errors)
        if position.as_searched:
            return replace(decision, belief_states=belief.weighted_states(fill=False))
        return replace(decision, belief_states=belief.weighted_states()) if position.report_belief else decision

    def _believe(self, position: Position, rng: random.Random, errors: ErrorCount) -> BeliefSource:
        if not self._config.belief_temper or not isinstance(self._sampler, ResamplesHistory):
            return Belief(self._game, self._sampler, position, self._config, rng, errors)
        kept, self._kept = self._kept, None
        belief = WeightedBelief(self._game, self._sampler, position, self._config, rng, errors, kept)
        self._kept = belief.kept()
        return belief

    def _decide(self, position: Position, belief: BeliefSource, rng: random.Random, errors: ErrorCount) -> Decision:
        try:
            first = belief.next()
            legal = root_actions(self._game, first.state)
        except MemoryError:
            raise
        except NoHistoryError as error:
            return self._fall_back(str(error), belief, errors, rng)
        except Exception as error:
            errors.add(error)
            return self._fall_back(f"the model cannot list the legal actions: {describe(error)}", belief, errors, rng)
        if not legal:
            return self._fall_back("the model lists no legal action in the position", belief, errors, rng)
        if len(legal) == 1:
            return Decision(legal[0], {legal[0]: 0}, {}, 0, None, belief.counts.to_json(), errors.to_json())
        return self._search(position, belief, first, legal, rng, errors)

    def _search(
        self,
        position: Position,
        belief: BeliefSource,
        first: Particle,
        legal: list[Action],
        rng: random.Random,
        errors: ErrorCount,
    ) -> Decision:
        tree = InformationTree(self._game, self._config, position, belief, first, rng, errors)
        config = self._config
        done, why = run_simulations(tree.simulate, tree.abandon, config.simulations, errors, config.seconds)
        if why is not None:
            return self._fall_back(why, belief, errors, rng)
        rank = {action: number for number, action in enumerate(legal)}
        edges = sorted(tree.root.edges, key=lambda edge: rank.get(edge.action, len(rank)))
        return Decision(
            action=most_visited(edges, legal).action,
            visits={edge.action: edge.visits for edge in edges},
            values={edge.action: edge.mean for edge in edges},
            simulations=done,
            fallback=None,
            belief=belief.counts.to_json(),
            errors=errors.to_json(),
            priors=told(tree.root.ranking) if position.as_searched else None,
        )

    def _fall_back(self, why: str, belief: BeliefSource, errors: ErrorCount, rng: random.Random) -> Decision:
        """Plays a random legal action of a resampled state (the CWM paper, G.6)."""
        state = belief.any_state()
        if state is None:
            raise SearchFailedError(f"{why}, and no state was had to take a legal action from.")
        try:
            action = rng.choice(root_actions(self._game, state))
        except MemoryError:
            raise
        except Exception as error:
            raise SearchFailedError(f"{why}, and the model cannot list legal actions: {describe(error)}") from error
        return Decision(action, {}, {}, 0, why, belief.counts.to_json(), errors.to_json())
