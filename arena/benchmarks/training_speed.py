"""`cwm benchmark training`: environment steps a second of PPO, updates included, beside the machine's roof.

The roof is what the same arithmetic would take if it ran at the speed of one large matrix product in the same number
format. The arithmetic of a step is that of all matrix products and convolutions in the network once as it plays, and in
the loss with its gradient in every epoch, before anything is optimised. Play and update are also timed alone, which
says what bounds the training.
"""

import math
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import jaxprs_in_params

from arena.benchmarks.measurement import Measurement, interleaved
from arena.training.environments import training_env
from arena.training.recipes import Recipe, adapted, recipe
from arena.training.training_run import trainer_of
from games.batched.api import BatchedEnv
from games.batched.wrappers import DEALT_AT_ONCE, Episodes
from search.learn.api import Array, Params
from search.learn.networks.actor_critic import ActorCritic
from search.learn.ppo import ppo, rollout
from search.learn.ppo.config import PpoConfig
from search.learn.ppo.ppo import Learner
from search.learn.ppo.rollout import Batch, Progress, Runner
from search.learn.ppo.training import Trainer, TrainingState

PAIRS: Final = 3
EXHAUSTED: Final = "RESOURCE_EXHAUSTED"
"""What JAX says where memory is short."""
SEEDS: Final = 3
"""Policies that are trained side by side, as the shipped ones were."""
Computed = TypeVar("Computed")


class TrainingSetting(NamedTuple):
    """What is timed.

    Attributes:
        game: registry id.
        scale: of the recipe.
        bfloat16: compute in bfloat16.
        pointing: see `recipes.adapted`.
    """

    game: str
    scale: str
    bfloat16: bool = False
    pointing: bool = False

    @property
    def title(self) -> str:
        parts = [self.game.removeprefix("yokai-"), self.scale]
        return "/".join([*parts, *(["pointing"] if self.pointing else []), *(["bfloat16"] if self.bfloat16 else [])])

    def recipe(self, games: int | None = None) -> Recipe:
        """Returns the recipe of self-play, with so many games at once; None: as many as it has."""
        return adapted(
            recipe(self.game, "sp", self.scale),
            {"bfloat16": True} if self.bfloat16 else {},
            {} if games is None else {"environments": games},
            self.pointing,
        )


CPU_SETTINGS: Final = (TrainingSetting("yokai-8c-2p", "reduced"), TrainingSetting("yokai-9c-2p", "reduced"))
ACCELERATOR_SETTINGS: Final = (
    TrainingSetting("yokai-9c-2p", "paper"),
    TrainingSetting("yokai-9c-2p", "paper", bfloat16=True),
    TrainingSetting("yokai-9c-2p", "paper", pointing=True),
    *CPU_SETTINGS,
)
CPU_SIDE: Final = 2048
ACCELERATOR_SIDE: Final = 8192
"""Of the matrices whose product sets the roof."""


@dataclass(frozen=True)
class Timed:
    """A training that is ready to be timed.

    Attributes:
        config: its settings.
        env: the game.
        network: the learner's.
        trainer: the whole loop.
        collect: play alone, compiled.
        update: an update alone, compiled.
    """

    config: PpoConfig
    env: BatchedEnv[Any]
    network: ActorCritic
    trainer: Trainer
    collect: Callable[[Any, Runner], tuple[Runner, Batch, Episodes]]
    update: Callable[[Learner, Batch, Array], Any]


def run(games: int | None = None) -> Iterator[Measurement]:
    """Yields every figure, on the device that JAX chooses.

    Args:
        games: at once; None: as many as the recipe has.
    """
    device = jax.default_backend()
    roofs: dict[bool, float] = {}
    settings, side = (CPU_SETTINGS, CPU_SIDE) if device == "cpu" else (ACCELERATOR_SETTINGS, ACCELERATOR_SIDE)
    for setting in settings:
        if setting.bfloat16 not in roofs:
            roofs[setting.bfloat16] = matrix_product(side, setting.bfloat16)
            kind = "bfloat16" if setting.bfloat16 else "float32"
            name = f"training/roof/{device}/{kind}"
            yield Measurement(name, roofs[setting.bfloat16] / 1e9, "GFLOP/s", note="one large matrix product")
        yield from _records(setting, device, games, roofs[setting.bfloat16])


def matrix_product(side: int, bfloat16: bool) -> float:
    """Returns floating-point operations a second of a product of square matrices, the best of some."""
    kind = jnp.bfloat16 if bfloat16 else jnp.float32
    one = jax.random.normal(jax.random.key(0), (side, side)).astype(kind)
    product = jax.jit(lambda left, right: left @ right)
    _done(product(one, one))
    return 2 * side**3 / min(_seconds(lambda: product(one, one)) for _ in range(1 + PAIRS))


def timed(made: Recipe) -> Timed:
    """Returns a training with its parts."""
    env = training_env(made)
    network = ActorCritic(made.network, env.num_actions)
    collector = rollout.collector(lambda _: env, network, made.ppo, DEALT_AT_ONCE, one_decides=True)
    entropy = jnp.asarray(made.ppo.entropy)
    return Timed(
        made.ppo,
        env,
        network,
        trainer_of(made),
        jax.jit(lambda params, runner: collector(params, runner, (), Progress(jnp.ones(())))),
        jax.jit(lambda learner, batch, key: ppo.update(learner, network, batch, made.ppo, entropy, key)),
    )


