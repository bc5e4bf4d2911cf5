"""Reading a partner in Yōkai: exact beliefs as a yardstick, and self-play with a hand-written policy prior."""

import functools
import itertools
import math
import random
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest

from games import registry
from games.api import CHANCE, TERMINAL
from search import planner
from search.api import PlannerConfig, Position
from search.errors import ErrorCount
from search.weighted_belief import Kept, WeightedBelief


def sensible(state: dict[str, Any], actions: Sequence[str], player: int) -> list[float]:
    """Returns the probabilities of a player that groups the colours it knows and places true hints."""
    colours: list[str | None] = [None] * len(state["colours"])
    for card in state["observed"][player]:
        colours[card] = state["colours"][card]
    step = state["sub_step"]
    if step == 3:
        weights = _moves(state, actions, colours)
    elif step == 4:
        weights = [_hint(state, action.split(), colours) for action in actions]
    else:
        seen = {card for own in state["observed"] for card in own}
        weights = [_look(state, action, colours, seen) for action in actions]
    total = sum(weights)
    return [weight / total for weight in weights]


def _near(one: Sequence[int], other: Sequence[int]) -> bool:
    return abs(one[0] - other[0]) + abs(one[1] - other[1]) == 1


def _grouped(places: list[Sequence[int]]) -> bool:
    group, rest = [places[0]], places[1:]
    for place in group:
        joined = [other for other in rest if _near(place, other)]
        group += joined
        rest = [other for other in rest if other not in joined]
    return not rest


def _look(state: dict[str, Any], action: str, colours: list[str | None], seen: set[int]) -> float:
    if action != "end":
        card = int(action.split()[1])
        return 0.05 if colours[card] else (1.0 if card in seen else 1.5)
    won = _chance_to_have_won(tuple(map(tuple, state["positions"])), tuple(colours))
    return 0.02 + 5.0 * won / (1.02 - won)


@functools.cache
def _grouped_thirds(places: tuple[tuple[int, ...], ...]) -> list[tuple[tuple[int, ...], ...]]:
    """Returns all ways to split nine cards into three groups of three neighbours."""
    groups = [group for group in itertools.combinations(range(9), 3) if _grouped([places[card] for card in group])]
    return [three for three in itertools.combinations(groups, 3) if len({card for own in three for card in own}) == 9]


@functools.lru_cache(1 << 14)
def _chance_to_have_won(places: tuple[tuple[int, ...], ...], colours: tuple[str | None, ...]) -> float:
    """Returns how likely all colours are grouped, for one who knows `colours` alone."""
    names = ("red", "green", "blue")
    wins = 0
    for three in _grouped_thirds(places):
        for order in itertools.permutations(names):
            fits = all(colours[card] in (None, name) for own, name in zip(three, order, strict=True) for card in own)
            wins += fits
    left = [3 - colours.count(name) for name in names]
    return wins / (math.factorial(sum(left)) / math.prod(map(math.factorial, left)))


def _moves(state: dict[str, Any], actions: Sequence[str], colours: list[str | None]) -> list[float]:
    if actions == ["no-op"]:
        return [1.0]
    positions = state["positions"]
    friends = [
        {
            (place[0] + down, place[1] + right)
            for other, place in enumerate(positions)
            if colour and other != card and colours[other] == colour
            for down, right in ((0, 1), (1, 0), (0, -1), (-1, 0))
        }
        for card, colour in enumerate(colours)
    ]
    weights = []
    for action in actions:
        _, number, _, cell = action.split()
        card, (row, column) = int(number), map(int, cell.split(","))
        if not colours[card]:
            weights.append(0.15)
            continue
        gain = ((row, column) in friends[card]) - (tuple(positions[card]) in friends[card])
        weights.append(math.exp(3.0 * gain))
    return weights


def _hint(state: dict[str, Any], words: list[str], colours: list[str | None]) -> float:
    if words[0] == "reveal":
        return 1.0
    hint = state["hints"][int(words[1])]["colours"]
    row, column = words[3].split(",")
    card = state["positions"].index([int(row), int(column)])
    if colours[card] is None:
        return 0.1
    return 1.5 / len(hint) if colours[card] in hint else 0.03


class Reading:
    """The reference game with a policy."""

    def __init__(self, policy: Any) -> None:
        self.game: Any = registry.make("yokai-9c-2p")
        self.info = self.game.info
        self.policy = policy

    def __getattr__(self, name: str) -> Any:
        return getattr(self.game, name)


