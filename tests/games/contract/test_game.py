"""The contract test passes on good games and catches every kind of bad one."""

import ast
import random
import sys
from pathlib import Path
from typing import Any

import pytest

from games import api, registry
from games.api import CHANCE, TERMINAL, GameInfo, IllegalActionError
from games.contract import game as contract
from games.contract import report

OWN_GAMES = ["tic_tac_toe", "connect_four", "kuhn_poker", "leduc_poker"]


class Guess:
    """A small right game: chance hides a coin, player 0 calls it, wins or loses 1; player 1 watches."""

    def __init__(self, **changes: Any) -> None:
        self.info = GameInfo(
            "guess", 2, "zero_sum", -1.0, 1.0, False, True, ("caller", "watcher"), changes.pop("max_length", 1)
        )
        for name, change in changes.items():
            setattr(self, name, change)

    def initial_state(self) -> Any:
        return {"coin": None, "called": None, "log": []}

    def current_player(self, state: Any) -> int:
        if state["coin"] is None:
            return CHANCE
        return 0 if state["called"] is None else TERMINAL

    def legal_actions(self, state: Any) -> list[str]:
        return {CHANCE: ["heads", "tails"], 0: ["call heads", "call tails"], TERMINAL: []}[self.current_player(state)]

    def chance_outcomes(self, state: Any) -> list[tuple[str, float]]:
        return [("heads", 0.5), ("tails", 0.5)] if state["coin"] is None else []

    def apply_action(self, state: Any, action: str) -> Any:
        if action not in self.legal_actions(state):
            raise IllegalActionError(f"{action!r} is not legal here.")
        log = [*state["log"], action] if action.startswith("call") else state["log"]
        if state["coin"] is None:
            return {**state, "coin": action}
        return {**state, "called": action.removeprefix("call "), "log": log}

    def rewards(self, state: Any) -> list[float]:
        if state["called"] is None:
            return [0.0, 0.0]
        return [1.0, -1.0] if state["called"] == state["coin"] else [-1.0, 1.0]

    def observations(self, state: Any) -> list[dict[str, Any]]:
        return [{"player": player, "log": list(state["log"])} for player in range(2)]

    def resample_history(self, history: Any, player: int, rng: random.Random) -> list[str]:
        return [rng.choice(["heads", "tails"])]


RIGHT = Guess()


def mutating_apply(state: Any, action: str) -> Any:
    RIGHT.apply_action(state, action)
    state["coin" if state["coin"] is None else "called"] = action.removeprefix("call ")
    return state


def shallow_apply(state: Any, action: str) -> Any:
    after = RIGHT.apply_action(state, action)
    copied = state.copy()
    copied.update(coin=after["coin"], called=after["called"])
    copied["log"].append(action)
    return copied


def forever_legal(state: Any) -> list[str]:
    return ["heads", "tails"] if state["coin"] is None else ["call heads", "call tails"]


