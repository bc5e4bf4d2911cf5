"""Beliefs drawn by a game's own inference, and types of others that nobody named."""

import math
import random
from collections import Counter

import pytest

from games.api import Json
from games.posg.api import PosgModel, observation_to_json
from games.posg.chance import drawing
from games.posg.cooperative_reaching.model import CooperativeReaching
from games.posg.cooperative_reaching.partners import policies as reaching_policies
from games.posg.driving.model import Driving
from games.posg.driving.partners import policies as driving_policies
from games.posg.foraging.model import ForagingInPlaces
from games.posg.inference.filtering import Inference, InfersByItsRules
from games.posg.registry import make as make_model
from games.posg.tiger.model import Tiger
from search.api import PlannerConfigError, Position
from search.posg.belief_inferred import tempered
from search.posg.config import PosgPlannerConfig
from search.posg.others import FromFunction, OtherPolicy, Softened, Uniform
from search.posg.planner import PosgPlanner, make
from search.posg.told import Told


class InferringTiger(InfersByItsRules, Tiger):
    """Tiger with a filter over its own rules."""


LISTENER = FromFunction(lambda history, legal, agent: [0.0, 0.0, 1.0])
OPENER = FromFunction(lambda history, legal, agent: [0.5, 0.5, 0.0])
NAMED: dict[str, OtherPolicy] = {"listener": LISTENER, "opener": OPENER, "any": Uniform()}
HEARD = [{"growl": None, "creak": None}, {"growl": "left", "creak": "silence"}, {"growl": "left", "creak": "right"}]


def planner(model: PosgModel, named: dict[str, OtherPolicy], **settings: object) -> PosgPlanner:
    data = {"types": [*named][:2], "simulations": 20, **settings}
    return make(model, 0, PosgPlannerConfig.from_json(data), {name: [one] * 2 for name, one in named.items()})


def follow(one: PosgPlanner, seen: list[Json], actions: list[str], seed: int = 0) -> None:
    told = [Told(what, True, action) for what, action in zip(seen, [*actions, None], strict=True)]
    one.follow(told, random.Random(seed))


def states(one: PosgPlanner) -> Counter[object]:
    shares: Counter[object] = Counter()
    for weight, particle in zip(one.belief.cloud.weights, one.belief.cloud.particles, strict=True):
        shares[one.scope.steps.state(particle.place)] += weight  # type: ignore[assignment]
    return shares


@pytest.mark.parametrize("tables", ["always", "never"])
def test_what_a_filter_infers_comes_near_the_exact_belief(tables: str) -> None:
    named = {"listener": LISTENER, "any": Uniform()}
    exact = planner(make_model("tiger-2a"), named, belief="exact")
    drawn = planner(InferringTiger(), named, belief="inferred", particles=4000, tables=tables)
    for one in (exact, drawn):
        follow(one, HEARD, ["listen", "listen"])
    assert states(drawn)["left"] == pytest.approx(states(exact)["left"], abs=0.03)
    assert drawn.belief.cloud.posterior(2) == pytest.approx(exact.belief.cloud.posterior(2), abs=0.03)
    assert drawn.belief.cloud.evidence == 1.0


def test_a_goal_that_is_made_for_is_inferred_where_all_is_seen() -> None:
    model = CooperativeReaching()
    named = {name: reaching_policies(model)[name] for name in ("H1", "H2")}
    drawn = planner(model, named, belief="inferred", particles=20)  # type: ignore[arg-type]
    follow(drawn, [{"own": [2, 2], "other": [column, 1]} for column in (1, 2, 3)], ["stay", "stay"])
    assert drawn.belief.cloud.posterior(2) == pytest.approx([0.0, 1.0], abs=1e-4)  # H1 makes for the nearer corner


def test_the_level_of_the_other_is_inferred_from_levels_of_food() -> None:
    """Own level 1, food of levels 1 and 3 in view: of sums 3 and 4 each is as likely as 1/9 and 1/16."""
    model = ForagingInPlaces()
    drawn = planner(model, {"any": Uniform()}, belief="inferred", particles=2000)
    seen = [(1, -1, 0), (1, -1, 0), (1, -1, 0, 24, 1, 14, 3)]
    follow(drawn, [model.observation_to_json(0, one) for one in seen], ["south", "east"])
    levels: Counter[int] = Counter()
    for state, weight in states(drawn).items():
        levels[state[3]] += weight  # type: ignore[index, assignment]
    assert levels[1] == 0
    assert levels[3] == pytest.approx((1 / 16) / (1 / 9 + 1 / 16), abs=0.03)


def test_private_histories_are_what_the_others_would_have_seen() -> None:
    model = InferringTiger()
    choose = drawing(random.Random(0))
    history = [(model.observe("left", joint, choose)[0], "listen") for joint in (None, ("listen", "listen"))]
    history.append((history[-1][0], None))
    for seed in range(20):
        state, (own, other) = Inference(model).resample(history, 0, random.Random(seed))
        assert own is None
        assert other is not None
        assert [action is None for _, action in other] == [False, False, True]
        assert state in ("left", "right")


@pytest.mark.slow
def test_marginals_of_traffic_are_near_the_exact_ones() -> None:
    model = Driving()
    named: dict[str, OtherPolicy] = {name: Softened(driving_policies(model)[name], 0.5) for name in ("A0", "A100")}
    exact, drawn = (planner(model, named, belief=belief, particles=6000) for belief in ("exact", "inferred"))
    rng = random.Random(4)
    choose, seen, actions = drawing(rng), list[Json](), list[str]()
    state = model.initial_state(choose)
    for _ in range(4):
        seen.append(observation_to_json(model, 0, model.observe(state, None, choose)[0]))
        for one in (exact, drawn):
            follow(one, seen, actions)
        found, truth = states(drawn), states(exact)
        assert all(found[place] == pytest.approx(truth[place], abs=0.04) for place in {*found, *truth})
        assert drawn.belief.cloud.posterior(2) == pytest.approx(exact.belief.cloud.posterior(2), abs=0.05)
        actions.append("accelerate")
        state = model.move(state, ("accelerate", rng.choice(model.info.actions[1])), choose)[0]


