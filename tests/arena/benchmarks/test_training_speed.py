import jax
import pytest
from jax.extend.core import jaxprs_in_params

from arena.baselines.recipes import adapted, recipe
from arena.benchmarks import training_speed
from arena.benchmarks.training_speed import Setting
from search.learn import rollout
from search.learn.ppo import Learner

GAMES = 4
GAME = "yokai-8c-2p"


def products(jaxpr):
    """Returns the floating-point operations of all matrix products of a program whose loops run once."""
    total = 0
    for equation in jaxpr.eqns:
        if equation.primitive.name == "dot_general":
            ((left, _), _), shape = equation.params["dimension_numbers"], equation.invars[0].aval.shape
            summed = 1
            for axis in left:
                summed *= shape[axis]
            total += 2 * summed * equation.outvars[0].aval.size
        total += sum(products(inner) for inner in jaxprs_in_params(equation.params))
    return total


def test_the_arithmetic_of_a_step_is_that_of_its_matrix_products(monkeypatch):
    made = adapted(
        recipe(GAME, "sp", "reduced"),
        {"encoder": "mlp", "filters": 8, "layers": 1, "hidden": 64},
        {"environments": GAMES, "steps": 4, "minibatches": 2, "epochs": 3},
    )
    training = training_speed.timed(made)
    params, batch = played(training)
    learner = Learner(params, ())
    counted = training_speed.operations(training, learner, batch)
    monkeypatch.setattr(
        training_speed, "_counted", lambda program, params: products(jax.make_jaxpr(program)(params).jaxpr)
    )
    by_hand = training_speed.operations(training, learner, batch)
    assert by_hand > 0
    assert counted == pytest.approx(by_hand, rel=0.1)


def played(training):
    """Returns fresh parameters and what they played."""
    runner = rollout.begin(training.env, training.network, GAMES, jax.random.key(0))
    seen = jax.tree.map(lambda leaf: leaf[None], rollout.observe(training.env, runner.games))
    params = training.network.init(jax.random.key(1), seen)
    return params, training.collect(params, runner)[1]


@pytest.mark.slow
def test_every_figure_is_there_and_the_parts_take_all_of_the_time(monkeypatch):
    monkeypatch.setattr(training_speed, "CPU_SETTINGS", (Setting(GAME, "reduced"),))
    monkeypatch.setattr(training_speed, "CPU_SIDE", 64)
    found = {item.name: item for item in training_speed.run(games=16)}
    roof = found.pop("training/roof/cpu/float32").value * 1e9
    name = "training/8c-2p/reduced/cpu/16"
    assert set(found) == {f"{name}/{part}" for part in ("first", "steps", "seeds", "arithmetic", "play", "update")}
    steps, each = found[f"{name}/steps"], found[f"{name}/arithmetic"].value * 1e6
    assert steps.baseline == pytest.approx(roof / each)
    assert steps.ratio == pytest.approx(steps.value / steps.baseline)
    assert found[f"{name}/seeds"].baseline == steps.value
    shares = [int(found[f"{name}/{part}"].note.split()[1].rstrip("%")) for part in ("play", "update")]
    assert sum(shares) in (99, 100, 101)
