"""Beliefs of planners in games of simultaneous moves: exact where they can be, and never against what was seen."""

import random
from collections import Counter

import pytest

from games.api import Json
from games.posg.api import PosgModel, observation_to_json
from games.posg.chance import drawing
from games.posg.driving.model import Driving
from games.posg.driving.partners import policies as driving_policies
from games.posg.mabc.model import BroadcastChannel
from games.posg.registry import make as make_model
from search.api import Position
from search.posg.belief_adapted import AdaptedBelief
from search.posg.config import PosgPlannerConfig
from search.posg.others import FromFunction, Uniform
from search.posg.planner import PosgPlanner, make
from search.posg.told import Told

LISTENER = FromFunction(lambda history, legal, agent: [0.0, 0.0, 1.0])
OPENER = FromFunction(lambda history, legal, agent: [0.5, 0.5, 0.0])


class SureChannel(BroadcastChannel):
    """A channel whose sensors are always right."""

    def __init__(self) -> None:
        super().__init__()
        self._sensor = 1.0
        self._sensors = {told: ((told, 1.0),) for told in ("clear", "collision")}  # type: ignore[assignment]


TYPES = {"listener": [LISTENER] * 2, "opener": [OPENER] * 2, "any": [Uniform()] * 2}
SILENT = {"growl": None, "creak": None}


def heard(growl: str, creak: str) -> Json:
    return {"growl": growl, "creak": creak}


def planner(model: PosgModel, belief: str, types: tuple[str, ...], **settings: object) -> PosgPlanner:
    data = {"belief": belief, "types": types, "method": "ipomcp" if types else "pomcp", "simulations": 20, **settings}
    return make(model, 0, PosgPlannerConfig.from_json(data), TYPES)


def follow(one: PosgPlanner, *seen: Json, action: str = "listen") -> None:
    told = [Told(what, acts=True, action=action) for what in seen]
    one.follow([*told[:-1], told[-1]._replace(action=None)], random.Random(0))


def sides(one: PosgPlanner) -> Counter[str]:
    shares: Counter[str] = Counter()
    cloud = one.belief.cloud
    for weight, particle in zip(cloud.weights, cloud.particles, strict=True):
        shares[one.scope.steps.state(particle.place)] += weight  # type: ignore[assignment]
    return shares


@pytest.mark.parametrize("belief", ["exact", "adapted"])
@pytest.mark.parametrize("tables", ["always", "never"])
def test_after_two_growls_a_listener_is_believed_by_bayes_rule(belief: str, tables: str) -> None:
    one = planner(make_model("tiger-2a"), belief, ("listener",), tables=tables, branches=100)
    follow(one, SILENT, heard("left", "silence"), heard("left", "silence"))
    assert sides(one)["left"] == pytest.approx(0.85**2 / (0.85**2 + 0.15**2))


@pytest.mark.parametrize("belief", ["exact", "adapted"])
def test_what_is_heard_of_the_other_tells_its_type(belief: str) -> None:
    one = planner(make_model("tiger-2a"), belief, ("listener", "opener"))
    follow(one, SILENT, heard("left", "silence"))
    # A listener is silent and heard so with 0.9; of an opener, silence is one of two equally likely errors of 0.1.
    posterior = one.belief.cloud.figures(one.scope)
    assert posterior["type listener"] == pytest.approx(0.9 / (0.9 + 0.05))
    assert posterior["type listener"] + posterior["type opener"] == pytest.approx(1.0)


