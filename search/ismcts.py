"""Information-set Monte Carlo tree search with a single observer, over a belief (Cowling et al., 2012).

Each simulation takes a sampled history and walks one tree that all of them share. A node is what the acting player has
seen and done at its own decision points, so no player's moves can depend on what that player does not know. Chance is
drawn on the way; what it did shows in what the next player sees.
"""

import random
from typing import TypeAlias

from games.api import CHANCE, Action, Game, ResamplesHistory, State
from search import evaluators
from search.api import Decision, PlannerConfig, Position
from search.belief import Belief, Particle, one_history
from search.errors import (
    BrokenModelError,
    ErrorCount,
    NoHistoryError,
    SearchFailedError,
    describe,
    root_actions,
    run_simulations,
)
from search.selection import (
    Edge,
    Selector,
    availability_ucb,
    exploration_constant,
    most_visited,
    pick,
    ucb,
    widening,
)

KeyEdge: TypeAlias = Edge[int]

RETRIES = 3
"""How often a node takes an action back whose simulation failed."""
MOST_CACHED_SCENES = 20_000
"""States kept with their particles during one search; bounds the memory."""


class InfoNode:
    """What one player knows at one of its decision points.

    Attributes:
        key: of its history, the present observation included.
        player: whose.
        open: False until the node has been evaluated as a leaf.
        visits: simulations that went on from here.
        edges: the actions tried so far and backed up.
        by_action: the same, and those under way, by action.
        legal: the actions that were legal when the node was first left.
        untried: those of them not tried so far, in random order, the next one last.
        uneven: True once another determinization had other legal actions.
        retries: how many failed actions the node may still take back.
    """

    __slots__ = ("by_action", "edges", "key", "legal", "open", "player", "retries", "uneven", "untried", "visits")

    def __init__(self, key: int, player: int) -> None:
        self.key = key
        self.player = player
        self.open = False
        self.visits = 0
        self.edges: list[KeyEdge] = []
        self.by_action: dict[Action, KeyEdge] = {}
        self.legal: list[Action] | None = None
        self.untried: list[Action] = []
        self.uneven = False
        self.retries = RETRIES


class Scene:
    """A state in one particle's own future, with what has been worked out about it.

    Attributes:
        state: the state.
        player: who moves.
        reward: what reaching it paid, shape [num_players]; None if nothing.
        keys: each player's history key up to its last own action; None: as the particle has it.
        node: the acting player's node; None until asked for.
        legal: legal actions; None until asked for.
        outcomes: at a chance node, (action, probability); None until asked for.
        after: the scenes that followed, by action.
    """

    __slots__ = ("after", "keys", "legal", "node", "outcomes", "player", "reward", "state")

    def __init__(self, state: State, player: int, reward: list[float] | None, keys: list[int | None]) -> None:
        self.state = state
        self.player = player
        self.reward = reward
        self.keys = keys
        self.node: InfoNode | None = None
        self.legal: list[Action] | None = None
        self.outcomes: list[tuple[Action, float]] | None = None
        self.after: dict[Action, Scene] = {}


Walk: TypeAlias = list[tuple[InfoNode | None, KeyEdge | None, Scene]]
"""The steps of a simulation: where from, by which edge (both None for chance), and the scene reached."""


class Ismcts:
    """The planner `ismcts`."""

    def __init__(self, game: Game, sampler: ResamplesHistory, config: PlannerConfig) -> None:
        self._game = game
        self._sampler = sampler
        self._config = config

    def choose(self, position: Position, rng: random.Random) -> Decision:
        """Searches from the position.

        Raises:
            SearchFailedError: the history is malformed, or not even a stray state to take a legal action from was had.
        """
        if not one_history(position.history):
            raise SearchFailedError("ismcts needs the player's history, its last action None and no other one.")
        errors = ErrorCount()
        belief = Belief(self._game, self._sampler, position, self._config, rng, errors)
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
        belief: Belief,
        first: Particle,
        legal: list[Action],
        rng: random.Random,
        errors: ErrorCount,
    ) -> Decision:
        tree = Tree(self._game, self._config, position, belief, first, rng)
        done, why = run_simulations(tree.simulate, tree.abandon, self._config.simulations, errors)
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
        )

    def _fall_back(self, why: str, belief: Belief, errors: ErrorCount, rng: random.Random) -> Decision:
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


