"""The contract of games of simultaneous moves finds every kind of fault, and none in the games that ship."""

import itertools
import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from games.api import Action, Json
from games.posg import distributions, registry
from games.posg.api import Choose, Joint, Moved, PosgHistory, PosgInfo, PosgModel
from games.posg.contract import ContractError, assert_posg, check

FEW = 400
SIDES = (("heads", 0.25), ("tails", 0.75))


class Coin:
    """A teller sees a coin and waves or not; then both guess it at once, the guesser having seen a shaky wave.

    State: (coin, wave or None, round, the teller's lucky number, which nobody else may know).
    """

    def __init__(self) -> None:
        self.info = PosgInfo(
            id="coin",
            agent_names=("teller", "guesser"),
            utility="identical",
            actions=(("wave", "rest", "heads", "tails"), ("heads", "tails")),
            min_step=0.0,
            max_step=2.0,
            min_utility=0.0,
            max_utility=2.0,
            step_limit=5,
        )

    def initial_state(self, choose: Choose) -> Any:
        return (choose("coin", SIDES), None, 0, choose("lucky", [(1, 0.5), (2, 0.5)]))

    def active(self, state: Any) -> Sequence[int]:
        return ((0,), (0, 1), ())[state[2]]

    def legal_actions(self, state: Any, agent: int) -> Sequence[Action]:
        return ("wave", "rest") if state[2] == 0 else ("heads", "tails")

    def move(self, state: Any, actions: Joint, choose: Choose) -> Moved:
        coin, wave, number, lucky = state
        if number == 0:
            return (coin, actions[0], 1, lucky), (0.0, 0.0), (False, False)
        paid = float(sum(action == coin for action in actions))
        return (coin, wave, 2, lucky), (paid, paid), (True, True)

    def observe(self, state: Any, actions: Joint | None, choose: Choose) -> Sequence[Any]:
        coin, wave, number, lucky = state
        if number == 1:
            other = "rest" if wave == "wave" else "wave"
            return ((coin, lucky), (choose("sight", [(wave, 0.9), (other, 0.1)]),))
        return ((coin, lucky), ("nothing",))

    def state_to_json(self, state: Any) -> Json:
        return list(state)

    def state_from_json(self, described: Json) -> Any:
        return tuple(described)

    def observation_to_json(self, agent: int, observation: Any) -> Json:
        return list(observation)


def lucky_hidden(state: Any, agent: int, rng: random.Random) -> Any:
    """The guesser can know neither the lucky number nor, given what it saw, the coin."""
    return state if agent == 0 else (rng.choice(["heads", "tails"]), *state[1:3], rng.choice([1, 2]))


def broken(*bases: type, **members: Any) -> Any:
    """Returns a coin game in which some methods are others."""
    return type("Broken", (*bases, Coin), members)()


def with_info(**facts: Any) -> Any:
    game = Coin()
    game.info = replace(game.info, **facts)
    return game


def moved(change: Callable[[Any, Joint, Moved], Moved]) -> Any:
    return broken(
        move=lambda self, state, actions, choose: change(state, actions, Coin.move(self, state, actions, choose))
    )


class _Fast:
    """`FastStep` by the slow way, with a chance of the sight that can be changed."""

    right = 0.9
    paid = 1.0

    def sample_step(self, state: Any, actions: Joint, rng: random.Random) -> Moved:
        after, rewards, over = Coin().move(state, actions, lambda label, outcomes: outcomes[0][0])
        return after, [self.paid * reward for reward in rewards], over

    def sample_observations(self, state: Any, actions: Joint | None, rng: random.Random) -> Sequence[Any]:
        def choose(label: str, outcomes: Sequence[tuple[Json, float]]) -> Json:
            return outcomes[rng.random() >= self.right][0]

        return Coin().observe(state, actions, choose)


class _Given:
    """`StepGiven` and `ConditionsStart`, right or wrong by a factor."""

    factor = 1.0
    start = 0.5

    def sample_step_given(self, state: Any, actions: Joint, agent: int, observation: Any, rng: random.Random) -> Any:
        result = Coin().move(state, actions, lambda label, outcomes: outcomes[0][0])
        likelihood = 0.0
        for sight, chance in (("wave", 0.9), ("rest", 0.1)):
            seen = sight if result[0][1] == "wave" else {"wave": "rest", "rest": "wave"}[sight]
            shown = Coin().observe(result[0], actions, lambda label, outcomes, seen=seen: seen)
            likelihood += chance * (shown[agent] == observation)
        return (result, self.factor * likelihood) if likelihood else None

    def initial_state_given(self, agent: int, observation: Any, choose: Choose) -> Any:
        if agent == 0:
            return (observation[0], None, 0, observation[1])
        return (choose("coin", SIDES), None, 0, choose("lucky", [(1, self.start), (2, 1.0 - self.start)]))


