"""From settings to a planner, and the planner itself: it follows one agent's game and decides its moves."""

import random
from bisect import bisect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Final

from games.api import Action
from games.posg.api import InfersPosg, PosgError, PosgModel, ValuesStates
from search.api import Decision, PlannerConfigError, Position
from search.errors import ErrorCount, SearchFailedError, describe, run_simulations
from search.posg import meta
from search.posg.belief import NotExplainedError, PosgBelief, Scope
from search.posg.belief_adapted import AdaptedBelief
from search.posg.belief_exact import ExactBelief
from search.posg.belief_inferred import InferredBelief
from search.posg.belief_rejection import RejectionBelief
from search.posg.config import PosgPlannerConfig, check
from search.posg.nested import Nest
from search.posg.others import Mind, Minds, OtherPolicy, Uniform
from search.posg.select import best_valued, most_tried
from search.posg.simulate import Lead, Leads, PosgParticle, Simulator
from search.posg.steps import as_seen
from search.posg.tables import steps_of
from search.posg.told import Hearing, Told, moments, same_beginning
from search.posg.tree import EgoEdge, EgoNode, Span
from search.posg.types import UNKNOWN, Types, named_policy

BELIEFS: Final[Mapping[str, Callable[[Scope], PosgBelief]]] = {
    "rejection": RejectionBelief,
    "adapted": AdaptedBelief,
    "exact": ExactBelief,
    "inferred": InferredBelief,
}
RENEWALS: Final = 3
"""Times that a belief is made anew from the whole history in one game, after nothing explained what was seen; once
where the model infers, since it is then drawn by that for the rest of the game, or, where that lost it, adapted."""


def make(
    model: PosgModel,
    ego: int,
    config: PosgPlannerConfig,
    policies: Mapping[str, Sequence[OtherPolicy]] | None = None,
    payoffs: Sequence[Sequence[float]] | None = None,
) -> "PosgPlanner":
    """Returns a planner for one agent of a game.

    Args:
        model: the game.
        ego: the agent.
        config: the settings.
        policies: by name, a policy for each agent; those that `types` and `search` name are used.
        payoffs: for `potmmcp`: what each policy is worth to the ego against each type, [types][policies]; None: it is
            estimated by playing.

    Raises:
        PlannerConfigError: a setting is out of range, or a type or `search` has no policy.
        PosgError: the model or a policy breaks its rules at the start of the game.
    """
    check(config)
    info = model.info
    if not 0 <= ego < info.num_agents:
        raise PlannerConfigError(f"{info.id} has agents 0 to {info.num_agents - 1}, not {ego}.")
    if config.leaf == "value" and not isinstance(model, ValuesStates):
        raise PlannerConfigError(f"{info.id} has no value function on states: use leaf=rollout.")
    policies = policies or {}
    wanted = {name: named_policy(policies, name, info.id) for name in config.types}
    if config.unknown:
        wanted[UNKNOWN] = named_policy(
            {"uniform": [Uniform()] * info.num_agents, **policies}, config.unknown_as, info.id
        )
    if config.search and config.search not in policies:
        raise PlannerConfigError(
            f"{info.id} has no policy {config.search!r}; those that search may name: {', '.join(policies) or 'none'}."
        )
    return PosgPlanner(model, ego, config, {**policies, **wanted}, payoffs)


def _shares(config: PosgPlannerConfig) -> Sequence[float]:
    """Returns the probability of each type of an agent, the unknown one last; () for equal ones."""
    if not config.unknown:
        return ()
    return [*[(1.0 - config.unknown) / len(config.types)] * len(config.types), config.unknown]


