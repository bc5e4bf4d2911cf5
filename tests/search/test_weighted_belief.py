"""Weighted beliefs against exact ones, found by going through every history."""

import math
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from games import registry
from games.api import CHANCE, TERMINAL
from search import planner
from search.api import Decision, PlannerConfig, Position
from search.errors import ErrorCount
from search.ismcts import Ismcts
from search.weighted_belief import MOST_KEPT, Kept, Weighed, WeightedBelief

MIX = 0.1


def settings(**given: Any) -> PlannerConfig:
    defaults = {"simulations": 30, "rollouts": 1, "belief_size": 1500, "belief_temper": 1.0, "belief_mix": MIX}
    return PlannerConfig("ismcts", **(defaults | given))


class Reading:
    """A game with a policy."""

    def __init__(self, game: Any, policy: Any) -> None:
        self.game = game
        self.info = game.info
        self.policy = policy

    def __getattr__(self, name: str) -> Any:
        return getattr(self.game, name)


def by_rank(game: Any) -> Any:
    """A way to play poker that shows the card: the higher, the more it raises or bets, the less it folds."""

    def policy(state: Any, actions: Sequence[str], player: int) -> list[float]:
        view = game.observations(state)[player]
        rank = view["private_card"] // 2 if "round" in view else int(view["private_card"])
        weight = {"Raise": 0.2 + 2 * rank, "Bet": 0.2 + 2 * rank, "Fold": 2.0 - 0.9 * rank, "Call": 1.0, "Pass": 1.0}
        weights = [weight[action] for action in actions]
        return [own / sum(weights) for own in weights]

    return policy


def poker(name: str) -> Reading:
    game = registry.make(name)
    return Reading(game, by_rank(game))


def histories(
    game: Any, state: Any, weight: float, player: int, history: Sequence[Any], temper: float
) -> Iterator[tuple[float, Any]]:
    """Yields (weight, state) of everything that the player holds possible."""
    mover = game.current_player(state)
    if mover == TERMINAL:
        return
    if mover == player:
        seen, done = history[0]
        if game.observations(state)[player] == seen:
            if done is None:
                yield weight, state
            else:
                yield from histories(game, game.apply_action(state, done), weight, player, history[1:], temper)
        return
    if mover == CHANCE:
        chances = game.chance_outcomes(state)
    else:
        legal = game.legal_actions(state)
        chances = [
            (action, ((1 - MIX) * chance + MIX / len(legal)) ** temper)
            for action, chance in zip(legal, game.policy(state, legal, mover), strict=True)
        ]
        whole = sum(chance for _, chance in chances)
        chances = [(action, chance / whole) for action, chance in chances]
    for action, chance in chances:
        yield from histories(game, game.apply_action(state, action), weight * chance, player, history, temper)


def exact(game: Any, position: Position, seen: Any, temper: float = 1.0) -> dict[Any, float]:
    total: Counter[Any] = Counter()
    found = histories(game, game.initial_state(), 1.0, position.player, list(position.history), temper)
    for weight, state in found:
        total[seen(state)] += weight
    return {key: weight / sum(total.values()) for key, weight in total.items()}


def distance(belief: list[tuple[float, Any]], expected: dict[Any, float], seen: Any) -> float:
    """Total variation."""
    found: Counter[Any] = Counter()
    for weight, state in belief:
        found[seen(state)] += weight
    return sum(abs(found[key] - expected.get(key, 0.0)) for key in {*found, *expected}) / 2


def positions(game: Any, player: int, seed: int) -> list[Position]:
    """The player's decision points in one game in which everybody plays the policy."""
    rng = random.Random(seed)
    state, history, found = game.initial_state(), [], []
    while (mover := game.current_player(state)) != TERMINAL:
        if mover == CHANCE:
            actions, weights = zip(*game.chance_outcomes(state), strict=True)
        else:
            actions = tuple(game.legal_actions(state))
            weights = tuple(game.policy(state, actions, mover))
        action = rng.choices(actions, weights)[0]
        if mover == player:
            found.append(Position(player, [*history, (game.observations(state)[player], None)]))
            history.append((game.observations(state)[player], action))
        state = game.apply_action(state, action)
    return found