def test_a_likelihood_is_tempered_until_enough_draws_count() -> None:
    assert tempered([[0.0]] * 30 + [[-1.0]] * 10, [1.0], 1.0) == 1.0
    # One of 100 draws stands out by 9; its weight is w = e^(9p) beside 99 others: (w + 99)² = 5 (w² + 99).
    power = tempered([[9.0]] + [[0.0]] * 99, [1.0], 1.0)
    assert (math.exp(9 * power) + 99) ** 2 == pytest.approx(5 * (math.exp(18 * power) + 99), rel=0.02)


def test_what_nothing_explains_ends_in_a_random_move_and_one_sentence() -> None:
    one = planner(InferringTiger(), {"any": Uniform()}, belief="inferred", particles=5)
    decision = one.choose(Position(0, (("thunder", None),)), random.Random(0), ("listen",))
    assert decision.action == "listen"
    assert decision.fallback == (
        "tiger-2a shows agent 0 nothing like 'thunder' here; give observations as the game made them. "
        "A random action is played."
    )


def test_inference_takes_over_where_no_particle_explains_what_was_seen() -> None:
    model = ForagingInPlaces()
    one = planner(model, {"any": Uniform()}, belief="adapted", particles=2, simulations=4)
    seen = [(1, -1, 0), (1, -1, 0), (1, -1, 0, 24, 4, 14, 3)]  # food of level 4: the other one has level 3
    told = [model.observation_to_json(0, one) for one in seen]
    history = tuple(zip(told, ["south", "east", None], strict=True))
    decision = one.choose(Position(0, history), random.Random(0))
    assert decision.fallback is None
    (said,) = decision.errors
    assert said.startswith("NotExplainedError: none of 2 particles explains")
    cloud = one.belief.cloud
    found = [one.scope.steps.state(particle.place) for particle in cloud.particles]
    assert {state[3] for state in found} == {3}
    assert {model.observe(state, None, drawing(random.Random(0)))[0] for state in found} == {seen[2]}


def test_a_game_without_inference_is_refused() -> None:
    with pytest.raises(PlannerConfigError, match="tiger-2a infers nothing: use belief=adapted"):
        planner(make_model("tiger-2a"), {"any": Uniform()}, belief="inferred")


def test_others_of_no_type_that_was_named_are_believed_where_no_type_explains_them() -> None:
    one = planner(
        make_model("tiger-2a"),
        {"listener": LISTENER, "any": Uniform()},
        belief="exact",
        types=["listener"],
        unknown=0.1,
    )
    follow(one, HEARD[:1], [])
    assert one.belief.cloud.figures(one.scope)["type unknown"] == pytest.approx(0.1)
    follow(one, HEARD[:2], ["listen"])
    # Silence: of a listener with 0.9; at random that is a third of the time, else an error of 0.05.
    other = 0.1 * (0.9 + 2 * 0.05) / 3
    assert one.belief.cloud.figures(one.scope)["type unknown"] == pytest.approx(other / (other + 0.9 * 0.9))


@pytest.mark.parametrize("belief", ["exact", "adapted"])
def test_tempered_evidence_is_a_power_of_each_type_s_likelihood(belief: str) -> None:
    one = planner(make_model("tiger-2a"), {"listener": LISTENER, "opener": OPENER}, belief=belief, evidence=0.5)
    follow(one, HEARD[:2], ["listen"])
    assert one.belief.cloud.posterior(2)[0] == pytest.approx(math.sqrt(0.9) / (math.sqrt(0.9) + math.sqrt(0.05)))


def test_a_softened_policy_acts_at_random_now_and_then() -> None:
    assert Softened(LISTENER).probabilities((0, ()), ("left", "right", "listen")) == pytest.approx(
        [1 / 12, 1 / 12, 5 / 6]
    )
    one = planner(
        make_model("tiger-2a"),
        NAMED,
        belief="exact",
        types=["softened:opener"],
        unknown=0.5,
        unknown_as="softened:listener",
    )
    assert one.scope.types.names == ["softened:opener", "unknown"]
    with pytest.raises(
        PlannerConfigError, match="tiger-2a has no policy 'prior'; those that types may name: uniform, listener"
    ):
        planner(make_model("tiger-2a"), NAMED, unknown=0.5, unknown_as="prior")


def test_a_policy_of_the_ego_s_own_is_never_the_unknown_one() -> None:
    one = planner(make_model("tiger-2a", steps=2), NAMED, method="potmmcp", unknown=0.2, episodes=2)
    assert [minds.name for minds in one._own] == ["listener", "opener"]
    assert [len(row) for row in one._sums] == [1, 1, 1]
    assert one.choose(Position(0, ((HEARD[0], None),)), random.Random(0)).fallback is None


def test_settings_that_came_later_are_written_where_they_are_used_alone() -> None:
    assert not {"unknown", "unknown_as", "evidence"} & PosgPlannerConfig(types=("H1",)).to_json().keys()
    config = PosgPlannerConfig(types=("H1",), unknown=0.1, unknown_as="prior", evidence=0.5)
    assert PosgPlannerConfig.from_json(config.to_json()) == config
