"""Monte Carlo tree search in games of perfect information, with explicit chance nodes.

Every player maximises its own return (max-n), so one search serves zero-sum, general-sum and cooperative games of any
number of players. Rewards on the way count.
"""

import random
from typing import TypeAlias, cast

from games.api import CHANCE, Action, Game, State
from search import evaluators, priors
from search.api import Decision, PlannerConfig, Position
from search.errors import BrokenModelError, ErrorCount, SearchFailedError, describe, root_actions, run_simulations
from search.puct import PriorEdge, Puct, Ranking, told
from search.selection import Edge, Selector, exploration_constant, most_visited, pick, ucb, widening

NodeEdge: TypeAlias = "Edge[Node]"

RETRIES = 3
"""How often a node takes an action back whose simulation failed."""


class Node:
    """A state in the tree.

    Attributes:
        state: the state.
        player: who moves there.
        reward: what reaching it paid, shape [num_players]; None if nothing.
        open: False until the node has been evaluated as a leaf.
        visits: simulations that went on from here.
        total: sum of the acting player's returns over these.
        edges: the actions tried so far.
        untried: the others in random order, the next one last; None until asked for.
        outcomes: at a chance node, (action, probability); None until asked for.
        by_outcome: at a chance node, the children so far.
        retries: how many failed actions the node may still take back.
        ranking: under PUCT the actions by prior; None until asked for.
    """

    __slots__ = (
        "by_outcome",
        "edges",
        "open",
        "outcomes",
        "player",
        "ranking",
        "retries",
        "reward",
        "state",
        "total",
        "untried",
        "visits",
    )

    def __init__(self, state: State, player: int, reward: list[float] | None) -> None:
        self.state = state
        self.player = player
        self.reward = reward
        self.open = False
        self.visits = 0
        self.total = 0.0
        self.edges: list[NodeEdge] = []
        self.untried: list[Action] | None = None
        self.outcomes: list[tuple[Action, float]] | None = None
        self.by_outcome: dict[Action, NodeEdge] | None = None
        self.retries = RETRIES
        self.ranking: Ranking | None = None


class Mcts:
    """The planner `mcts`."""

    def __init__(self, game: Game, config: PlannerConfig) -> None:
        self._game = game
        self._config = config

    def choose(self, position: Position, rng: random.Random) -> Decision:
        """Searches from `position.state`.

        Raises:
            SearchFailedError: no state was given, or the model cannot list its legal actions.
        """
        if position.state is None:
            raise SearchFailedError("mcts was given no state; expected Position.state of a perfect-information game.")
        try:
            legal = root_actions(self._game, position.state)
        except MemoryError:
            raise
        except Exception as error:
            raise SearchFailedError(f"the model cannot list the legal actions: {describe(error)}") from error
        if not legal:
            raise SearchFailedError("the model lists no legal action in the position to decide.")
        if len(legal) == 1:
            return Decision(legal[0], {legal[0]: 0}, {}, 0, None, {}, {})
        return self._search(position, legal, rng)

    def _search(self, position: Position, legal: list[Action], rng: random.Random) -> Decision:
        errors = ErrorCount()
        tree = Tree(self._game, self._config, position, rng, errors)
        config = self._config
        done, why = run_simulations(tree.simulate, tree.abandon, config.simulations, errors, config.seconds)
        edges = sorted(tree.root.edges, key=lambda edge: legal.index(edge.action))
        action = most_visited(edges, legal).action if why is None else rng.choice(legal)
        visits = {edge.action: edge.visits for edge in edges}
        values = {edge.action: edge.mean for edge in edges}
        priors = told(tree.root.ranking) if position.as_searched else None
        return Decision(action, visits, values, done, why, {}, errors.to_json(), priors=priors)


