import jax
import numpy as np
import pytest

from arena.benchmarks import training_speed
from arena.benchmarks.training_speed import TrainingSetting
from arena.training.recipes import adapted, recipe
from search.learn.ppo import rollout
from search.learn.ppo.ppo import Learner

GAMES = 4
GAME = "yokai-8c-2p"


@pytest.mark.parametrize("changed", [{"encoder": "mlp", "filters": 8, "layers": 1, "hidden": 64}, {"encoder": "cnn"}])
def test_the_arithmetic_of_a_step_is_nearly_what_the_compiler_counts(changed):
    made = adapted(
        recipe(GAME, "sp", "reduced"), changed, {"environments": GAMES, "steps": 4, "minibatches": 2, "epochs": 3}
    )
    training = training_speed.timed(made)
    params, batch = played(training)
    first = jax.tree.map(lambda leaf: leaf[:1], batch._replace(memory=()))._replace(memory=batch.memory)

    def look(params):
        return training.network.apply(params, first.memory, first.observation, first.starts)

    def slope(params):
        return jax.grad(lambda own: look(own)[1].logits.sum())(params)

    counted, again = (training_speed.products(jax.make_jaxpr(program)(params).jaxpr) for program in (look, slope))
    assert counted == pytest.approx(jax.jit(look).lower(params).cost_analysis()["flops"], rel=0.1)
    assert again == pytest.approx(jax.jit(slope).lower(params).cost_analysis()["flops"], rel=0.1)
    # A gradient costs about twice what it is taken of; of one player of two, who decides, the actor learns.
    each = training_speed.operations(training, Learner(params, ()), batch) * GAMES
    assert 1 + 3 * 1.5 < each / counted < 1 + 3 * 3.1


def test_products_are_counted_once_a_run_of_a_loop():
    def looped(matrix):
        return jax.lax.scan(lambda carry, _: (carry @ matrix, None), matrix, None, 5)[0]

    counted = training_speed.products(jax.make_jaxpr(looped)(np.ones((3, 3))).jaxpr)
    assert counted == 5 * 2 * 3**3


def played(training):
    """Returns parameters and a batch that are all zeros: what is counted depends on their shapes alone."""

    def play(key):
        runner = rollout.begin(training.env, training.network, GAMES, key)
        seen = jax.tree.map(lambda leaf: leaf[None], rollout.observe(training.env, runner.games))
        params = training.network.init(key, seen)
        return params, training.collect(params, runner)[1]

    return jax.tree.map(lambda leaf: np.zeros(leaf.shape, leaf.dtype), jax.eval_shape(play, jax.random.key(0)))


class Short:
    """A pace for which memory is short where several policies are trained."""

    def __init__(self, message):
        self.message = message

    def rate(self, count):
        raise jax.errors.JaxRuntimeError(self.message)


def test_policies_that_do_not_fit_into_memory_are_said_not_to():
    found = training_speed._side_by_side("seeds", Short("RESOURCE_EXHAUSTED: Out of memory"))
    assert (found.value, found.note) == (None, "3 policies do not fit into the device's memory")
    with pytest.raises(jax.errors.JaxRuntimeError, match="INTERNAL"):
        training_speed._side_by_side("seeds", Short("INTERNAL: broken"))


@pytest.mark.slow
def test_every_figure_is_there_and_the_parts_take_all_of_the_time(monkeypatch):
    monkeypatch.setattr(training_speed, "CPU_SETTINGS", (TrainingSetting(GAME, "reduced"),))
    monkeypatch.setattr(training_speed, "CPU_SIDE", 64)
    found = {item.name: item for item in training_speed.run(games=16)}
    roof = found.pop("training/roof/cpu/float32").value * 1e9
    name = "training/8c-2p/reduced/cpu/16"
    assert set(found) == {f"{name}/{part}" for part in ("first", "steps", "seeds", "arithmetic", "play", "update")}
    steps, each = found[f"{name}/steps"], found[f"{name}/arithmetic"].value * 1e6
    assert steps.baseline == pytest.approx(roof / each)
    assert steps.ratio == pytest.approx(steps.value / steps.baseline)
    assert found[f"{name}/seeds"].ratio > 0
    shares = [int(found[f"{name}/{part}"].note.split()[1].rstrip("%")) for part in ("play", "update")]
    assert sum(shares) in (99, 100, 101)