def test_draws_come_near_the_exact_belief(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(AdaptedBelief, "_gone_through", AdaptedBelief._drawn)  # as where chance has too many ways
    seen = [SILENT, heard("left", "silence"), heard("left", "right"), heard("right", "silence")]
    exact = planner(make_model("tiger-2a"), "exact", ("listener", "any"))
    drawn = planner(make_model("tiger-2a"), "adapted", ("listener", "any"), particles=2000, tries=20)
    follow(exact, *seen)
    follow(drawn, *seen)
    assert drawn.belief.cloud.tries > 2000
    assert sides(drawn)["left"] == pytest.approx(sides(exact)["left"], abs=0.05)
    truth, found = exact.belief.cloud.posterior(2), drawn.belief.cloud.posterior(2)
    assert found == pytest.approx(truth, abs=0.05)


def contradicting(one: PosgPlanner, action: str, told: Json) -> int:
    """Counts particles in whose state, after `action`, the ego could not have been told that, whatever others did."""
    steps, wrong = one.scope.steps, 0
    for particle in one.belief.cloud.particles:
        state = steps.state(particle.place)
        shown = set()
        for other in ("send", "wait"):
            for seed in range(40):
                choose = drawing(random.Random(seed))
                shown.add(steps.model.observe(state, (action, other), choose)[0])
        wrong += told not in shown
    return wrong


@pytest.mark.parametrize("tables", ["always", "never"])
def test_adapted_particles_explain_what_was_seen_where_rejected_ones_need_not(tables: str) -> None:
    model = SureChannel()
    types = {"sender": [FromFunction(lambda history, legal, agent: [0.02, 0.98])] * 2}
    found = {}
    for belief in ("adapted", "rejection"):
        config = PosgPlannerConfig(types=("sender",), belief=belief, tables=tables, particles=60, tries=1)  # type: ignore[arg-type]
        one = make(model, 0, config, types)
        one.follow([Told("clear", True, "send"), Told("collision", True, None)], random.Random(3))
        cloud = one.belief.cloud
        found[belief] = contradicting(one, "send", "collision"), cloud.contradicting, len(cloud.particles)
        senders = [particle.minds[0].memory[1] for particle in cloud.particles]
        fits = sum(history[0][1] == "send" for history in senders)
        assert fits == len(cloud.particles) - cloud.contradicting
    assert found["adapted"][1] == 0
    assert found["adapted"][2] >= 1
    assert found["rejection"][1] > 40


def test_a_step_that_no_type_explains_counts_as_one_of_others_at_random_and_is_told() -> None:
    model = SureChannel()
    types = {"never": [FromFunction(lambda history, legal, agent: [0.0, 1.0])] * 2}
    one = make(model, 0, PosgPlannerConfig(types=("never",), simulations=20), types)
    decision = one.choose(Position(0, (("clear", "send"), ("collision", None))), random.Random(0))
    assert decision.fallback is None
    assert decision.action in ("send", "wait")
    assert decision.belief["softened"] == 1.0
    (said,) = decision.errors
    assert said.startswith("PosgError: no type gives probability to what was done before step 1")


def test_what_no_particle_explains_ends_in_a_random_move_and_one_sentence() -> None:
    one = planner(make_model("mabc"), "adapted", ())
    history = (("clear", "send"), ("thunder", None))
    decision = one.choose(Position(0, history), random.Random(0), ("wait",))  # type: ignore[arg-type]
    assert decision.action == "wait"
    assert decision.fallback == (
        "none of 1 particles explains that agent 0 was told 'thunder', whatever the others did. A random action is "
        "played."
    )


def test_a_first_observation_that_no_start_shows_is_said() -> None:
    one = planner(make_model("mabc"), "rejection", ())
    decision = one.choose(Position(0, (("thunder", None),)), random.Random(0))  # type: ignore[arg-type]
    assert decision.fallback is not None
    assert decision.fallback.startswith("no start of mabc, of 10,000 that were drawn, shows agent 0 'thunder'")


def test_a_game_in_turns_is_read_with_what_was_missed() -> None:
    one = planner(make_model("tiger-2a"), "exact", ("listener",))
    shown = [SILENT, heard("left", "silence"), heard("left", "silence")]
    history = [({"agent": 0, "step": step, "seen": seen}, "listen") for step, seen in enumerate(shown)]
    one.choose(Position(0, (*history[:-1], (history[-1][0], None))), random.Random(0))
    assert sides(one)["left"] == pytest.approx(0.85**2 / (0.85**2 + 0.15**2))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("game_id", "settings"),
    [("uav", {"tables": "never"}), ("uav", {"particles": 40}), ("driving", {})],
)
def test_marginals_are_near_the_exact_ones_along_a_game(game_id: str, settings: dict[str, Json]) -> None:
    model = make_model(game_id)
    known = driving_policies(model) if isinstance(model, Driving) else {"uniform": Uniform()}
    names = [name for name in known if name in ("uniform", "A0", "A40", "A100")]
    policies, other = {name: [known[name]] * 2 for name in names}, known[names[0]]
    adapted, exact = (
        make(model, 0, PosgPlannerConfig.from_json({"types": names, **more}), policies)
        for more in ({"belief": "adapted", "particles": 2000, **settings}, {"belief": "exact"})
    )
    rng = random.Random(1)
    choose, told = drawing(rng), list[Told]()
    state = model.initial_state(choose)
    seen = model.observe(state, None, choose)
    memory = other.update(other.start(1), None, seen[1])
    for _ in range(6):
        told.append(Told(observation_to_json(model, 0, seen[0]), acts=True, action=None))
        for one in (adapted, exact):
            one.follow(told, rng)
        assert adapted.belief.cloud.posterior(len(names)) == pytest.approx(
            exact.belief.cloud.posterior(len(names)), abs=0.05
        )
        found, truth = sides(adapted), sides(exact)
        assert all(found[place] == pytest.approx(truth[place], abs=0.05) for place in {*found, *truth})
        legal = model.legal_actions(state, 1)
        acts = rng.choices(legal, other.probabilities(memory, legal))[0]
        joint = (rng.choice(model.legal_actions(state, 0)), acts)
        told[-1] = told[-1]._replace(action=joint[0])
        state = model.move(state, joint, choose)[0]
        seen = model.observe(state, joint, choose)
        memory = other.update(memory, acts, seen[1])
