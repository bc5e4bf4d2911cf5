"""Monte Carlo tree search in games of perfect information, with explicit chance nodes.

Every player maximises its own return (max-n), so one search serves zero-sum, general-sum and cooperative games of any
number of players. Rewards on the way count.
"""

import random
from typing import TypeAlias

from games.api import CHANCE, Action, Game, State
from search import evaluators
from search.api import Decision, PlannerConfig, Position
from search.errors import BrokenModelError, ErrorCount, SearchFailedError, describe, root_actions, run_simulations
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
        edges: the actions tried so far.
        untried: the others in random order, the next one last; None until asked for.
        outcomes: at a chance node, (action, probability); None until asked for.
        by_outcome: at a chance node, the children so far.
        retries: how many failed actions the node may still take back.
    """

    __slots__ = (
        "by_outcome",
        "edges",
        "open",
        "outcomes",
        "player",
        "retries",
        "reward",
        "state",
        "untried",
        "visits",
    )

    def __init__(self, state: State, player: int, reward: list[float] | None) -> None:
        self.state = state
        self.player = player
        self.reward = reward
        self.open = False
        self.visits = 0
        self.edges: list[NodeEdge] = []
        self.untried: list[Action] | None = None
        self.outcomes: list[tuple[Action, float]] | None = None
        self.by_outcome: dict[Action, NodeEdge] | None = None
        self.retries = RETRIES


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
        tree = Tree(self._game, self._config, position, rng)
        done, why = run_simulations(tree.simulate, tree.abandon, self._config.simulations, errors)
        edges = sorted(tree.root.edges, key=lambda edge: legal.index(edge.action))
        action = most_visited(edges, legal).action if why is None else rng.choice(legal)
        visits = {edge.action: edge.visits for edge in edges}
        values = {edge.action: edge.mean for edge in edges}
        return Decision(action, visits, values, done, why, {}, errors.to_json())


class Tree:
    """One search."""

    def __init__(self, game: Game, config: PlannerConfig, position: Position, rng: random.Random) -> None:
        self._game = game
        self._rng = rng
        self._uniform = rng.random
        self._evaluate = evaluators.make(game, config, position.player)
        self._select: Selector[Node] = ucb(exploration_constant(game.info, config))
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
                edge = self._step(node)
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
            if node.retries and node.untried is not None:
                node.retries -= 1
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
            node.visits += 1
            edge.record(returns[edge.player])
