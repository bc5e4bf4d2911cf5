"""Environments of other libraries as games: pure by copies, and only if they keep to what a game is."""

import random
import threading
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from games.adapters.copies import OpaqueState
from games.adapters.from_aec import FromAec
from games.adapters.from_pettingzoo import FromGymnasium, FromParallel
from games.api import CHANCE, TERMINAL, IllegalActionError
from games.contract.game import assert_game
from games.posg.api import PosgError
from games.posg.chance import drawing, enumerating, recording, replaying
from games.posg.serialised import SerialisedPosg
from tests.games.interop.foreign import Dice, Discrete


def model(env: Any = None, **further: Any) -> FromParallel:
    return FromParallel(env or Dice(), **{"reward_bounds": (0.0, 2.0), "step_limit": 5} | further)


def test_a_parallel_environment_is_a_model_whose_states_never_change() -> None:
    rules, log = model(), {}
    start = rules.initial_state(drawing(random.Random(1)))
    assert (rules.info.id, rules.info.agent_names, rules.info.actions) == ("dice", ("a", "b"), (("0", "1", "2"),) * 2)
    assert rules.info.max_utility == 10.0
    assert rules.legal_actions(start, 0) == ("0", "1")
    told = rules.observe(start, None, drawing(random.Random(0)))[0]
    shown = rules.observation_to_json(0, told)
    assert (shown["seen"][1], set(shown), rules.observation_from_json(0, shown)) == (0, {"seen"}, told)

    after, rewards, over = rules.move(start, ("1", "0"), recording(drawing(random.Random(2)), log))
    assert (list(rewards), list(over), rules.active(after)) == ([1.0, 0.0], [False, False], (0, 1))
    again, _, _ = rules.move(start, ("1", "0"), replaying(log))
    assert again == after
    assert rules.observe(again, None, replaying(log)) == rules.observe(after, None, replaying(log))

    last, _, over = rules.move(after, ("0", "0"), drawing(random.Random(3)))
    assert (list(over), rules.active(last)) == ([False, True], (0,))
    end, _, over = rules.move(last, ("0", "0"), drawing(random.Random(3)))
    assert (list(over), rules.active(end), rules.observe(end, None, replaying({}))[1]) == ([True, True], (), None)
    restored = rules.state_from_json(rules.state_to_json(end))
    assert restored == end
    assert restored.facts.told == end.facts.told


def test_chance_of_a_step_is_drawn_when_it_is_played_and_cannot_be_enumerated() -> None:
    rules = model()
    start = rules.initial_state(drawing(random.Random(1)))
    seen = {rules.move(start, ("0", "0"), drawing(random.Random(seed)))[0].facts.told[0] for seed in range(30)}
    assert len(seen) > 3
    with pytest.raises(PosgError, match="more than 1,000 ways in one step, too many to go through; use sampling"):
        list(enumerating(lambda choose: rules.move(start, ("0", "0"), choose), 1000))

    steady = model(Dice(rolls=False))
    begun = steady.initial_state(drawing(random.Random(1)))
    assert len(list(enumerating(lambda choose: steady.move(begun, ("0", "0"), choose)))) == 1


def test_a_parallel_environment_in_turns_keeps_the_contract_of_games() -> None:
    assert_game(SerialisedPosg(model()), games=3)


class Revives(Dice):
    def step(self, actions: dict[str, int]) -> Any:
        result = super().step(actions)
        if self.time == 2:
            self.agents = ["a", "b"]
        return result


class Grows(Dice):
    def action_space(self, agent: str) -> Any:
        return Discrete(3 + self.time)


class Invites(Dice):
    def step(self, actions: dict[str, int]) -> Any:
        result = super().step(actions)
        self.agents = [*self.agents, "c"]
        return result


@pytest.mark.parametrize(
    ("env", "said"),
    [
        (
            Revives(),
            "dice: the agent 'b' was out of the game and is back after step 2; here, whose game is over stays out",
        ),
        (Grows(), r"the actions of 'a' are Discrete\(4\) after step 1, and were Discrete\(3\): give a fixed space"),
        (Invites(), "the agent 'c' came after step 1, and is none of possible_agents"),
    ],
    ids=["comes back", "space changes", "newcomer"],
)
def test_an_environment_that_is_no_game_is_refused_with_the_reason(env: Dice, said: str) -> None:
    rules = model(env)
    state = rules.initial_state(drawing(random.Random(0)))
    with pytest.raises(PosgError, match=said):
        played_on(rules, state)


def played_on(rules: FromParallel, state: OpaqueState) -> None:
    for _ in range(3):
        state, _, _ = rules.move(state, ("0", "0"), drawing(random.Random(0)))