def believe(game: Any, position: Position, kept: Kept | None = None, seed: int = 0, **given: Any) -> WeightedBelief:
    return WeightedBelief(game, game, position, settings(**given), random.Random(seed), ErrorCount(), kept)


@pytest.mark.parametrize("temper", [0.0, 0.5, 1.0, 2.0])
@pytest.mark.parametrize("name", ["kuhn_poker", "leduc_poker"])
def test_belief_drawn_anew_and_belief_carried_over_are_the_exact_posterior(name: str, temper: float) -> None:
    game = poker(name)
    carried = 0
    for seed in range(4):
        for player in range(2):

            def their_card(state: Any, other: int = 1 - player) -> Any:
                return game.observations(state)[other]["private_card"]

            kept = None
            for position in positions(game, player, seed):
                expected = exact(game, position, their_card, temper)
                fresh = believe(game, position, seed=seed, belief_temper=temper)
                chained = believe(game, position, kept, seed=seed, belief_temper=temper)
                kept = chained.kept()
                carried += chained.counts.carried
                assert distance(fresh.weighted_states(), expected, their_card) < 0.05
                assert distance(chained.weighted_states(), expected, their_card) < 0.05
    assert carried > 0


def test_belief_tells_what_plain_sampling_does_not() -> None:
    game = poker("leduc_poker")
    state = game.initial_state()
    for action in ("Chance outcome:0", "Chance outcome:3", "Raise"):
        state = game.apply_action(state, action)
    position = Position(1, [(game.observations(state)[1], None)])

    def rank(state: Any) -> int:
        return game.observations(state)[0]["private_card"] // 2

    plain, read = exact(game, position, rank, 0.0), exact(game, position, rank, 1.0)
    assert plain[0] == pytest.approx(0.4)
    assert read[0] < 0.2
    assert distance(believe(game, position).weighted_states(), read, rank) < 0.04


def test_hidden_chance_since_the_last_decision_has_its_own_probabilities(late_coin: Any) -> None:
    """Chance tosses a second coin, loaded by the first and hidden, after the player's first decision."""
    game = late_coin
    first = Position(0, [({"sees": "start"}, None)])
    later = Position(0, [({"sees": "start"}, "wait"), ({"sees": "loud"}, None)])
    expected = exact(game, later, tuple)
    kept = believe(game, first, belief_size=4000).kept()
    chained = believe(game, later, kept, seed=1, belief_size=4000)
    assert chained.counts.carried > 1000
    assert distance(chained.weighted_states(), expected, tuple) < 0.05
    assert distance(believe(game, later, belief_size=4000).weighted_states(), expected, tuple) < 0.05


def test_more_is_drawn_while_the_effective_sample_size_is_small() -> None:
    def sharp(state: Any, actions: Sequence[str], player: int) -> list[float]:
        strong = game.observations(state)[player]["private_card"] == 5
        return [(0.98 if (action == "Raise") == strong else 0.02) / 1.0 for action in actions]

    game = Reading(registry.make("leduc_poker"), sharp)
    state = game.initial_state()
    for action in ("Chance outcome:0", "Chance outcome:5", "Call", "Raise"):
        state = game.apply_action(state, action)
    own = game.initial_state()
    for action in ("Chance outcome:0", "Chance outcome:5"):
        own = game.apply_action(own, action)
    position = Position(0, [(game.observations(own)[0], "Call"), (game.observations(state)[0], None)])
    eager = believe(game, position, belief_size=100, belief_mix=0.0, belief_threshold=0.5)
    content = believe(game, position, belief_size=100, belief_mix=0.0, belief_threshold=0.0)
    assert content.counts.tries == 100
    assert 100 < eager.counts.tries <= 400
    assert eager.counts.effective is not None
    assert content.counts.effective is not None
    assert eager.counts.effective > content.counts.effective


def of_weights(kept: Kept, weights: Sequence[tuple[int, float]]) -> Kept:
    """The same belief with other (copies, weight of each) of its first histories."""
    pool = []
    for old, (copies, weight) in zip(kept.pool, weights, strict=False):
        own = Weighed(old.particle, math.log(weight), old.keys)
        own.copies = copies
        pool.append(own)
    return Kept(kept.player, kept.history, pool, kept.reader)