class Tree:
    """One search."""

    def __init__(
        self, game: Game, config: PlannerConfig, position: Position, rng: random.Random, errors: ErrorCount
    ) -> None:
        self._game = game
        self._rng = rng
        self._uniform = rng.random
        self._evaluate = evaluators.make(game, config, position.player)
        self._select: Selector[Node] = ucb(exploration_constant(game.info, config))
        self._puct = Puct(game.info, config) if config.selection == "puct" else None
        self._prior = priors.make(game, config, errors)
        self._noise = (config.root_noise, config.noise_concentration)
        self._limit = widening(config) if config.widening_coefficient > 0.0 else None
        self._max_depth = config.max_depth
        self._nothing = [0.0] * game.info.num_players
        self._path: list[NodeEdge] = []
        self._parents: list[Node] = []
        self._fresh: list[tuple[Node, Action]] = []
        self.root = Node(position.state, position.player, None)
        self.root.open = True

    def simulate(self) -> None:
        """Walks down to a leaf, values it, and backs the returns up."""
        node = self.root
        path: list[NodeEdge] = []
        parents: list[Node] = []
        self._path, self._parents = path, parents
        self._fresh.clear()
        while len(path) < self._max_depth:
            player = node.player
            if player >= 0:
                if not node.open:
                    break
                edge = self._step(node) if self._puct is None else self._prior_step(self._puct, node)
            elif player == CHANCE:
                edge = self._outcome(node)
            else:
                break
            parents.append(node)
            path.append(edge)
            node = edge.child
        returns = self._evaluate(self._game, node.state, self._rng) if node.player >= CHANCE else self._nothing
        node.open = True
        self._back_up(returns)

    def abandon(self) -> None:
        """Takes back the new edge of a simulation in which the model raised."""
        for node, action in self._fresh:
            if not node.retries:
                continue
            node.retries -= 1
            if node.ranking is not None:
                node.ranking.give_back(action)
            elif node.untried is not None:
                node.untried.insert(0, action)

    def _step(self, node: Node) -> NodeEdge:
        untried = node.untried
        if untried is None:
            untried = node.untried = list(self._game.legal_actions(node.state))
            self._rng.shuffle(untried)
        edges = node.edges
        if untried and (self._limit is None or len(edges) < self._limit(node.visits)):
            action = untried.pop()
            self._fresh.append((node, action))
            return Edge(action, node.player, self._child(node, action))
        if not edges:
            raise BrokenModelError(f"player {node.player} is to move and has no action that the model can play")
        return self._select(edges, node.visits)

    def _prior_step(self, puct: Puct, node: Node) -> NodeEdge:
        ranking = node.ranking
        if ranking is None:
            ranking = node.ranking = self._rank(puct, node)
        untried = None
        if ranking.next < len(ranking.actions) and (self._limit is None or len(node.edges) < self._limit(node.visits)):
            untried = ranking.weights[ranking.next]
        edge = puct.select(cast("list[PriorEdge[Node]]", node.edges), node.visits, node.total, untried)
        if edge is not None:
            return edge
        if untried is None:
            raise BrokenModelError(f"player {node.player} is to move and has no action that the model can play")
        action, weight = ranking.take()
        self._fresh.append((node, action))
        return PriorEdge(action, node.player, self._child(node, action), weight)

    def _rank(self, puct: Puct, node: Node) -> Ranking:
        legal = self._game.legal_actions(node.state)
        if not legal:
            raise BrokenModelError(f"player {node.player} is to move and has no legal action")
        chances = self._prior(node.state, legal, node.player)
        share, concentration = self._noise
        if node is self.root and share:
            chances = priors.noisy(chances, share, concentration, self._rng)
        return puct.rank(legal, chances, self._rng)

    def _outcome(self, node: Node) -> NodeEdge:
        outcomes = node.outcomes
        if outcomes is None or node.by_outcome is None:
            outcomes = node.outcomes = self._game.chance_outcomes(node.state)
            if not outcomes:
                raise BrokenModelError("a chance node has no outcomes")
            node.by_outcome = {}
        action = pick(outcomes, self._uniform())
        edge = node.by_outcome.get(action)
        if edge is None:
            edge = node.by_outcome[action] = Edge(action, CHANCE, self._child(node, action))
        return edge

    def _child(self, node: Node, action: Action) -> Node:
        game = self._game
        state = game.apply_action(node.state, action)
        reward = game.rewards(state)
        paid = None if reward == self._nothing else evaluators.checked_reward(reward, len(self._nothing))
        return Node(state, game.current_player(state), paid)

    def _back_up(self, returns: list[float]) -> None:
        parents = self._parents
        for index in range(len(parents) - 1, -1, -1):
            edge = self._path[index]
            reward = edge.child.reward
            if reward is not None:
                returns = [later + now for later, now in zip(returns, reward, strict=True)]
            if edge.player < 0:
                continue
            node = parents[index]
            if not edge.visits:
                node.edges.append(edge)
            value = returns[edge.player]
            node.visits += 1
            node.total += value
            edge.record(value)