def test_what_cannot_be_wrapped_is_refused_at_once() -> None:
    locked = Dice()
    locked.lock = threading.Lock()  # type: ignore[attr-defined]
    with pytest.raises(PosgError, match=r"dice cannot be copied \(TypeError: .*make it without a window"):
        model(locked)
    boxed = Dice()
    boxed.action_space = lambda agent: SimpleNamespace(low=0.0)  # type: ignore[method-assign,assignment]
    with pytest.raises(PosgError, match="only a Discrete space can be played here"):
        model(boxed)
    with pytest.raises(PosgError, match="finite numbers, not"):
        model(reward_bounds=(0.0, float("inf")))
    with pytest.raises(PosgError, match="is at least 1, not 0"):
        model(step_limit=0)
    narrow = model(reward_bounds=(0.0, 0.5))
    start = narrow.initial_state(drawing(random.Random(0)))
    with pytest.raises(PosgError, match=r"paid a 1, and rewards of a step were said to lie from 0 to 0\.5: give wider"):
        narrow.move(start, ("1", "0"), drawing(random.Random(0)))


class Nim:
    """An AEC environment: who takes the last of five stones wins; one or two are taken, or, unluckily, one more."""

    metadata = {"name": "nim"}  # noqa: RUF012

    def __init__(self, back: bool = False) -> None:
        self.possible_agents, self.agents, self.back = ["x", "y"], [], back
        self.rng = random.Random(0)

    def action_space(self, agent: str) -> Any:
        return Discrete(2)

    def reset(self, seed: int | None = None) -> None:
        self.rng.seed(seed)
        self.agents, self.stones, self.agent_selection = ["x", "y"], 5, "x"
        self.rewards = dict.fromkeys(self.agents, 0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations, self.infos = dict(self.terminations), {name: {} for name in self.agents}

    def observe(self, agent: str) -> Any:
        return np.array([self.stones])

    def step(self, action: int | None) -> None:
        mover = self.agent_selection
        other = "xy".replace(mover, "")
        if action is None:
            self.agents = [name for name in self.agents if name != mover]
            self.agents += [mover] if self.back and not self.agents else []
            self.agent_selection = other
            return
        self.stones -= action + 1 + (self.rng.random() < 0.3 if self.stones == 5 else 0)
        if self.stones <= 0:
            self.rewards = {mover: 1, other: -1}
            self.terminations = dict.fromkeys(self.agents, True)
        self.agent_selection = other


def nim(back: bool = False) -> FromAec:
    return FromAec(Nim(back), return_bounds=(-1.0, 1.0), max_length=5, utility="zero_sum")


def test_an_aec_environment_is_a_game_with_chance_where_it_draws() -> None:
    game = nim()
    assert_game(game, games=3)
    state = game.initial_state()
    for _ in range(4):
        assert game.current_player(state) == CHANCE
        state = game.apply_action(state, "7")
    assert game.observations(state) == [{"seen": [5]}] * 2
    drawn = game.apply_action(state, "0")
    assert game.current_player(drawn) == CHANCE
    for _ in range(4):
        drawn = game.apply_action(drawn, "3")
    stones = game.observations(drawn)[0]["seen"][0]
    assert stones in (3, 4)
    after = game.apply_action(game.apply_action(drawn, "1"), "1")
    assert game.current_player(after) == (TERMINAL if stones <= 4 else 0)
    assert game.rewards(after) == [1.0, -1.0]
    assert game.observations(drawn)[0]["seen"] == [stones]
    with pytest.raises(IllegalActionError, match="'2' is not legal here; legal are: 0, 1"):
        game.apply_action(drawn, "2")


def test_a_player_who_comes_back_is_refused() -> None:
    with pytest.raises(PosgError, match=r"nim: the agent '[xy]' was out of the game and is back after action 3"):
        ended(nim(back=True))
    assert ended(nim()) == [1.0, -1.0]


def ended(game: FromAec) -> list[float]:
    """Plays the last legal action throughout and returns what the last one paid."""
    state = game.initial_state()
    while game.current_player(state) != TERMINAL:
        state = game.apply_action(state, game.legal_actions(state)[-1])
    return game.rewards(state)


def test_an_environment_of_one_agent_is_a_model_of_one() -> None:
    class Count:
        action_space = Discrete(2)
        total = 0

        def reset(self, seed: int | None = None) -> Any:
            self.total = 0
            return 0, {}

        def step(self, action: int) -> Any:
            self.total += action
            return self.total, float(action), self.total > 1, False, {}

    rules = FromGymnasium(Count(), reward_bounds=(0.0, 1.0), step_limit=9, game_id="count")
    state = rules.initial_state(drawing(random.Random(0)))
    for told in (1, 2):
        assert rules.active(state) == (0,)
        state, rewards, _ = rules.move(state, ("1",), drawing(random.Random(0)))
        assert (list(rewards), rules.observe(state, ("1",), replaying({}))) == ([1.0], (str(told),))
    assert rules.active(state) == ()
