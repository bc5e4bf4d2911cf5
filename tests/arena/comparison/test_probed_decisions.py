"""What a probe reads off finished games of a game so small that every belief is known."""

from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any

import pytest

from arena.agents.specs import AgentSpec
from arena.comparison.belief_probe import Probe, probe
from arena.machine.runtime import Runtime
from arena.matches.match import Forfeit, GameRecord
from cwm.model.bundle import ModelBundle
from cwm.sandbox.inside.program import LoadedCode
from games.api import GameInfo, State

PROGRAM = '''
"""The teller sees a coin, hints, and hints once more; the guesser guesses; the teller ends the game."""

DRAWS = []
MOVERS = [0, 0, 1, 0]


def apply_action(state, action):
    if state["coin"] is None:
        return {**state, "coin": action}
    return {**state, "said": [*state["said"], action]}


def get_current_player(state):
    if state["coin"] is None:
        return -1
    return MOVERS[len(state["said"])] if len(state["said"]) < 4 else -4


def get_player_name(player_id):
    return {-1: "chance", -4: "terminal", 0: "teller", 1: "guesser"}[player_id]


def get_rewards(state):
    return [0.0, 0.0]


def get_legal_actions(state):
    if state["coin"] is None:
        return ["heads", "tails"]
    hints = ["hint heads", "hint tails"]
    return [hints, hints, ["guess heads", "guess tails"], ["end"], []][len(state["said"])]


def get_chance_outcomes(state):
    return [("heads", 0.5), ("tails", 0.5)] if state["coin"] is None else []


def get_observations(state):
    said = list(state["said"])
    return [{"coin": state["coin"], "said": said}, {"coin": None, "said": said}]


def resample_history(obs_action_history, player_id):
    seen = obs_action_history[-1][0]
    own = [action for action, mover in zip(seen["said"], MOVERS) if mover == player_id]
    assert [action for _, action in obs_action_history] == [*own, None]
    if player_id == 0:
        return [seen["coin"], *seen["said"]]
    DRAWS.append(None)
    return ["tails" if len(DRAWS) % 4 == 1 else "heads", *seen["said"]]
'''
"""Of four draws for the guesser, one is tails and three are heads."""

PRIOR = """
def policy_prior(state, legal_actions, player_id):
    return [0.8 if action.endswith(state["coin"]) else 0.2 for action in legal_actions]
"""
"""Who hints says what the coin shows four times in five."""

INFO = GameInfo("hinted_coin", 2, "identical", 0.0, 1.0, False, True, ("teller", "guesser"), 4)
INITIAL = {"coin": None, "said": []}
EXACT = {"simulations": 1, "belief_size": 4, "belief_temper": 1.0, "belief_mix": 0.0, "belief_threshold": 0.0}


class Heads:
    """The true game, which is won while the coin shows heads."""

    def __init__(self) -> None:
        code = {"source": PROGRAM, "initial_state": INITIAL, "info": asdict(INFO)}
        self._game = LoadedCode(code).instantiate()
        self.info = INFO

    def __getattr__(self, name: str) -> Any:
        return getattr(self._game, name)

    def outcome(self, state: State) -> dict[str, Any]:
        return {"won": state["coin"] == "heads", "ended_early": False, "score": 1.0}


@pytest.fixture(scope="module")
def specs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, AgentSpec]:
    folder = tmp_path_factory.mktemp("model")
    ModelBundle(PROGRAM, None, INITIAL | {"more": "not so"}, asdict(INFO), "", prior_source=PRIOR).save(folder)
    settings = EXACT | {"selection": "puct", "prior": "policy"}
    reader = AgentSpec("cwm", "reader", planner=settings, model=str(folder))
    return {"reader": reader, "random": AgentSpec("random", "random")}


@pytest.fixture
def played(record: Callable[..., GameRecord]) -> Callable[..., GameRecord]:
    """Returns a function that gives the record of a whole game by its coin and its hints."""

    def build(seats: str, coin: str, first: str, second: str) -> GameRecord:
        said = [f"hint {first}", f"hint {second}", "guess heads", "end"]
        actions = ((-1, coin), *zip([0, 0, 1, 0], said, strict=True))
        return replace(record(seats, [0.0, 0.0], deal=7), game=INFO.id, actions=actions)

    return build