class _Rollout:
    worth = 1.0

    def rollout(self, state: Any, agent: int, rng: random.Random, limit: int, discount: float) -> float:
        return {0: discount, 1: 1.0, 2: 0.0}[state[2]] * self.worth  # of two guesses one is right on average


class _Resample:
    coin: str | None = None
    wave: str | None = None

    def resample(self, history: PosgHistory, agent: int, rng: random.Random) -> Any:
        number, seen = len(history) - 1, history[-1][0]
        coin, lucky = seen if agent == 0 else (rng.choice(["heads", "tails"]), 1)
        wave = None if number == 0 else history[0][1] if agent == 0 else rng.choice(["wave", "rest"])
        state = (self.coin or coin, wave, number, lucky)
        first = [((coin, lucky), wave), ((coin, lucky), None)]
        return state, [None, [(("nothing",), None), (("wave",), None)][: number + 1]] if agent == 0 else [first, None]


class _Priors:
    total = 1.0
    worth = 0.5
    width = 1

    def policy(self, history: PosgHistory, legal: Sequence[Action], agent: int) -> Sequence[float]:
        return [self.total / len(legal)] * len(legal)

    def value(self, history: PosgHistory, agent: int) -> float:
        return self.worth

    def vector_bounds(self, agent: int) -> Any:
        return [0.0], [1.0]

    def encode(self, agent: int, observation: Any) -> Sequence[float]:
        return [1.0] * self.width


WHOLE = broken(_Fast, _Given, _Rollout, _Resample, _Priors)
COUNTER = itertools.count()


def looking(choose: Choose, label: str, outcomes: Any, state: Any) -> Any:
    choose(label, outcomes)
    return state


