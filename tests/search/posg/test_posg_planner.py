"""Planners of games of simultaneous moves: settings, selection, meta-policies, tables, and what breaks them."""

import functools
import itertools
import math
import random
from collections.abc import Sequence

import pytest

from games.api import Json, State
from games.posg.api import Joint
from games.posg.exact import ExactModel
from games.posg.mabc.model import BroadcastChannel
from games.posg.registry import make as make_model
from search.api import PlannerConfigError, Position
from search.posg import meta
from search.posg.config import PosgPlannerConfig
from search.posg.others import FromFunction, Minds, Uniform
from search.posg.planner import make
from search.posg.select import by_pucb, by_ucb
from search.posg.steps import DrawnSteps
from search.posg.tables import TabledSteps, steps_of
from search.posg.tree import EgoNode, Span

START = (({"growl": None, "creak": None}, None),)
ANY = {"any": [Uniform()] * 2, "other": [Uniform()] * 2}


def test_settings_survive_json() -> None:
    config = PosgPlannerConfig(method="potmmcp", types=("H1", "H2"), seconds=0.5, belief="rejection")
    assert PosgPlannerConfig.from_json(config.to_json()) == config
    assert not {"search", "seconds"} & PosgPlannerConfig(types=("H1",)).to_json().keys(), (
        "older records stay as they are"
    )
    combined = PosgPlannerConfig(method="combined", types=("H1",), search="H2")
    assert PosgPlannerConfig.from_json(combined.to_json()) == combined


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (
            {"method": "pomcp", "types": ["H1"]},
            "pomcp takes the others to act at random: leave out types, or use ipomcp.",
        ),
        ({}, "ipomcp needs types, the policies that the others may have, e.g. types=H1+H2."),
        ({"types": "H1"}, "types is 'H1', expected a list of names."),
        ({"types": ["H1", "H1"]}, "types names a policy twice: H1+H1."),
        (
            {"method": "combined", "types": ["H1"]},
            "combined needs search, the policy that leads it: a trained best response to the types, e.g. "
            "search=runs/br/br-s0, or any policy that types may name.",
        ),
        (
            {"types": ["H1"], "search": "H1"},
            "search goes with combined alone, not with ipomcp: leave it out.",
        ),
        ({"method": "combined", "types": ["H1"], "search": 3}, "search is 3, expected the name of a policy."),
        (
            {"types": ["H1"], "belief": "kalman"},
            "belief is 'kalman', expected 'rejection' or 'adapted' or 'exact' or 'inferred'.",
        ),
        ({"unknown": 0.1, "method": "pomcp"}, "pomcp takes no types: leave out unknown, or use ipomcp."),
        ({"types": ["H1"], "unknown": 1.5}, "unknown is 1.5, expected a share from 0 to 1."),
        (
            {"types": ["H1"], "unknown": 1},
            "unknown is 1 and unknown_as 'uniform', expected a share below 1 and a name.",
        ),
        (
            {"types": ["H1"], "evidence": 0.5, "belief": "rejection"},
            "rejection weighs no type: leave out evidence, or use another belief.",
        ),
        ({"types": ["H1"], "discount": 1.5}, "discount is 1.5, expected a number above 0, at most 1."),
        ({"types": ["H1"], "particles": 0}, "particles is 0, expected a whole number from 1 to 1,000,000,000."),
        ({"types": ["H1"], "seconds": -1}, "seconds is -1, expected a number above 0."),
    ],
)
def test_a_wrong_setting_is_named(settings: dict[str, Json], said: str) -> None:
    with pytest.raises(PlannerConfigError) as raised:
        PosgPlannerConfig.from_json(settings)
    assert str(raised.value) == said


def test_the_published_depth_follows_from_the_discount() -> None:
    assert PosgPlannerConfig(types=("H1",)).depth == 459


def test_a_type_without_a_policy_is_named() -> None:
    with pytest.raises(PlannerConfigError, match="mabc has no policy 'H9'; those that types may name: any, other"):
        make(make_model("mabc"), 0, PosgPlannerConfig(types=("H9",)), ANY)
    config = PosgPlannerConfig(method="combined", types=("any",), search="H9")
    with pytest.raises(PlannerConfigError, match="mabc has no policy 'H9'; those that search may name: any, other"):
        make(make_model("mabc"), 0, config, ANY)


def tried(*results: tuple[int, float]) -> EgoNode:
    node = EgoNode()
    node.open([f"action {number}" for number in range(len(results))], led=True)

    for edge, (visits, mean) in zip(node.edges, results, strict=True):
        edge.visits, edge.mean, edge.spread = visits, mean, max(visits, 1) ** -0.5
        node.visits += visits
    return node


