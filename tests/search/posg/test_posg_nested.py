"""Planners who take the others to plan, too: levels, what is handed down them, and that level 0 is POMCP."""

import math
import random
from collections.abc import Sequence
from dataclasses import replace

import pytest

from games.api import Json
from games.posg.api import Choose, Joint, Moved, PosgInfo, PosgModel, observation_to_json
from games.posg.chance import drawing
from games.posg.registry import make as make_model
from search.api import Decision, PlannerConfigError, Position
from search.posg.config import PosgPlannerConfig
from search.posg.nested import NestedMind
from search.posg.planner import PosgPlanner, make
from search.posg.tree import EgoEdge, EgoNode


class Bridge:
    """Agent 0 sets out alone; then both choose a side: agent 1 is paid on the left, agent 0 where they meet, and there
    more on the right. Who takes the other to choose by lot goes right, who knows what it wants goes left."""

    info = PosgInfo(
        id="bridge",
        agent_names=("walker", "guard"),
        utility="general_sum",
        actions=(("go", "left", "right"), ("left", "right")),
        min_step=0.0,
        max_step=1.2,
        min_utility=0.0,
        max_utility=1.2,
        step_limit=2,
    )

    def initial_state(self, choose: Choose) -> Json:
        return "start"

    def active(self, state: Json) -> Sequence[int]:
        return {"start": (0,), "bridge": (0, 1)}.get(state, ())

    def legal_actions(self, state: Json, agent: int) -> Sequence[str]:
        if state == "start":
            return [("go",), ()][agent]
        return ("left", "right") if state == "bridge" else ()

    def move(self, state: Json, actions: Joint, choose: Choose) -> Moved:
        if state == "start":
            return "bridge", (0.0, 0.0), (False, False)
        meets = actions[0] == actions[1]
        walker = (1.0 if actions[0] == "left" else 1.2) if meets else 0.0
        return "end", (walker, 1.0 if actions[1] == "left" else 0.0), (True, True)

    def observe(self, state: Json, actions: Joint | None, choose: Choose) -> Sequence[Json]:
        return (state, state)


def planned(model: PosgModel, agent: int = 0, **settings: object) -> PosgPlanner:
    return make(model, agent, PosgPlannerConfig.from_json({"method": "intmcp", "simulations": 90, **settings}))


def play(planner: PosgPlanner, steps: int, seed: int) -> list[Decision]:
    """Returns the decisions of agent 0 in a game with others at random."""
    model, rng = planner.scope.steps.model, random.Random(seed)
    choose, decisions = drawing(random.Random(seed + 1)), list[Decision]()
    state = model.initial_state(choose)
    seen, history = model.observe(state, None, choose), list[tuple[Json, str | None]]()
    for _ in range(steps):
        history.append((observation_to_json(model, 0, seen[0]), None))
        decisions.append(planner.choose(Position(0, tuple(history)), rng))
        history[-1] = (history[-1][0], decisions[-1].action)
        offered = [model.legal_actions(state, agent) or actions for agent, actions in enumerate(model.info.actions)]
        joint = (decisions[-1].action, *(legal[seed % len(legal)] for legal in offered[1:]))
        state, _, over = model.move(state, joint, choose)
        seen = model.observe(state, joint, choose)
        if over[0]:
            break
    return decisions


@pytest.mark.parametrize("belief", ["adapted", "rejection"])
@pytest.mark.parametrize("game_id", ["tiger-2a", "driving"])
def test_on_level_0_it_is_pomcp_to_the_bit(game_id: str, belief: str) -> None:
    config = PosgPlannerConfig.from_json(
        {"method": "intmcp", "level": 0, "simulations": 120, "belief": belief, "particles": 40}
    )
    pomcp = replace(config, method="pomcp", level=PosgPlannerConfig.level)
    model = make_model(game_id)
    nested, plain = (play(make(model, 0, one), 4, 2) for one in (config, pomcp))
    assert nested == plain
    assert len(plain) >= 2


@pytest.mark.parametrize(("level", "action"), [(0, "right"), (1, "left"), (2, "left")])
def test_who_takes_the_other_to_plan_meets_it_where_it_wants_to_be(level: int, action: str) -> None:
    decisions = play(planned(Bridge(), level=level, simulations=60 * (level + 1), particles=20), 2, 1)
    assert [decision.action for decision in decisions] == ["go", action]


def test_the_simulations_are_shared_equally_by_the_levels() -> None:
    planner = planned(make_model("tiger-2a"), simulations=100)
    (decision,) = play(planner, 1, 0)
    assert decision.simulations == 100
    assert sum(decision.visits.values()) == 33  # 100 - 2 * 33 above the others, of which one opens the root
    assert decision.fallback is None


def test_an_agent_acts_by_a_softmax_of_its_visits() -> None:
    node = EgoNode()
    node.edges = [EgoEdge("left"), EgoEdge("right")]
    mind = NestedMind(node, ("left", "right", "wait"), "here")
    assert mind.chances == pytest.approx([1 / 3] * 3)
    node.visits, node.edges[0].visits, node.edges[1].visits = 4, 3, 1
    assert mind.renew()
    weights = [math.exp(1.5), math.exp(0.5), 1.0]
    assert mind.chances == pytest.approx([weight / math.fsum(weights) for weight in weights])
    assert not mind.renew()


@pytest.mark.parametrize("game_id", ["mabc", "two-paths"])
def test_histories_are_handed_down_with_what_explains_them(game_id: str) -> None:
    planner = planned(make_model(game_id), simulations=60, particles=30)
    decisions = play(planner, 5, 3)
    assert [decision.fallback for decision in decisions] == [None] * len(decisions)
    assert planner._nest is not None
    (low,), (high,) = (trees.values() for trees in planner._nest._trees)
    believed = {mind for particle in planner.belief.cloud.particles for mind in particle.minds}
    assert set(high._beliefs) <= believed
    assert set(low._beliefs) <= {mind for _, cloud in high.believed() for one in cloud.particles for mind in one.minds}
    assert high._beliefs
    assert math.fsum(share for share, _ in high.believed()) <= 1.0 + 1e-9
    assert all(cloud.contradicting == 0 for _, cloud in high.believed())


def test_three_agents_have_two_searches_on_every_level_below_the_first() -> None:
    planner = planned(make_model("driving", agents=3), level=2, simulations=60, particles=10)
    assert planner._nest is not None
    assert [sorted(trees) for trees in planner._nest._trees] == [[0, 1, 2], [1, 2]]
    assert [decision.simulations for decision in play(planner, 2, 5)] == [60, 60]


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"types": ["H1"]}, "intmcp takes the others to search as it does: leave out types, or use ipomcp."),
        ({"level": 9}, "level is 9, expected a whole number from 0 to 5."),
        (
            {"belief": "inferred"},
            "intmcp searches on from histories that it has searched before, and inferred draws new ones: use adapted.",
        ),
        ({"level": 1, "method": "pomcp"}, "pomcp has no levels: leave out level, or use intmcp."),
    ],
)
def test_wrong_settings_are_named(settings: dict[str, Json], said: str) -> None:
    with pytest.raises(PlannerConfigError) as raised:
        planned(Bridge(), **settings)
    assert str(raised.value) == said


def test_settings_of_other_methods_are_written_as_before() -> None:
    assert "level" not in PosgPlannerConfig(method="pomcp").to_json()
    assert PosgPlannerConfig.from_json(PosgPlannerConfig(method="intmcp", level=1).to_json()).level == 1