class Counter:
    """Answers differently every time."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, state: Any) -> Any:
        self.calls += 1
        return [{"player": player, "call": self.calls} for player in range(2)]


BROKEN: list[tuple[dict[str, Any], str]] = [
    ({"apply_action": mutating_apply}, "apply_action changes its input"),
    ({"apply_action": shallow_apply}, "apply_action changes its input"),
    ({"chance_outcomes": lambda s: [("heads", 0.5), ("tails", 0.4)] if s["coin"] is None else []}, "chance prob"),
    (
        {"chance_outcomes": lambda s: [("tails", 0.5), ("heads", 0.5)] if s["coin"] is None else []},
        "chance_outcomes dif",
    ),
    ({"chance_outcomes": lambda s: [("heads", 0.5), ("tails", 0.5)]}, "chance_outcomes at a player's node"),
    ({"legal_actions": forever_legal}, "legal_actions at the end"),
    ({"legal_actions": lambda s: [*RIGHT.legal_actions(s)] * 2}, "legal_actions repeats an action"),
    ({"legal_actions": lambda s: []}, "no legal action"),
    (
        {"legal_actions": lambda s: [*RIGHT.legal_actions(s), *([s["coin"]] if s["coin"] else [])]},
        "legal actions betray",
    ),
    ({"current_player": lambda s: CHANCE if s["coin"] is None else 5}, "current_player"),
    ({"current_player": lambda s: 1 / 0}, "current_player raises"),
    ({"rewards": lambda s: [1.0, 1.0] if s["called"] else [0.0, 0.0]}, "rewards are not zero-sum"),
    ({"rewards": lambda s: [5.0, -5.0] if s["called"] else [0.0, 0.0]}, "returns out of bounds"),
    ({"rewards": lambda s: [1, -1] if s["called"] else [0, 0]}, "rewards"),
    ({"rewards": lambda s: [1.0, -1.0]}, "rewards before any action"),
    ({"rewards": lambda s: [float("nan")] * 2}, "rewards"),
    ({"observations": Counter()}, "observations is not deterministic"),
    ({"observations": lambda s: [{}]}, "observations"),
    ({"observations": lambda s: [{"seen": (1, 2)}, {}]}, "observation is not JSON"),
    ({"observations": lambda s: [{1: 2}, {}]}, "observation is not JSON"),
    ({"observations": lambda s: s["log"].append("x") or [{}, {}]}, "a question changes the state"),
    ({"state_to_json": lambda s: {"score": float("inf")}}, "state is not JSON"),
    ({"apply_action": lambda s, a: {**s, "coin": a}}, "illegal action"),
    ({"apply_action": lambda s, a: RIGHT.apply_action(s, a) if s["coin"] is None else s}, "game is too long"),
    ({"playout": lambda s, rng, n: [9.0, -9.0] if n else [0.0, 0.0]}, "returns out of bounds"),
    ({"playout": lambda s, rng, n: [random.random(), 0.0]}, "playout is not deterministic"),
    ({"value": lambda s, player: 0.0}, "value at the end"),
    ({"value": lambda s, player: 1}, "value"),
    ({"outcome": lambda s: {"won": True}}, "outcome"),
    ({"render": lambda s, player: None}, "render"),
]


@pytest.mark.parametrize(("changes", "rule"), BROKEN, ids=[f"{i}: {rule}" for i, (_, rule) in enumerate(BROKEN)])
def test_broken_game_is_caught(changes: dict[str, Any], rule: str) -> None:
    found = contract.check(Guess(**changes), games=10)
    assert any(violation.rule.startswith(rule) for violation in found), found


def test_right_game_has_no_violation() -> None:
    contract.assert_game(RIGHT)


def test_states_that_share_a_list_are_caught() -> None:
    log: list[str] = []

    def apply(state: Any, action: str) -> Any:
        if state["coin"] is not None:
            log.append(action)
        return {**RIGHT.apply_action(state, action), "log": log}

    found = [violation.rule for violation in contract.check(Guess(apply_action=apply))]
    assert {"apply_action changes its input", "apply_action is not deterministic"} & set(found)


def test_call_that_changes_a_state_of_long_ago_is_caught() -> None:
    kept: list[Any] = []

    class Meddler(Guess):
        def initial_state(self) -> Any:
            kept[:] = [super().initial_state()]
            return kept[0]

        def rewards(self, state: Any) -> list[float]:
            if state["called"] is not None:
                kept[0]["log"] = ["tampered"]
            return RIGHT.rewards(state)

    found = [violation.rule for violation in contract.check(Meddler(), games=3)]
    assert found == ["a later call changes an earlier state"]


def test_second_view_is_checked_for_json_and_for_leaks() -> None:
    class Peeking(Guess):
        def __init__(self, secret: bool) -> None:
            super().__init__()
            self.secret = secret
            self.info = GameInfo(
                "guess", 2, "zero_sum", -1.0, 1.0, False, True, ("a", "b"), 1, False, ("default", "peek")
            )

        def observation(self, state: Any, player: int, view: str) -> Any:
            return {"coin": state["coin"]} if self.secret else {"coin": {1, 2}}

    assert [violation.rule for violation in contract.check_leaks(Peeking(True))] == [
        "view peek tells apart what the resampler takes for equal"
    ]
    assert "view peek is not JSON" in [violation.rule for violation in contract.check(Peeking(False))]


def test_contract_uses_the_standard_library_and_the_game_types_alone() -> None:
    folder = Path(contract.__file__).parent
    for name in ("../api.py", "game.py", "report.py", "rules.py", "session.py"):
        tree = ast.parse((folder / name).read_text(encoding="utf-8"))
        modules = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module}
        modules |= {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
        assert {module.split(".")[0] for module in modules} <= {*sys.stdlib_module_names, "games"}


def test_violation_keeps_the_smallest_state_and_counts() -> None:
    found = contract.check(Guess(rewards=lambda s: [1.0, 1.0]), games=10)
    violation = next(violation for violation in found if violation.rule == "rewards are not zero-sum")
    assert violation.state == {"coin": None, "called": None, "log": []}
    assert violation.actions == ()
    assert violation.count == 30


def test_broken_game_raises_with_every_rule_named() -> None:
    with pytest.raises(report.ContractError, match=r"(?s)guess breaks.*zero-sum.*before any action"):
        contract.assert_game(Guess(rewards=lambda s: [1.0, 1.0]))


def test_model_that_takes_illegal_actions_passes_where_it_may() -> None:
    game = Guess(apply_action=lambda s, a: RIGHT.apply_action(s, a) if a in RIGHT.legal_actions(s) else s)
    assert [violation.rule for violation in contract.check(game)] == ["illegal action"]
    assert contract.check(game, refuses_illegal=False) == []


def test_view_that_shows_the_hidden_coin_is_a_leak() -> None:
    game = Guess(observations=lambda s: [{"coin": s["coin"]}, {}])
    assert [violation.rule for violation in contract.check_leaks(game)] == [
        "view default tells apart what the resampler takes for equal"
    ]


def test_resampler_with_an_illegal_or_a_wrong_history_is_caught() -> None:
    illegal = contract.check_leaks(Guess(resample_history=lambda h, p, rng: ["edge"]))
    assert [violation.rule for violation in illegal] == ["resample_history is illegal"]
    longer = contract.check_leaks(Guess(resample_history=lambda h, p, rng: ["heads", "call heads"]))
    assert [violation.rule for violation in longer] == ["resample_history ends elsewhere"]


def test_leak_check_needs_a_resampler() -> None:
    with pytest.raises(api.GameError, match="offers no resample_history"):
        contract.check_leaks(registry.make("tic_tac_toe"))


@pytest.mark.parametrize(
    "game_id", [*OWN_GAMES, "open_spiel:goofspiel(num_cards=3)", "open_spiel:bargaining(max_turns=2)"]
)
def test_game_fulfils_the_contract(game_id: str) -> None:
    contract.assert_game(registry.make(game_id), games=20)


def test_same_seed_finds_the_same_violations() -> None:
    game = Guess(rewards=lambda s: [1.0, 1.0] if s["called"] else [0.0, 0.0])
    assert contract.check(game, seed=3) == contract.check(game, seed=3)