def test_ucb_scales_values_by_the_span_of_the_tree() -> None:
    span = Span()
    span.add(-100.0)
    span.add(100.0)
    # Scaled values 0.55 and 0.5, bonuses sqrt(2 ln 14 / 10) = 0.726 and sqrt(2 ln 14 / 4) = 1.149.
    assert by_ucb(tried((10, 10.0), (4, 0.0)), span, math.sqrt(2.0)).action == "action 1"
    assert by_ucb(tried((10, 10.0), (4, 0.0)), span, 0.01).action == "action 0"


def test_ucb_tries_every_action_first_in_their_order() -> None:
    node = EgoNode()
    node.open(["one", "two"], led=False)
    assert [by_ucb(node, Span(), 1.0).action for _ in range(2)] == ["one", "two"]


def test_pucb_weighs_by_the_mean_of_what_policies_gave() -> None:
    node, span = tried((0, 0.0), (0, 0.0), (2, 0.4)), Span()
    span.add(0.0)
    span.add(1.0)
    node.leaning = [1.5, 0.5, 0.0]
    # P = 0.75 (0.75, 0.25, 0) + 0.25 / 3; 1.25 sqrt(2) P / (1 + n) + Q.
    assert by_pucb(node, span, 1.25, 0.25).action == "action 0"
    node.leaning = [0.0, 0.0, 2.0]
    # 1.25 sqrt(2) (0.0833, 0.0833, 0.8333 / 3) + (0, 0, 0.4)
    assert by_pucb(node, span, 1.25, 0.25).action == "action 2"


def test_a_meta_policy_is_a_softmax_the_best_or_any() -> None:
    for kind, expected in (
        ("softmax", [1 / (1 + math.exp(-2.0)), 1 / (1 + math.exp(2.0))]),
        ("greedy", [1.0, 0.0]),
        ("uniform", [0.5, 0.5]),
    ):
        config = PosgPlannerConfig(types=("any",), meta=kind)  # type: ignore[arg-type]
        assert meta.shares([1.0, 0.5], config) == pytest.approx(expected)


def test_payoffs_are_what_policies_earn_against_types() -> None:
    sender = FromFunction(lambda history, legal, agent: [1.0, 0.0])
    waiter = FromFunction(lambda history, legal, agent: [0.0, 1.0])
    config = PosgPlannerConfig(method="potmmcp", types=("sender", "waiter"), episodes=20)
    one = make(make_model("mabc", steps=3), 0, config, {"sender": [sender] * 2, "waiter": [waiter] * 2})
    own = [Minds("sender", sender, 0), Minds("waiter", waiter, 0)]
    against_sender, against_waiter = meta.payoffs(one.scope, own, random.Random(0))
    assert against_sender[0] == against_waiter[1] == 0.0
    assert 1.0 <= against_sender[1] < 2.0  # the other's buffer fills with 0.1
    assert 2.0 < against_waiter[0] <= 3.0


def test_tables_hold_the_probabilities_of_the_model() -> None:
    model = make_model("tiger-2a")
    drawn, tabled = DrawnSteps(model, 0), TabledSteps(model, 0)
    joint: Joint = ("listen", "open left")
    expected: dict[object, float] = {}
    for chance, outcome in drawn.ways("left", joint, 1000) or ():
        key = outcome.place, outcome.paid, tuple(outcome.seen)
        expected[key] = expected.get(key, 0.0) + chance
    found = {
        (outcome.place.state, outcome.paid, outcome.seen): chance
        for chance, outcome in tabled.ways(tabled.place("left"), joint, 1) or ()
    }
    assert found == pytest.approx(expected)


def test_random_rollouts_from_tables_and_from_draws_pay_what_is_exact() -> None:
    model = make_model("mabc")
    exact = ExactModel(model)

    @functools.cache
    def value(state: State, steps: int) -> float:
        """The second node's expected return of random play, its rewards discounted by 0.9."""
        ways = [way for joint in itertools.product(*model.info.actions) for way in exact.steps(state, joint)]
        paid = (way.probability / 4 * (way.rewards[1] + 0.9 * value(way.state, steps - 1)) for way in ways)
        return math.fsum(paid) if steps else 0.0

    for steps in (DrawnSteps(model, 1), TabledSteps(model, 1)):
        steps.begin(random.Random(5))
        returns = [steps.rollout(steps.opening().place, 5, 0.9) for _ in range(3000)]
        assert math.fsum(returns) / 3000 == pytest.approx(value((1, 1), 5), abs=0.06)  # four standard errors


def test_tables_that_are_full_begin_anew() -> None:
    config = PosgPlannerConfig(method="pomcp", simulations=60, tables="always")
    one = make(make_model("mabc"), 0, config)
    one.scope.steps._most = 7  # type: ignore[attr-defined]
    assert one.choose(Position(0, (("clear", None),)), random.Random(0)).simulations == 60  # type: ignore[arg-type]


def test_games_of_few_states_get_tables() -> None:
    assert isinstance(steps_of(make_model("mabc"), 0, "auto"), TabledSteps)
    assert isinstance(steps_of(make_model("mabc"), 0, "never"), DrawnSteps)