def test_too_many_histories_are_thinned_by_weight_and_keep_their_scale() -> None:
    game = poker("leduc_poker")
    position = positions(game, 1, 3)[0]
    kept = believe(game, position, belief_size=200).kept()
    pool = of_weights(kept, [(6, 0.5), (3, 2.0), (1, 7.0), (10, 0.1), (5, 0.6)]).pool
    shares = [3 / 20, 6 / 20, 7 / 20, 1 / 20, 3 / 20]
    assert len(pool) == len(shares) > MOST_KEPT * 2
    for seed in range(20):
        thinned = believe(game, position, seed=seed, belief_size=2)._thinned(pool)
        copies = {own.particle.actions: own.copies for own in thinned}
        assert sum(copies.values()) == MOST_KEPT * 2
        # Systematic resampling: each has its share of the draws, rounded up or down.
        for own, share in zip(pool, shares, strict=True):
            assert abs(copies.get(own.particle.actions, 0) - MOST_KEPT * 2 * share) < 1
        # Each draw stands for what one of the 25 copies weighed on average, beside histories that are drawn anew.
        assert [math.exp(own.log_weight) for own in thinned] == pytest.approx([20 / 25] * len(thinned))
    assert believe(game, position, belief_size=3)._thinned(pool) == pool


def test_belief_that_is_thinned_on_the_way_is_the_exact_posterior() -> None:
    game = poker("leduc_poker")
    along = next(found for seed in range(20) if len(found := positions(game, 0, seed)) > 1)

    def their_card(state: Any) -> Any:
        return game.observations(state)[1]["private_card"]

    kept = believe(game, along[0]).kept()
    assert len(kept.pool) > MOST_KEPT * 2
    later = [believe(game, along[1], kept, seed=seed, belief_size=2) for seed in range(300)]
    assert all(belief.counts.carried <= MOST_KEPT * 2 for belief in later)
    mean = [(weight / len(later), state) for belief in later for weight, state in belief.weighted_states()]
    assert distance(mean, exact(game, along[1], their_card), their_card) < 0.05


def test_without_temper_all_histories_weigh_the_same_and_the_planner_draws_as_it_always_did() -> None:
    game = poker("leduc_poker")
    position = positions(game, 1, 3)[0]
    belief = believe(game, position, belief_temper=0.0, belief_size=300)
    assert belief.counts.effective == pytest.approx(300.0)
    plain = PlannerConfig("ismcts", 60, rollouts=1)
    untouched = PlannerConfig("ismcts", 60, rollouts=1, belief_mix=0.5, belief_threshold=0.9)
    decisions = [planner.make(game, own).choose(position, random.Random(4)) for own in (plain, untouched)]
    assert decisions[0] == decisions[1]
    assert "effective" not in decisions[0].belief


def test_simulations_are_shared_out_by_weight() -> None:
    game = poker("kuhn_poker")
    position = positions(game, 1, 0)[0]
    belief = believe(game, position, simulations=1000)
    shares = {id(state): weight for weight, state in belief.weighted_states()}
    dealt = Counter(id(belief.next().state) for _ in range(1000))
    assert {key: math.isclose(count, 1000 * shares[key], abs_tol=1.0) for key, count in dealt.items()} == dict.fromkeys(
        dealt, True
    )


def play_on(game: Any, chooser: Any, along: list[Position], seed: int) -> list[Decision]:
    return [chooser.choose(position, random.Random(f"{seed}/{index}")) for index, position in enumerate(along)]


def test_same_seeds_and_calls_give_the_same_decisions_and_a_new_planner_in_mid_game_draws_anew() -> None:
    game = poker("leduc_poker")
    along = next(found for seed in range(20) if len(found := positions(game, 0, seed)) > 2)
    config = settings(belief_size=60, selection="puct", prior="policy")
    first, again = (play_on(game, planner.make(game, config), along, 1) for _ in range(2))
    assert first == again
    assert first[0].belief["carried"] == 0
    assert first[-1].belief["carried"] > 0
    alone = planner.make(game, config).choose(along[-1], random.Random(1))
    assert alone.belief["carried"] == 0
    assert alone.fallback is None


