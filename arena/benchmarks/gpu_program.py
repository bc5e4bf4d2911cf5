"""`cwm benchmark gpu-program`: what training asks of a GPU, read from its program, compiled for one without having one.

XLA's compiler for CUDA, which comes with the extra `gpu`, is told which device to compile for. What it makes is what
would run there, but for choices that it makes by trying kernels out. Counted are kernels, since launching one takes
a few microseconds and most of a recurrent policy's are small, and memory. Times are not to be had this way.
"""

import re
import time
from collections.abc import Iterator
from typing import Any, Final

import jax
from jax.experimental import topologies
from jax.sharding import SingleDeviceSharding

from arena.benchmarks.measurement import Measurement
from arena.benchmarks.training_speed import ACCELERATOR_SETTINGS, TrainingSetting
from arena.training.training_run import trainer_of
from arena.usage import UsageError
from games.extras import install

DEVICE: Final = """
gpu_device_info {
  threads_per_block_limit: 1024  threads_per_warp: 32  threads_per_core_limit: 2048
  shared_memory_per_block: 49152  shared_memory_per_block_optin: 232448  shared_memory_per_core: 233472
  core_count: 132  fpus_per_core: 128  block_dim_limit_x: 2147483647  block_dim_limit_y: 65535  block_dim_limit_z: 65535
  memory_bandwidth: 4800000000000  l2_cache_size: 52428800  clock_rate_ghz: 1.98  device_memory_size: 150000000000
  cuda_compute_capability { major: 9 }  registers_per_core_limit: 65536  registers_per_block_limit: 65536
}
platform_name: "CUDA"  device_description_str: "NVIDIA H200"
dnn_version_info { major: 9 minor: 10 }  runtime_version { major: 12 minor: 9 }
"""
"""An H200, as XLA describes devices."""
OPTIONS: Final = {"xla_gpu_autotune_level": 0}
"""Nothing can be tried out on a device that is not there."""

COMPUTATION: Final = re.compile(r"^(ENTRY )?%?([\w.\-]+) \(.*?\{\n(.*?)^\}", re.DOTALL | re.MULTILINE)
INSTRUCTION: Final = re.compile(
    r"^ +(?:ROOT )?%[\w.\-]+ = (?:\((?:[^()]|\([^()]*\))*\)|\S+) ([\w\-]+)\(.*$", re.MULTILINE
)
BODY: Final = re.compile(r"\bbody=%?([\w.\-]+)")
TURNS: Final = re.compile(r'"known_trip_count":\{"n":"(\d+)"')
CALLED: Final = re.compile(r"\bto_apply=%?([\w.\-]+)")
FREE: Final = {"parameter", "constant", "tuple", "get-tuple-element", "bitcast", "after-all", "while", "call"}
"""Instructions that launch nothing themselves."""


def run() -> Iterator[Measurement]:
    """Yields the figures of every setting.

    Raises:
        UsageError: JAX has no compiler for CUDA here.
    """
    # The compiler alone is wanted: where JAX may look for a device, it gives up without one.
    jax.config.update("jax_platforms", "cpu")  # type: ignore[no-untyped-call]
    device = absent_device()
    for setting in ACCELERATOR_SETTINGS:
        if setting.scale == "paper":
            yield from _figures(setting, device)


def absent_device() -> Any:
    """Returns the device that programs are compiled for.

    Raises:
        UsageError: JAX has no compiler for CUDA here.
    """
    try:
        return topologies.get_topology_desc(platform="cuda", target_config=DEVICE, topology="1x1x1").devices[0]
    except NotImplementedError as error:
        raise UsageError(f"JAX's compiler for CUDA is not installed; run: {install('gpu,learn')}.") from error
    except RuntimeError as error:
        raise UsageError(f"JAX's compiler for CUDA refuses to compile for an H200: {error}") from error


def _figures(setting: TrainingSetting, device: Any) -> Iterator[Measurement]:
    made = setting.recipe()
    trainer = trainer_of(made)

    def placed(leaf: Any) -> Any:
        return jax.ShapeDtypeStruct(leaf.shape, leaf.dtype, sharding=SingleDeviceSharding(device))  # type: ignore[no-untyped-call]

    state = jax.tree.map(placed, jax.eval_shape(lambda: trainer.init([0])))
    begin = time.perf_counter()
    program = trainer.lowered(state, 1).compile(OPTIONS)
    seconds = time.perf_counter() - begin
    memory = program.memory_analysis()
    name = f"gpu-program/{setting.title}/{made.ppo.environments}"
    note = f"an update of {made.ppo.steps_per_update:,} steps; loops that end when they may count for one turn"
    yield Measurement(f"{name}/kernels", launches(program.as_text()), "kernels", note=note)
    taken = memory.temp_size_in_bytes + memory.argument_size_in_bytes
    yield Measurement(f"{name}/memory", taken / 2**30, "GiB", note="on the device, state and all that is between")
    yield Measurement(f"{name}/compiling", seconds, "s", note="on this machine's processor")


def launches(program: str) -> int:
    """Returns how many kernels a compiled program launches, each as often as the loops around it turn.

    Args:
        program: optimised HLO as text. What lies in the branches of a `conditional` is not counted: ours have none.
    """
    computations = COMPUTATION.findall(program)
    bodies = {name: body for _, name, body in computations}
    entry = next(name for is_entry, name, _ in computations if is_entry)

    def count(name: str) -> int:
        total = 0
        for found in INSTRUCTION.finditer(bodies[name]):
            kind, line = found[1], found[0]
            total += kind not in FREE
            if kind == "while":
                turns = TURNS.search(line)
                inner = BODY.search(line)
                total += (int(turns[1]) if turns else 1) * (count(inner[1]) if inner else 0)
            elif kind == "call" and (inner := CALLED.search(line)):
                total += count(inner[1])
        return total

    return count(entry)