@pytest.mark.parametrize("method", ["pomcp", "ipomcp", "intmcp", "potmmcp"])
def test_the_same_seed_decides_the_same(method: str) -> None:
    types = ("any", "other") if method in ("ipomcp", "potmmcp") else ()
    config = PosgPlannerConfig(method=method, types=types, simulations=100, episodes=5)  # type: ignore[arg-type]
    decisions = [
        make(make_model("tiger-2a"), 0, config, ANY).choose(Position(0, START), random.Random(4)) for _ in "ab"
    ]
    assert decisions[0] == decisions[1]
    assert sum(decisions[0].visits.values()) == (33 if method == "intmcp" else 99)  # the first opens the root
    assert decisions[0].fallback is None


class Worth(FromFunction):
    """Prefers to listen, and takes every history to be worth 3 for each step of it."""

    def __init__(self) -> None:
        super().__init__(lambda history, legal, agent: [0.1, 0.2, 0.7])

    def value(self, memory: tuple[int, Sequence[object]]) -> float:
        return 3.0 * len(memory[1])


@pytest.mark.parametrize("policy", [FromFunction(lambda history, legal, agent: [0.1, 0.2, 0.7]), Worth()])
def test_combined_led_by_the_only_type_is_potmmcp_to_the_bit(policy: FromFunction) -> None:
    decisions = []
    for settings in ({"method": "potmmcp"}, {"method": "combined", "search": "only"}):
        config = PosgPlannerConfig(types=("only",), simulations=200, episodes=3, **settings)  # type: ignore[arg-type]
        one = make(make_model("tiger-2a"), 0, config, {"only": [policy] * 2})
        rng, told = random.Random(4), START
        decisions.append([one.choose(Position(0, told), rng)])
        heard = ({"growl": "left", "creak": "silence"}, None)
        decisions[-1].append(one.choose(Position(0, ((START[0][0], "listen"), heard)), rng))
    assert decisions[0] == decisions[1]
    assert decisions[0][1].fallback is None


def test_combined_is_led_by_its_own_policy_whatever_the_types() -> None:
    never = FromFunction(lambda history, legal, agent: [0.0, 0.0, 1.0])
    config = PosgPlannerConfig("combined", 50, types=("any", "other"), search="never", mix=0.0, puct=100.0)
    policies = {**ANY, "never": [never] * 2}
    decision = make(make_model("tiger-2a"), 0, config, policies).choose(Position(0, START), random.Random(0))
    # Without visits nothing leans: the first action is tried once.
    assert decision.visits == {"open left": 1, "listen": 48}


class Unsure(BroadcastChannel):
    """A channel whose sensors are wrong by themselves."""

    def __init__(self, from_step: int) -> None:
        super().__init__()
        self._sensors = dict.fromkeys(("clear", "collision"), (("clear", 0.5), ("collision", 0.4)))


@pytest.mark.parametrize("tables", ["always", "never"])
@pytest.mark.parametrize("belief", ["adapted", "exact", "rejection"])
def test_probabilities_that_do_not_sum_to_one_end_in_a_random_move_and_one_sentence(belief: str, tables: str) -> None:
    config = PosgPlannerConfig(method="pomcp", simulations=100, belief=belief, tables=tables)  # type: ignore[arg-type]
    decision = make(Unsure(1), 0, config).choose(Position(0, (("clear", None),)), random.Random(0))  # type: ignore[arg-type]
    assert decision.action in ("send", "wait")
    assert decision.fallback is not None
    assert "the probabilities of the draw 'sensor of node 0' sum to 0.9, not to 1" in decision.fallback


@pytest.mark.parametrize("given", [[0.5, 0.0], [1.0], [2.0, -1.0], None])
def test_a_policy_that_gives_no_probabilities_is_named(given: Sequence[float]) -> None:
    def half(history: object, legal: Sequence[str], agent: int) -> Sequence[float]:
        return given

    config = PosgPlannerConfig(types=("half",), simulations=20)
    one = make(make_model("mabc"), 0, config, {"half": [FromFunction(half)] * 2})
    decision = one.choose(Position(0, (("clear", None),)), random.Random(0))  # type: ignore[arg-type]
    assert decision.fallback == (
        f"the policy 'half' gives {given!r} for send, wait; expected one probability for each, summing to 1. "
        "A random action is played."
    )


def test_another_game_is_followed_from_its_start() -> None:
    one = make(make_model("tiger-2a"), 0, PosgPlannerConfig(types=("any",), simulations=10), ANY)
    shown = {"growl": "left", "creak": "silence"}
    one.choose(Position(0, ((START[0][0], "listen"), (shown, None))), random.Random(0))
    longer = one.belief.cloud.figures(one.scope)["distinct"]
    one.choose(Position(0, START), random.Random(0))
    assert longer == one.belief.cloud.figures(one.scope)["distinct"] == 2.0
    assert len(one._told) == 1