class Tree:
    """One search."""

    def __init__(
        self,
        game: Game,
        config: PlannerConfig,
        position: Position,
        belief: Belief,
        first: Particle,
        rng: random.Random,
    ) -> None:
        player = position.player
        self._game = game
        self._rng = rng
        self._belief = belief
        self._first: Particle | None = first
        self._player = player
        self._evaluate = evaluators.make(game, config, player)
        constant = exploration_constant(game.info, config)
        self._select: Selector[int] = ucb(constant)
        self._select_uneven: Selector[int] = availability_ucb(constant)
        self._limit = widening(config)
        self._max_depth = config.max_depth
        self._nothing = [0.0] * game.info.num_players
        self._nodes: dict[int, InfoNode] = {}
        self._cached = 0
        self._walk: Walk = []
        self._fresh: list[tuple[InfoNode, Action]] = []
        self._missed: list[KeyEdge] = []
        # Every particle recreates what the searching player saw and did, so its key at the root is one and the same.
        self.root = InfoNode(belief.keys.of(position.history, player), player)
        self.root.open = True

    def simulate(self) -> None:
        """Takes a particle, walks down to a leaf, values it, and backs the returns up."""
        particle = self._first or self._belief.next()
        self._first = None
        scene = self._root_scene(particle)
        walk: Walk = []
        self._walk = walk
        self._fresh.clear()
        self._missed.clear()
        while len(walk) < self._max_depth:
            if scene.player >= 0:
                node = scene.node or self._node(scene, particle)
                if not node.open:
                    node.open = True
                    break
                edge = self._step(node, scene)
                after = scene.after.get(edge.action) or self._next(scene, edge.action, edge.child)
                walk.append((node, edge, after))
            elif scene.player == CHANCE:
                action = self._outcome(scene)
                after = scene.after.get(action) or self._next(scene, action, None)
                walk.append((None, None, after))
            else:
                break
            scene = after
        over = scene.player < CHANCE
        self._back_up(self._nothing if over else self._evaluate(self._game, scene.state, self._rng))

    def abandon(self) -> None:
        """Takes back the new edges of a simulation in which the model raised."""
        for node, action in self._fresh:
            # Without retries the action stays in `by_action`, and so is never tried again.
            if node.retries:
                node.retries -= 1
                del node.by_action[action]
                node.untried.insert(0, action)

    def _root_scene(self, particle: Particle) -> Scene:
        scene = particle.cache
        if not isinstance(scene, Scene):
            scene = Scene(particle.state, self._player, None, [None] * len(self._nothing))
            scene.node = self.root
            particle.cache = scene
        return scene

    def _node(self, scene: Scene, particle: Particle) -> InfoNode:
        player, keys = scene.player, self._belief.keys
        before = scene.keys[player]
        if before is None:
            before = particle.key(player, self._game, keys)
        key = keys.seen(before, self._game.observations(scene.state)[player])
        node = self._nodes.get(key)
        if node is None:
            node = self._nodes[key] = InfoNode(key, player)
        scene.node = node
        return node

    def _outcome(self, scene: Scene) -> Action:
        outcomes = scene.outcomes
        if outcomes is None:
            outcomes = scene.outcomes = self._game.chance_outcomes(scene.state)
        if not outcomes:
            raise BrokenModelError("a chance node has no outcomes")
        return pick(outcomes, self._rng.random())

    def _step(self, node: InfoNode, scene: Scene) -> KeyEdge:
        legal = scene.legal
        if legal is None:
            legal = scene.legal = self._game.legal_actions(scene.state)
        if node.legal is None:
            if not legal:
                raise BrokenModelError(f"player {node.player} is to move and has no legal action")
            node.legal = legal
            node.untried = list(legal)
            self._rng.shuffle(node.untried)
        if node.uneven or legal != node.legal:
            return self._uneven_step(node, legal)
        if node.untried and len(node.edges) < self._limit(node.visits):
            return self._new_edge(node, node.untried.pop())
        if not node.edges:
            raise BrokenModelError(f"player {node.player} is to move and has no action that the model can play")
        return self._select(node.edges, node.visits)

    def _uneven_step(self, node: InfoNode, legal: list[Action]) -> KeyEdge:
        node.uneven = True
        allowed = set(legal)
        available = [edge for edge in node.edges if edge.action in allowed]
        if len(available) < len(node.edges):
            self._missed += [edge for edge in node.edges if edge.action not in allowed]
        if not available or len(available) < self._limit(node.visits):
            untried = [action for action in legal if action not in node.by_action]
            if untried:
                action = untried[int(self._rng.random() * len(untried))]
                if action in node.untried:
                    node.untried.remove(action)
                return self._new_edge(node, action)
        if not available:
            raise BrokenModelError(f"player {node.player} is to move and has no action that the model can play")
        return self._select_uneven(available, node.visits)

    def _new_edge(self, node: InfoNode, action: Action) -> KeyEdge:
        edge = Edge(action, node.player, self._belief.keys.done(node.key, action))
        edge.unavailable = node.visits
        node.by_action[action] = edge
        self._fresh.append((node, action))
        return edge

    def _next(self, scene: Scene, action: Action, key: int | None) -> Scene:
        game = self._game
        state = game.apply_action(scene.state, action)
        reward = game.rewards(state)
        paid = None if reward == self._nothing else evaluators.checked_reward(reward, len(self._nothing))
        keys = scene.keys
        if key is not None:
            keys = keys.copy()
            keys[scene.player] = key
        after = Scene(state, game.current_player(state), paid, keys)
        if self._cached < MOST_CACHED_SCENES:
            self._cached += 1
            scene.after[action] = after
        return after

    def _back_up(self, returns: list[float]) -> None:
        for node, edge, after in reversed(self._walk):
            reward = after.reward
            if reward is not None:
                returns = [later + now for later, now in zip(returns, reward, strict=True)]
            if node is None or edge is None:
                continue
            if not edge.visits:
                node.edges.append(edge)
            node.visits += 1
            edge.record(returns[node.player])
        for edge in self._missed:
            edge.unavailable += 1