FAULTS: dict[str, list[Any]] = {
    "info": [with_info(actions=(("wave", "wave"), ("heads",))), with_info(min_step=1.0, max_step=0.0)],
    "state_to_json raises": [broken(state_to_json=lambda self, state: 1 // 0)],
    "state is not JSON": [broken(state_to_json=lambda self, state: tuple(state))],
    "observation is not JSON": [broken(observation_to_json=lambda self, agent, observation: {1: 2})],
    "state_from_json": [broken(state_from_json=lambda self, described: (*described[:3], 7))],
    "two states with one JSON": [broken(state_to_json=lambda self, state: list(state[:3]))],
    "equal draws, unequal results": [
        broken(initial_state=lambda self, choose: ("heads", None, 0, next(COUNTER))),
        moved(lambda state, actions, done: (done[0], (float(next(COUNTER) % 2),) * 2, done[2])),
    ],
    "start raises": [
        broken(initial_state=lambda self, choose: ("heads", None, 0, choose("lucky", [(1, 0.5), (2, 0.4)]))),
        broken(
            initial_state=lambda self, choose: looking(choose, "sight", [(1, 1.0), (2, 0.0)], ("heads", None, 0, 1))
        ),
    ],
    "step raises": [
        broken(
            observe=lambda self, state, actions, choose: (
                [(choose("sight", [(1, 1.0)]), choose("sight", [(1, 1.0)]))] * 2
                if actions
                else Coin.observe(self, state, actions, choose)
            )
        )
    ],
    "active": [broken(active=lambda self, state: ((0,), (1, 0), ())[state[2]])],
    "over disagrees with active": [moved(lambda state, actions, done: (*done[:2], (False, False)))],
    "over ends": [
        moved(lambda state, actions, done: ((*done[0][:2], 1, done[0][3]), done[1], (False, state[2] == 0))),
    ],
    "observe": [
        broken(observe=lambda self, state, actions, choose: [None, ("nothing",)]),
        broken(observe=lambda self, state, actions, choose: [("nothing",)]),
    ],
    "legal_actions": [broken(legal_actions=lambda self, state, agent: ("tails", "heads"))],
    "legal actions that an agent cannot know": [
        broken(legal_actions=lambda self, state, agent: Coin.legal_actions(self, state, agent)[: 3 - state[3]]),
    ],
    "rewards": [moved(lambda state, actions, done: (done[0], done[1][:1], done[2]))],
    "rewards out of bounds": [with_info(max_step=1.0)],
    "returns out of bounds": [with_info(max_utility=1.0)],
    "utility": [
        moved(lambda state, actions, done: (done[0], (done[1][0], 0.0), done[2])),
        with_info(utility="zero_sum"),
    ],
    "sampled with other probabilities than enumerated": [
        broken(
            observe=lambda self, state, actions, choose: [
                (state[0], state[3]),
                (choose("sight", [(1, 0.9), (2, 0.1)] if next(COUNTER) % 5 else [(1, 0.1), (2, 0.9)]),),
            ]
        )
    ],
    "sample_step is drawn otherwise than move": [broken(_Fast, right=0.8), broken(_Fast, paid=0.5)],
    "sample_step_given is drawn otherwise than move": [broken(_Given, factor=0.5)],
    "initial_state_given is drawn otherwise than starts are": [broken(_Given, start=0.2)],
    "rollout pays otherwise than steps": [broken(_Rollout, worth=2.0)],
    "resample contradicts what was seen": [broken(_Resample, coin="heads")],
    "policy": [broken(_Priors, total=0.5)],
    "value": [broken(_Priors, worth=float("nan"))],
    "encode": [broken(_Priors, width=2)],
}
CASES = [(rule, model) for rule, models in FAULTS.items() for model in models]


@pytest.mark.parametrize("model", [Coin(), WHOLE], ids=["bare", "whole"])
def test_a_game_that_keeps_every_rule_passes(model: Any) -> None:
    assert [str(violation) for violation in check(model, samples=FEW, hidden=lucky_hidden)] == []


@pytest.mark.parametrize(("rule", "model"), CASES, ids=[f"{rule}-{number}" for number, (rule, _) in enumerate(CASES)])
def test_each_fault_is_found_under_the_name_of_its_rule(rule: str, model: Any) -> None:
    assert rule in {violation.rule for violation in check(model, games=5, samples=FEW)}


def test_a_later_call_that_changes_an_earlier_state_is_found() -> None:
    class Changing(Coin):
        def initial_state(self, choose: Choose) -> Any:
            return list(super().initial_state(choose))

        def state_from_json(self, described: Json) -> Any:
            return list(described)

        def move(self, state: Any, actions: Joint, choose: Choose) -> Moved:
            after, rewards, over = super().move(state, actions, choose)
            state[3] = 3
            return list(after), rewards, over

    assert {violation.rule for violation in check(Changing(), samples=FEW)} == {"move changes its input"}


def test_chance_that_does_not_come_through_choose_is_found() -> None:
    own = random.Random(0)

    class Own(Coin):
        def observe(self, state: Any, actions: Joint | None, choose: Choose) -> Sequence[Any]:
            return ((state[0], state[3]), (own.random() < 0.5,))

    assert "equal draws, unequal results" in {violation.rule for violation in check(Own(), samples=FEW)}


def test_an_observation_that_shows_what_is_hidden_is_found() -> None:
    class Leaky(Coin):
        def observe(self, state: Any, actions: Joint | None, choose: Choose) -> Sequence[Any]:
            own, other = super().observe(state, actions, choose)
            return (own, (*other, state[3]))

    rules = {violation.rule for violation in check(Leaky(), samples=FEW, hidden=lucky_hidden)}
    assert rules == {"an observation shows what is hidden"}


QUICK = [
    pytest.param(game_id, marks=() if registry.entry_of(game_id).exact else pytest.mark.slow)
    for game_id in registry.ids()
]


@pytest.mark.parametrize("game_id", QUICK)
def test_games_that_ship_keep_the_contract(game_id: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(distributions, "MOST_WAYS", 500)
    assert_posg(registry.make(game_id), games=3, samples=FEW)


@pytest.mark.slow
@pytest.mark.parametrize("game_id", registry.ids())
def test_games_that_ship_keep_the_contract_in_many_games(game_id: str) -> None:
    assert_posg(registry.make(game_id), games=40, samples=20_000)


def test_a_broken_game_is_refused_with_every_rule_that_it_breaks() -> None:
    model: PosgModel = with_info(max_step=1.0)
    with pytest.raises(ContractError, match="coin breaks the contract:\nrewards out of bounds"):
        assert_posg(model, samples=FEW)