def probes(specs: dict[str, AgentSpec], *records: GameRecord) -> list[Probe]:
    return list(probe(Heads(), records, specs, Runtime()))


# Of the guesser's four histories one is tails and three are heads, each weighed by both hints.
AGREEING = 3 * 0.8 * 0.8 / (3 * 0.8 * 0.8 + 0.2 * 0.2)
MIXED = 3 * 0.8 * 0.2 / (3 * 0.8 * 0.2 + 0.8 * 0.2)


@pytest.mark.parametrize(
    ("coin", "hints", "win", "truth"),
    [
        ("heads", ("heads", "heads"), AGREEING, AGREEING),
        ("tails", ("heads", "heads"), AGREEING, 1 - AGREEING),
        ("heads", ("tails", "heads"), MIXED, MIXED),
    ],
)
def test_probe_of_a_guesser_is_the_exact_belief_beside_what_was_so(
    coin: str, hints: tuple[str, str], win: float, truth: float, specs: dict[str, AgentSpec], played: Any
) -> None:
    [found] = probes(specs, played("random reader", coin, *hints))
    assert found.win == pytest.approx(win, abs=1e-12)
    assert found.won is (coin == "heads")
    assert found.truth == pytest.approx(truth, abs=1e-12)
    assert found.effective == pytest.approx(1 / (2 * (win**2 + (1 - win) ** 2)), abs=1e-12)
    assert (found.agent, found.alone, found.deal_seed, found.number, found.ended) == ("reader", False, 7, 2, False)


class CoinAndMore(Heads):
    """The same game, whose states hold something else, of which the model is sure and wrong."""

    def __init__(self) -> None:
        super().__init__()
        code = {"source": PROGRAM, "initial_state": INITIAL | {"more": "so"}}
        self._game = LoadedCode(code | {"info": asdict(INFO)}).instantiate()


class CoinAlone(CoinAndMore):
    """It names the coin alone as what is hidden."""

    def hidden_parts_of(self, state: State) -> list[str]:
        return [state["coin"]]


@pytest.mark.parametrize(("game", "share"), [(CoinAlone, 1.0), (CoinAndMore, 0.5)])
def test_probe_counts_the_parts_that_a_game_names_and_all_where_it_names_none(
    game: type[Heads], share: float, specs: dict[str, AgentSpec], played: Any
) -> None:
    [found] = probe(game(), [played("random reader", "heads", "heads", "heads")], specs, Runtime())
    assert found.truth == pytest.approx(AGREEING * share, abs=1e-12)


@pytest.mark.parametrize("coin", ["heads", "tails"])
def test_probe_of_a_player_who_sees_all_is_certain_and_only_decisions_that_open_a_turn_are_probed(
    coin: str, specs: dict[str, AgentSpec], played: Any
) -> None:
    first, last = probes(specs, played("reader random", coin, "heads", "tails"))
    for found in (first, last):
        assert found.win == pytest.approx(float(coin == "heads"))
        assert found.won is (coin == "heads")
        assert found.truth is None
    assert first.effective == pytest.approx(1.0)
    assert [(found.number, found.ended) for found in (first, last)] == [(0, False), (3, True)]


def test_an_agent_that_plays_with_itself_is_alone_and_both_seats_are_probed(
    specs: dict[str, AgentSpec], played: Any
) -> None:
    found = probes(specs, played("reader reader", "heads", "heads", "heads"))
    assert [item.number for item in found] == [0, 2, 3]
    assert all(item.alone for item in found)


def test_forfeited_games_and_agents_without_a_model_are_not_probed(specs: dict[str, AgentSpec], played: Any) -> None:
    lost = replace(played("reader reader", "heads", "heads", "heads"), forfeit=Forfeit(1, "timeout", ""))
    assert probes(specs, lost, played("random random", "heads", "heads", "heads")) == []