def test_belief_is_carried_only_to_a_later_decision_of_the_same_player_with_the_same_past() -> None:
    game = poker("leduc_poker")
    along = next(found for seed in range(20) if len(found := positions(game, 0, seed)) > 2)
    kept = believe(game, along[0], belief_size=20).kept()
    assert kept.leads_to(along[1])
    assert kept.leads_to(along[2])
    assert not kept.leads_to(along[0])
    assert not kept.leads_to(Position(1, along[1].history))
    (seen, done), *rest = along[1].history
    assert not kept.leads_to(Position(0, [(seen | {"pot": 99}, done), *rest]))
    later = believe(game, along[1], belief_size=20).kept()
    assert not later.leads_to(Position(0, [(seen, "another"), *along[2].history[1:]]))
    assert not later.leads_to(along[0])


def broken(answer: Any) -> Any:
    def policy(state: Any, actions: list[str], player: int) -> Any:
        actions.sort(reverse=True)
        if isinstance(answer, Exception):
            raise answer
        return answer(len(actions)) if callable(answer) else answer

    return policy


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (KeyError("hand"), "KeyError: 'hand'"),
        (lambda count: [1.0] * (count + 1), "expected as many probabilities"),
        (lambda count: [-1.0, *[2.0] * (count - 1)], "expected as many probabilities"),
        (lambda count: [*[1.0] * (count - 1), float("nan")], "expected as many probabilities"),
        (lambda count: [float("inf")] * count, "expected as many probabilities"),
        (lambda count: [0.0] * count, "expected as many probabilities"),
        (None, "TypeError"),
        (lambda count: ["often"] * count, "TypeError"),
    ],
)
def test_policy_that_fails_is_counted_and_taken_as_uniform(answer: Any, message: str) -> None:
    game = Reading(registry.make("leduc_poker"), broken(answer))
    state = game.initial_state()
    for action in ("Chance outcome:0", "Chance outcome:3", "Raise"):
        state = game.apply_action(state, action)
    position = Position(1, [(game.observations(state)[1], None)])
    config = settings(belief_size=40, selection="puct", prior="policy")
    decision = planner.make(game, config).choose(position, random.Random(0))
    assert decision.fallback is None
    assert decision.simulations == 30
    assert decision.belief["effective"] == pytest.approx(40.0)
    assert any(message in error for error in decision.errors)


def test_model_that_fails_now_and_then_is_searched_all_the_same() -> None:
    game = poker("leduc_poker")
    calls = iter(range(10**9))

    class Shaky(Reading):
        def apply_action(self, state: Any, action: str) -> Any:
            if next(calls) % 37 == 36:
                raise RuntimeError("shaky")
            return self.game.apply_action(state, action)

    shaky = Shaky(game.game, game.policy)
    along = next(found for seed in range(20) if len(found := positions(game, 0, seed)) > 2)
    decisions = play_on(shaky, planner.make(shaky, settings(belief_size=60, simulations=100)), along, 0)
    assert all(decision.errors["RuntimeError: shaky"] > 0 for decision in decisions)
    assert all(decision.fallback is None for decision in decisions)
    assert decisions[-1].belief["carried"] > 0


def test_what_the_policy_calls_impossible_leaves_the_plain_belief() -> None:
    def never(state: Any, actions: Sequence[str], player: int) -> list[float]:
        return [float(action != "Raise") for action in actions]

    game = Reading(registry.make("leduc_poker"), never)
    state = game.initial_state()
    for action in ("Chance outcome:0", "Chance outcome:3", "Raise"):
        state = game.apply_action(state, action)
    belief = believe(game, Position(1, [(game.observations(state)[1], None)]), belief_mix=0.0, belief_size=50)
    assert sum(weight for weight, _ in belief.weighted_states()) == pytest.approx(1.0)
    assert belief.counts.effective == pytest.approx(50.0)


def test_report_of_the_belief_comes_only_when_asked_for(pennies_game: Any) -> None:
    game = poker("leduc_poker")
    position = positions(game, 1, 3)[0]
    for config in (settings(belief_size=9), settings(belief_size=9, belief_temper=0.0)):
        chooser = planner.make(game, config)
        assert isinstance(chooser, Ismcts)
        assert chooser.choose(position, random.Random(0)).belief_states is None
        asked = chooser.choose(Position(1, position.history, report_belief=True), random.Random(0))
        assert asked.belief_states is not None
        assert len(asked.belief_states) <= 9
        assert sum(weight for weight, _ in asked.belief_states) == pytest.approx(1.0)
