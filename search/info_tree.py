"""The tree that all determinizations of an information-set search share."""

import random
from typing import TypeAlias, cast

from games.api import CHANCE, Action, Game, State
from search import evaluators, priors
from search.api import PlannerConfig, Position
from search.belief import BeliefSource
from search.errors import BrokenModelError, ErrorCount
from search.particles import Particle
from search.puct import PriorEdge, Puct, Ranking
from search.selection import Edge, Selector, availability_ucb, exploration_constant, pick, ucb, widening

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
        total: sum of the acting player's returns over these.
        edges: the actions tried so far and backed up.
        by_action: the same, and those under way, by action.
        legal: the actions that were legal when the node was first left.
        untried: those of them not tried so far, in random order, the next one last.
        uneven: True once another determinization had other legal actions.
        retries: how many failed actions the node may still take back.
        ranking: under PUCT the actions by prior; None until asked for.
    """

    __slots__ = (
        "by_action",
        "edges",
        "key",
        "legal",
        "open",
        "player",
        "ranking",
        "retries",
        "total",
        "uneven",
        "untried",
        "visits",
    )

    def __init__(self, key: int, player: int) -> None:
        self.key = key
        self.player = player
        self.open = False
        self.visits = 0
        self.total = 0.0
        self.edges: list[KeyEdge] = []
        self.by_action: dict[Action, KeyEdge] = {}
        self.legal: list[Action] | None = None
        self.untried: list[Action] = []
        self.uneven = False
        self.retries = RETRIES
        self.ranking: Ranking | None = None


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
        ranking: under PUCT, at a node whose determinizations differ, this one's actions by prior; None until asked for.
        after: the scenes that followed, by action.
    """

    __slots__ = ("after", "keys", "legal", "node", "outcomes", "player", "ranking", "reward", "state")

    def __init__(self, state: State, player: int, reward: list[float] | None, keys: list[int | None]) -> None:
        self.state = state
        self.player = player
        self.reward = reward
        self.keys = keys
        self.node: InfoNode | None = None
        self.legal: list[Action] | None = None
        self.outcomes: list[tuple[Action, float]] | None = None
        self.ranking: Ranking | None = None
        self.after: dict[Action, Scene] = {}


Walk: TypeAlias = list[tuple[InfoNode | None, KeyEdge | None, Scene]]
"""The steps of a simulation: where from, by which edge (both None for chance), and the scene reached."""


class InformationTree:
    """One search."""

    def __init__(
        self,
        game: Game,
        config: PlannerConfig,
        position: Position,
        belief: BeliefSource,
        first: Particle,
        rng: random.Random,
        errors: ErrorCount,
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
        self._puct = Puct(game.info, config) if config.selection == "puct" else None
        self._prior = priors.make(game, config, errors)
        self._noise = (config.root_noise, config.noise_concentration)
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
                if node.ranking is not None and action in node.ranking.actions:
                    node.ranking.give_back(action)

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
            before = self._belief.key(particle, player)
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
            if self._puct is None:
                node.untried = list(legal)
                self._rng.shuffle(node.untried)
        if self._puct is not None:
            return self._prior_step(self._puct, node, scene, legal)
        if node.uneven or legal != node.legal:
            return self._uneven_step(node, legal)
        if node.untried and len(node.edges) < self._limit(node.visits):
            return self._new_edge(node, node.untried.pop())
        if not node.edges:
            raise BrokenModelError(f"player {node.player} is to move and has no action that the model can play")
        return self._select(node.edges, node.visits)

    def _uneven_step(self, node: InfoNode, legal: list[Action]) -> KeyEdge:
        available = self._available(node, legal)
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

    def _available(self, node: InfoNode, legal: list[Action]) -> list[KeyEdge]:
        """Returns the edges that are legal in this determinization, and notes the others as passed over for that."""
        node.uneven = True
        allowed = set(legal)
        available = [edge for edge in node.edges if edge.action in allowed]
        if len(available) < len(node.edges):
            self._missed += [edge for edge in node.edges if edge.action not in allowed]
        return available

    def _new_edge(self, node: InfoNode, action: Action) -> KeyEdge:
        edge = Edge(action, node.player, self._belief.keys.done(node.key, action))
        edge.unavailable = node.visits
        node.by_action[action] = edge
        self._fresh.append((node, action))
        return edge

    def _prior_step(self, puct: Puct, node: InfoNode, scene: Scene, legal: list[Action]) -> KeyEdge:
        if node.uneven or legal != node.legal:
            return self._uneven_prior_step(puct, node, scene, legal)
        ranking = node.ranking
        if ranking is None:
            # What the acting player knows is the same in all determinizations of a node: one answer serves them all.
            ranking = node.ranking = self._rank(puct, node, scene, legal)
        untried = None
        if ranking.next < len(ranking.actions) and len(node.edges) < self._limit(node.visits):
            untried = ranking.weights[ranking.next]
        edge = puct.select(cast("list[PriorEdge[int]]", node.edges), node.visits, node.total, untried)
        if edge is not None:
            return edge
        if untried is None:
            raise BrokenModelError(f"player {node.player} is to move and has no action that the model can play")
        return self._new_prior_edge(node, *ranking.take())

    def _uneven_prior_step(self, puct: Puct, node: InfoNode, scene: Scene, legal: list[Action]) -> KeyEdge:
        available = self._available(node, legal)
        ranking = scene.ranking
        if ranking is None:
            ranking = scene.ranking = self._rank(puct, node, scene, legal)
        first = None
        if not available or len(available) < self._limit(node.visits):
            ranked = zip(ranking.actions, ranking.weights, strict=True)
            first = next((pair for pair in ranked if pair[0] not in node.by_action), None)
        weight = None if first is None else first[1]
        edge = puct.select_uneven(cast("list[PriorEdge[int]]", available), node.visits, node.total, weight)
        if edge is not None:
            return edge
        if first is None:
            raise BrokenModelError(f"player {node.player} is to move and has no action that the model can play")
        return self._new_prior_edge(node, *first)

    def _rank(self, puct: Puct, node: InfoNode, scene: Scene, legal: list[Action]) -> Ranking:
        chances = self._prior(scene.state, legal, node.player)
        share, concentration = self._noise
        if node is self.root and share:
            chances = priors.noisy(chances, share, concentration, self._rng)
        return puct.rank(legal, chances, self._rng)

    def _new_prior_edge(self, node: InfoNode, action: Action, weight: float) -> KeyEdge:
        # An edge that was not yet made could have been chosen all the same: no visit counts as missed.
        edge = PriorEdge(action, node.player, self._belief.keys.done(node.key, action), weight)
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
            value = returns[node.player]
            node.visits += 1
            node.total += value
            edge.record(value)
        for edge in self._missed:
            edge.unavailable += 1