class PosgPlanner:
    """Follows one agent's game and decides its moves. A planner serves one seat; what it knows of a game it keeps from
    one decision to the next, and begins anew where it is shown another game."""

    def __init__(
        self,
        model: PosgModel,
        ego: int,
        config: PosgPlannerConfig,
        policies: Mapping[str, Sequence[OtherPolicy]],
        payoffs: Sequence[Sequence[float]] | None = None,
    ) -> None:
        """For the arguments see `make`."""
        self._model, self._ego, self._config = model, ego, config
        steps = steps_of(model, ego, config.tables)
        names = [*config.types, *([UNKNOWN] if config.unknown else [])]
        types = Types(model.info, ego, {name: policies[name] for name in names}, _shares(config))
        self.scope = Scope(steps, types, Hearing(model, ego), config)
        self._nest = Nest(model, ego, self.scope) if config.searches > 1 else None
        if self._nest is not None:
            self.scope = self.scope._replace(types=self._nest.types)
        self._simulator = Simulator(steps, self.scope.types, config)
        leads = [config.search] if config.search else config.types
        self._own = [Minds(name, policies[name][ego], ego) for name in leads]
        self._sums: list[list[float]] = []
        if config.method == "potmmcp":
            table = payoffs or meta.payoffs(self.scope, self._own, random.Random(0))
            if len(table) != len(types.names):
                raise PlannerConfigError(f"payoffs has {len(table)} rows, expected one for each of {types.names}.")
            self._sums = [list(accumulate(meta.shares(row, config)))[:-1] for row in table]
        if config.method == "combined":
            self._sums = [[] for _ in types.names]
        self._is_checked = False
        self._reset()

    @property
    def belief(self) -> PosgBelief:
        """What the planner believes now."""
        return self._belief

    def choose(self, position: Position, rng: random.Random, legal: Sequence[Action] = ()) -> Decision:
        """Decides a move.

        Args:
            position: the agent's own decision points.
            rng: of all that is drawn.
            legal: what may be played where the belief is lost; () if that is not known.

        Raises:
            SearchFailedError: the history is empty, or is another agent's.
        """
        told = moments(position.history)
        if not told or position.player != self._ego:
            raise SearchFailedError(f"this planner needs the decision points of agent {self._ego}.")
        errors = ErrorCount()
        try:
            self._follow(told, rng, errors)
        except MemoryError:
            raise
        except Exception as error:
            # Whatever a model or a policy raised: a move is still made, and the reason is told with it.
            errors.add(error)
            self._told.clear()
            return self._at_random(rng, legal, str(error) if isinstance(error, PosgError) else describe(error), errors)
        decision = self._search(rng, legal, errors)
        if position.report_belief or position.as_searched:
            cloud, state = self._belief.cloud, self.scope.steps.state
            believed = [(w, state(one.place)) for w, one in zip(cloud.weights, cloud.particles, strict=True)]
            return replace(decision, belief_states=believed)
        return decision

    def follow(self, told: Sequence[Told], rng: random.Random) -> None:
        """Carries the belief on to the last of an agent's moments, without a search.

        Raises:
            NotExplainedError: nothing explains them.
        """
        self._follow(told, rng, ErrorCount())

    def _reset(self) -> None:
        self._told: list[Told] = []
        self._root = EgoNode()
        self._simulator.span = Span()
        self._belief: PosgBelief = BELIEFS[self._config.belief](self.scope)
        self._minds: list[Mind] = []
        self._renewals = 0
        if self._nest is not None:
            self._nest.reset()

    def _follow(self, told: Sequence[Told], rng: random.Random, errors: ErrorCount) -> None:
        if not self._is_checked:
            self._check_chance()
        if not same_beginning(self._told, told):
            self._reset()
        self.scope.types.forget()
        first: NotExplainedError | None = None
        while len(self._told) < len(told):
            try:
                self._take_in(told, rng, errors)
            except NotExplainedError as error:
                inferred = self._config.belief == "inferred"
                if self._renewals == RENEWALS or not (self._told or inferred):
                    if first is None:
                        raise
                    # Why no draws were to be had says more than what came of it.
                    raise first from error
                first = error if inferred else None
                errors.add(error)
                renewals = self._renewals + 1
                self._reset()
                self._renewals = renewals
                if isinstance(self._model, InfersPosg) and self._nest is None:
                    # The other one: what lost the belief once would lose it again.
                    other: PosgBelief = AdaptedBelief(self.scope) if inferred else InferredBelief(self.scope)
                    self._belief, self._renewals = other, RENEWALS

    def _check_chance(self) -> None:
        """Goes through the starts and through one step, as far as `branches`: draws themselves check nothing.

        Raises:
            PosgError: a draw breaks the rules.
        """
        steps, branches = self.scope.steps, self._config.branches
        steps.begin(random.Random(0))
        steps.openings(branches)
        place = steps.opening().place
        joint = tuple(steps.legal(place, agent)[0] for agent in range(self._model.info.num_agents))
        steps.ways(place, joint, branches)
        self._is_checked = True

    def _take_in(self, told: Sequence[Told], rng: random.Random, errors: ErrorCount) -> None:
        """Takes the next of the moments into the belief and moves the root of the tree."""
        now = told[len(self._told)]
        if not self._told:
            self._belief.start(now, rng)
            self._led_from(None, now)
            self._nested_in(rng)
            self._told = [now]
            return
        action = told[len(self._told) - 1].action or self._model.info.actions[self._ego][0]
        child = self._child(action, now)
        self._belief.update(action, now, [PosgParticle(*one) for one in child.particles], rng)
        self._led_from(action, now)
        self._nested_in(rng)
        child.particles = []
        if self._belief.cloud.softened:
            errors.add(
                PosgError(
                    f"no type gives probability to what was done before step {len(self._told)}; in that step the "
                    "others count as acting at random."
                )
            )
        self._root, self._told = child, [*told[: len(self._told)], now]

    def _nested_in(self, rng: random.Random) -> None:
        if self._nest is not None:
            self._nest.follow(self._belief.cloud, rng)

    def _child(self, action: Action, now: Told) -> EgoNode:
        """Returns the node that an action and what was told then lead to, a new one if no simulation came there."""
        key_of = self.scope.hearing.key_of
        for edge in self._root.edges or ():
            if edge.action == action:
                for key, child in edge.children.items():
                    if key_of(key) == now.key:
                        return child
        return EgoNode()

    def _led_from(self, action: Action | None, now: Told) -> None:
        """Carries the ego's own minds on, where its policies lead the search."""
        if not self._sums:
            return
        seen = as_seen(self.scope.hearing.own_of(now))
        legal = self.scope.steps.legal(self._belief.cloud.particles[0].place, self._ego)
        if action is None:
            self._minds = [minds.first(seen, legal) for minds in self._own]
        else:
            pairs = zip(self._own, self._minds, strict=True)
            self._minds = [minds.after(mind, action, seen, legal) for minds, mind in pairs]

    def _leads(self) -> Leads | None:
        if not self._sums:
            return None
        leads = [Lead(minds, mind) for minds, mind in zip(self._own, self._minds, strict=True)]
        sums = self._sums
        return lambda kind, point: leads[bisect(sums[kind], point)]

    def _search(self, rng: random.Random, legal: Sequence[Action], errors: ErrorCount) -> Decision:
        config, limit = self._config, self._model.info.step_limit
        left = config.depth if limit is None else max(1, min(config.depth, limit - len(self._told) + 1))
        simulator, below = self._simulator, 0
        if self._nest is not None:
            below = self._nest.search(config, left, rng, errors)
        simulator.begin(self._root, self._belief.cloud.draw, left, rng, self._leads())
        part = None if config.seconds is None else config.seconds / config.searches
        count = config.simulations - (config.searches - 1) * (config.simulations // config.searches)
        done, gave_up = run_simulations(simulator.simulate, simulator.abandon, count, errors, part)
        done += below
        edges = [edge for edge in self._root.edges or () if edge.visits]
        if gave_up is not None or not edges:
            return self._at_random(rng, legal, gave_up or "the search came to no action of its own", errors, done)
        best = self._best(edges)
        figures = self._belief.cloud.figures(self.scope)
        visits, values = {edge.action: edge.visits for edge in edges}, {edge.action: edge.mean for edge in edges}
        return Decision(best.action, visits, values, done, None, figures, errors.to_json())

    def _best(self, edges: Sequence[EgoEdge]) -> EgoEdge:
        return most_tried(edges) if self._sums else best_valued(edges)

    def _at_random(
        self, rng: random.Random, legal: Sequence[Action], why: str, errors: ErrorCount, done: int = 0
    ) -> Decision:
        """Returns a random legal action, with the reason why the search has none."""
        if not legal:
            particles = self._belief.cloud.particles
            actions = self._model.info.actions[self._ego]
            legal = self.scope.steps.legal(particles[0].place, self._ego) if particles and self._told else actions
        return Decision(
            rng.choice(list(legal)), {}, {}, done, f"{why} A random action is played.", {}, errors.to_json()
        )
