import pytest

from arena.agents.api import AgentFailure, Turn
from arena.agents.planner import PlannerAgent
from search.api import PlannerConfig


def turn(state, history=(({"said": []}, None),)):
    return Turn(player=0, history=tuple(history), state=state, legal_actions=(), rendering=None, seed=3)


def test_planner_on_the_true_game_finds_the_winning_move(pair):
    agent = PlannerAgent(pair, PlannerConfig(simulations=60, rollouts=1), "planner")
    assert agent.act(turn({"said": ["red"]})).action == "red"


def test_search_without_any_action_forfeits_instead_of_stopping_the_tournament(pair):
    agent = PlannerAgent(pair, PlannerConfig(simulations=10), "planner")
    with pytest.raises(AgentFailure, match="the search found no action: the model lists no legal action") as caught:
        agent.act(turn({"said": ["red", "red"]}))
    assert caught.value.kind == "empty"
