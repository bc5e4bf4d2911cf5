"""Planners of games of simultaneous moves at the table of the arena."""

from collections.abc import Callable
from pathlib import Path

import pytest

from arena.agents import posg
from arena.agents.api import AgentFailure, RandomAgent, Turn
from arena.agents.specs import AgentSpec, AgentSpecError, parse
from arena.machine.runtime import Runtime
from arena.matches import seating
from games import registry
from search.posg.config import PosgPlannerConfig

Trained = Callable[..., Path]


def test_a_description_is_written_out_in_full_and_read_again() -> None:
    spec = parse("posg:ipomcp,types=uniform+H1,sims=1200,belief=exact,time=0.5,name=plan")
    config = PosgPlannerConfig.from_json(spec.planner)
    assert (config.method, config.types, config.simulations) == ("ipomcp", ("uniform", "H1"), 1200)
    assert (config.belief, config.seconds, spec.name) == ("exact", 0.5, "plan")
    assert AgentSpec.from_json(spec.to_json()) == spec


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("posg:ipomcp,typs=H1", "Agent 'posg:ipomcp,typs=H1': there is no setting 'typs'; did you mean 'types'?"),
        ("posg:pomcp,sims=many", "Agent 'posg:pomcp,sims=many': simulations must be a whole number, not 'many'."),
        (
            "posg:minimax",
            "Agent 'posg:minimax': method is 'minimax', expected 'pomcp' or 'ipomcp' or 'intmcp' or 'potmmcp' or "
            "'combined'.",
        ),
        (
            "posg",
            "Agent 'posg' names no method: write posg:pomcp or posg:intmcp, or posg:ipomcp or posg:potmmcp with "
            "types=NAME+NAME.",
        ),
    ],
)
def test_a_wrong_description_is_answered_by_one_sentence(text: str, said: str) -> None:
    with pytest.raises(AgentSpecError) as raised:
        parse(text)
    assert str(raised.value) == said


def test_other_games_and_policies_that_there_are_not_are_refused() -> None:
    with pytest.raises(AgentSpecError, match="simultaneous moves, and kuhn_poker is none"):
        seating.resolve(parse("posg:pomcp"), registry.make("kuhn_poker"))
    with pytest.raises(AgentSpecError, match="mabc has no policy 'H1'; types may name uniform"):
        seating.resolve(parse("posg:ipomcp,types=H1"), registry.make("mabc"))


@pytest.mark.parametrize(
    "text", ["posg:pomcp,sims=30", "posg:intmcp,level=0,sims=30", "posg:ipomcp,types=uniform,sims=30,belief=rejection"]
)
def test_a_game_is_played_from_what_the_seat_is_told(text: str) -> None:
    game = registry.make("tiger-2a", steps=3)
    agent = seating.build(seating.resolve(parse(text), game), game, Runtime(None))
    state, history, thoughts = game.initial_state(), [], []
    other = RandomAgent()
    while (player := game.current_player(state)) != -4:
        legal = tuple(game.legal_actions(state))
        if player == 1:
            history.append((game.observations(state)[1], None))
            move = agent.act(Turn(1, tuple(history), None, legal, None, 7, explain=True))
            assert move.fallback is None
            assert move.errors == {}
            history[-1] = (history[-1][0], move.action)
            thoughts.append(move.thought)
            state = game.apply_action(state, move.action)
        else:
            seat = max(player, 0)
            state = game.apply_action(state, other.act(Turn(seat, (), None, legal, None, 3)).action)
    agent.close()
    assert len(history) == len(thoughts) == 3
    first = thoughts[0]
    assert first is not None
    assert sum(move["visits"] for move in first["moves"]) == 29
    assert first["belief"], "what is believed of the tiger is told"


def test_trained_policies_lead_a_search_and_are_types(trained: Trained, tmp_path: Path) -> None:
    game = registry.make("cooperative-reaching")
    folder = trained(tmp_path / "br-s0")
    text = f"posg:combined,types=H1+{folder},search={folder},sims=30,particles=20"
    spec = seating.resolve(parse(text), game)
    assert spec.model_hash is not None
    agent = seating.build(spec, game, Runtime(None))
    state = game.initial_state()
    while game.current_player(state) == -1:
        state = game.apply_action(state, game.chance_outcomes(state)[0][0])
    legal = tuple(game.legal_actions(state))
    move = agent.act(Turn(0, ((game.observations(state)[0], None),), None, legal, None, 7))
    assert (move.fallback, move.errors) == (None, {})
    trained(folder, seed=1)
    with pytest.raises(AgentSpecError, match="a trained policy that it names changed while the games ran"):
        seating.build(spec, game, Runtime(None))


def test_a_policy_of_another_game_or_agent_is_refused(trained: Trained, tmp_path: Path) -> None:
    game = registry.make("cooperative-reaching")
    other = trained(tmp_path / "other", "driving")
    with pytest.raises(AgentSpecError, match="other was trained on driving, the game is cooperative-reaching"):
        seating.resolve(parse(f"posg:ipomcp,types={other}"), game)
    second = trained(tmp_path / "pair" / "seat1", seat=1).parent
    spec = seating.resolve(parse(f"posg:ipomcp,types={second},sims=5"), game)
    agent = seating.build(spec, game, Runtime(None))
    with pytest.raises(
        AgentFailure, match="the search cannot begin: the network was trained for agent 1, not for agent 0"
    ):
        agent.act(Turn(1, (), None, ("stay",), None, 7))


def test_a_game_s_own_policies_can_be_types() -> None:
    game = registry.make("cooperative-reaching")
    named = posg.policies(posg.model_of(game))
    assert {"uniform", "H1", "H11"} <= named.keys()