class Informed(Reading):
    """Player 1 is shown all colours, and places truthfully with probability 0.8; all else that it does is uniform.

    Both what it places and what it might have placed depend on colours that a partner as usual does not know: showing
    them to it makes this a policy of what it knows.
    """

    truthful = 0.8

    def __init__(self) -> None:
        super().__init__(self._place)

    def observations(self, state: Any) -> list[Any]:
        first, second = self.game.observations(state)
        return [first, second | {"all colours": state["colours"]}]

    def _place(self, state: Any, actions: Sequence[str], player: int) -> list[float]:
        placements = [index for index, action in enumerate(actions) if action.startswith("place")]
        true = [index for index in placements if self._is_true(state, actions[index])]
        false = [index for index in placements if index not in true]
        chances = [0.0 if index in placements or actions[index] == "end" else 1.0 for index in range(len(actions))]
        for own, share in ((true, self.truthful if false else 1.0), (false, 1.0 - self.truthful if true else 1.0)):
            for index in own:
                # All placements together are as likely as a single reveal, in every deal.
                chances[index] = share / len(own)
        return [chance / sum(chances) for chance in chances]

    @staticmethod
    def _is_true(state: Any, action: str) -> bool:
        _, hint, _, cell = action.split()
        card = state["positions"].index([int(number) for number in cell.split(",")])
        return state["colours"][card] in state["hints"][int(hint)]["colours"]


def played(game: Any, seed: int) -> list[tuple[Any, Position]]:
    """The first player's decision points of one game, with the true states; it plays at random and never ends the game,
    the other follows the policy."""
    rng = random.Random(seed)
    state, history, found = game.initial_state(), [], []
    while (mover := game.current_player(state)) != TERMINAL:
        if mover == CHANCE:
            actions, weights = map(list, zip(*game.chance_outcomes(state), strict=True))
        else:
            actions = game.legal_actions(state)
            weights = game.policy(state, actions, 1) if mover == 1 else [float(action != "end") for action in actions]
        action = rng.choices(actions, weights)[0]
        if mover == 0:
            seen = game.observations(state)[0]
            found.append((state, Position(0, [*history, (seen, None)])))
            history.append((seen, action))
        state = game.apply_action(state, action)
    return found


def believed(game: Any, position: Position, kept: Kept | None, seed: int, **settings: Any) -> WeightedBelief:
    config = PlannerConfig("ismcts", belief_temper=1.0, **({"belief_mix": 0.0, "belief_size": 3000} | settings))
    return WeightedBelief(game, game, position, config, random.Random(seed), ErrorCount(), kept)


def test_belief_is_the_exact_posterior_of_a_partner_that_is_truthful_at_times() -> None:
    belief = pytest.importorskip("tests.oracles.exact_beliefs")
    game, kept, seed = Informed(), None, 2
    words = ("red", "green", "blue")
    assignments = belief.assignments(belief.Sizes(game.config))
    compared = 0
    # One decision a turn of its own: the first, before it observes.
    for state, position in [own for own in played(game, seed) if own[0]["sub_step"] == 1]:
        own = believed(game, position, kept, seed)
        kept = own.kept()
        if state["turn"] < 4:
            continue
        found: Counter[tuple[str, ...]] = Counter()
        for weight, reached in own.weighted_states():
            found[tuple(reached["colours"])] += weight
        exact = belief.posterior(belief.from_state(state, 0), game.truthful)
        names = [tuple(words[index] for index in assignment) for assignment in assignments]
        expected = {name: float(chance) for name, chance in zip(names, exact, strict=True) if chance > 0}
        variation = sum(abs(found[name] - expected.get(name, 0.0)) for name in {*found, *expected}) / 2
        assert variation < 0.06 + 0.4 * math.sqrt(len(expected) / 3000)
        compared += 1
    assert compared == 2


def test_true_colours_gain_weight_when_the_partner_is_read() -> None:
    """Figures of the true deal in the partner's games under a policy that is honest and sensible."""
    game = Reading(sensible)
    gained = []
    for seed in range(6):
        state, position = next(own for own in reversed(played(game, seed)) if own[0]["sub_step"] == 1)
        weights = []
        for temper in (0.0, 1.0):
            config = PlannerConfig("ismcts", belief_size=600, belief_temper=temper)
            belief = WeightedBelief(game, game, position, config, random.Random(0), ErrorCount())
            states = belief.weighted_states()
            weights.append(sum(weight for weight, reached in states if reached["colours"] == state["colours"]))
        gained.append(weights[1] / max(weights[0], 1e-3))
    assert math.prod(gained) > 3.0


def test_planners_that_read_each_other_play_a_whole_game_without_errors() -> None:
    config = PlannerConfig(
        "ismcts", 60, leaf="value", selection="puct", prior="policy", belief_temper=1.0, belief_size=64
    )
    game, rng = Reading(sensible), random.Random(1)
    seats = [planner.make(game, config) for _ in range(2)]
    state, histories = game.initial_state(), ([], [])
    carried = 0.0
    while (mover := game.current_player(state)) != TERMINAL:
        if mover == CHANCE:
            actions, weights = zip(*game.chance_outcomes(state), strict=True)
            action = rng.choices(actions, weights)[0]
        else:
            seen = game.observations(state)[mover]
            decision = seats[mover].choose(Position(mover, [*histories[mover], (seen, None)]), rng)
            assert (decision.errors, decision.fallback, decision.belief["loose"]) == ({}, None, 0)
            carried += decision.belief["carried"]
            action = decision.action
            histories[mover].append((seen, action))
        state = game.apply_action(state, action)
    assert carried > 100