def operations(training: Timed, learner: Learner, batch: Batch) -> float:
    """Returns the floating-point operations of an environment step: one look of every player, and the epochs' losses.

    They are counted in programs of a single step.
    """
    first = jax.tree.map(lambda leaf: leaf[:1], batch._replace(memory=()))._replace(memory=batch.memory)
    config, network = training.config, training.network

    def look(params: Params) -> Any:
        return network.apply(params, first.memory, first.observation, first.starts)

    def loss(params: Params) -> Array:
        return ppo.loss(params, network, first, first.advantage, config, jnp.asarray(config.entropy))[0]

    once, again = (products(jax.make_jaxpr(program)(learner.params).jaxpr) for program in (look, jax.grad(loss)))
    return (once + config.epochs * again) / config.environments


def products(jaxpr: Any) -> int:
    """Returns the floating-point operations of a program's matrix products and convolutions, two a multiplication."""
    total = 0
    for equation in jaxpr.eqns:
        kind, told = equation.primitive.name, equation.params
        if kind == "dot_general":
            (summed, _), _ = told["dimension_numbers"]
            total += (
                2 * equation.outvars[0].aval.size * math.prod(equation.invars[0].aval.shape[axis] for axis in summed)
            )
        elif kind == "conv_general_dilated":
            total += _convolution(equation)
        total += told.get("length", 1) * sum(products(inner) for inner in jaxprs_in_params(told))
    return total


def _convolution(equation: Any) -> int:
    """Returns the operations of a convolution, without multiplications by the zeros around and between its inputs."""
    told = equation.params
    numbers, (image, kernel), made = told["dimension_numbers"], equation.invars, equation.outvars[0].aval
    total: int = 2 * made.size * kernel.aval.shape[numbers.rhs_spec[1]]
    axes = zip(numbers.lhs_spec[2:], numbers.rhs_spec[2:], numbers.out_spec[2:], strict=True)
    for index, (across, tap, out) in enumerate(axes):
        stride, (before, _) = told["window_strides"][index], told["padding"][index]
        between, spread = told["lhs_dilation"][index], told["rhs_dilation"][index]
        last = (image.aval.shape[across] - 1) * between
        at = np.arange(made.shape[out])[:, None] * stride + np.arange(kernel.aval.shape[tap]) * spread - before
        total = total // made.shape[out] * int(((at >= 0) & (at <= last) & (at % between == 0)).sum())
    return total


def _done(computed: Computed) -> Computed:
    """Waits until arrays are there."""
    return jax.block_until_ready(computed)  # type: ignore[no-any-return, no-untyped-call]


def _records(setting: TrainingSetting, device: str, games: int | None, roof: float) -> Iterator[Measurement]:
    training = timed(setting.recipe(games))
    config = training.config
    name = f"training/{setting.title}/{device}/{config.environments}"
    pace = Pace(training)
    begin = time.perf_counter()
    pace.rate(1)
    note = "until the first update is done: starting, compiling, learning"
    yield Measurement(f"{name}/first", time.perf_counter() - begin, "s", note=note)
    learner, runner = (jax.tree.map(lambda leaf: leaf[0], part) for part in pace.states[1][:2])
    _, batch, _ = _done(training.collect(learner.params, runner))
    each = operations(training, learner, batch)
    yield Measurement(f"{name}/arithmetic", each / 1e6, "MFLOP a step", note="matrix products and convolutions")
    yield from _parts(name, training, learner, runner, batch)
    del learner, runner, batch
    alone = statistics.median(pace.rate(1) for _ in range(PAIRS))
    note = f"{config.environments} games, {config.steps} steps an update; beside it the roof"
    yield Measurement(f"{name}/steps", alone, "steps/s", roof / each, alone * each / roof, note)
    yield _side_by_side(f"{name}/seeds", pace)


class Pace:
    """How fast several policies are trained side by side, update by update.

    Attributes:
        states: of the training, by the number of policies.
    """

    def __init__(self, training: Timed) -> None:
        self._training = training
        self.states: dict[int, TrainingState] = {}

    def rate(self, count: int) -> float:
        """Trains policies for one update and returns environment steps a second, added up over them."""
        trainer = self._training.trainer
        state = self.states.pop(count, None) or trainer.init(list(range(count)))
        begin = time.perf_counter()
        self.states[count], _ = _done(trainer.run(state, 1))
        return count * self._training.config.steps_per_update / (time.perf_counter() - begin)


def _side_by_side(name: str, pace: Pace) -> Measurement:
    """Returns the pace of several policies beside that of one."""
    note = f"{SEEDS} policies side by side, their steps added up, beside one"
    try:
        pace.rate(SEEDS)
        return interleaved(name, "steps/s", lambda: pace.rate(SEEDS), lambda: pace.rate(1), PAIRS, note)
    except jax.errors.JaxRuntimeError as error:
        if EXHAUSTED not in str(error):
            raise
        return Measurement(name, None, "steps/s", note=f"{SEEDS} policies do not fit into the device's memory")


def _parts(name: str, training: Timed, learner: Learner, runner: Runner, batch: Batch) -> Iterator[Measurement]:
    """Yields how long play and update take alone, as a share of both together."""
    key = jax.random.key(0)
    _done(training.update(learner, batch, key))
    both = [
        (
            _seconds(lambda: training.collect(learner.params, runner)),
            _seconds(lambda: training.update(learner, batch, key)),
        )
        for _ in range(PAIRS)
    ]
    play, update = (min(column) for column in zip(*both, strict=True))
    steps = training.config.steps_per_update
    for part, seconds in (("play", play), ("update", update)):
        share = seconds / (play + update)
        yield Measurement(f"{name}/{part}", steps / seconds, "steps/s", note=f"alone; {share:.0%} of the time")


def _seconds(work: Callable[[], Any]) -> float:
    begin = time.perf_counter()
    _done(work())
    return time.perf_counter() - begin
