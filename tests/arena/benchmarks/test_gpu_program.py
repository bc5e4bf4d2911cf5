import importlib.util
import subprocess
import sys

import jax
import pytest

from arena import cli
from arena.benchmarks import gpu_program
from games.extras import install

PROGRAM = """\
HloModule jit_run, is_scheduled=true, entry_computation_layout={(f32[4]{0})->f32[4]{0}}

FileNames
1 "one.py"

%fused_add (param_0: f32[4]) -> f32[4] {
  %param_0 = f32[4]{0} parameter(0)
  ROOT %add.9 = f32[4]{0} add(%param_0, %param_0)
}

%inner (tuple.1: (s32[], f32[4])) -> (s32[], f32[4]) {
  %tuple.1 = (s32[], f32[4]{0}) parameter(0)
  %get-tuple-element.1 = f32[4]{0} get-tuple-element(%tuple.1), index=1
  %dot.1 = f32[4]{0} custom-call(%get-tuple-element.1), custom_call_target="__cublas$gemm"
  %fusion.1 = f32[4]{0} fusion(%dot.1), kind=kLoop, calls=%fused_add
  ROOT %tuple.2 = (s32[], f32[4]{0}) tuple(%fusion.1, %fusion.1)
}

%outer (tuple.3: (s32[], (f32[4], f32[4]))) -> (s32[], f32[4]) {
  %tuple.3 = (s32[], (f32[4]{0}, f32[4]{0}), /*index=2*/f32[4]{0}) parameter(0)
  %copy.1 = f32[4]{0} copy(%tuple.3)
  %while.1 = (s32[], (f32[4]{0}, f32[4]{0})) while(%copy.1), condition=%test, body=%inner, \
metadata={op_name="jit(run)/while"}, backend_config={"known_trip_count":{"n":"7"}}
  ROOT %while.2 = (s32[], f32[4]{0}) while(%while.1), condition=%test, body=%inner
}

%called (param.4: f32[4]) -> f32[4] {
  %param.4 = f32[4]{0} parameter(0)
  ROOT %convolution.1 = (f32[4]{0}, u8[0]{0}) custom-call(%param.4), custom_call_target="__cudnn$conv"
}

ENTRY %main.1 (arg.1: f32[4]) -> f32[4] {
  %arg.1 = f32[4]{0} parameter(0)
  %constant.1 = s32[] constant(0)
  %fusion.2 = f32[4]{0} fusion(%arg.1), kind=kInput, calls=%fused_add
  %while.3 = (s32[], f32[4]{0}) while(%fusion.2), condition=%test, body=%outer, \
backend_config={"known_trip_count":{"n":"3"}}
  ROOT %call.1 = f32[4]{0} call(%while.3), to_apply=%called
}
"""


def test_kernels_count_as_often_as_the_loops_around_them_turn():
    # A turn of the outer loop copies, and turns the inner one 7 times and once: it is not said how often the last does.
    assert gpu_program.launches(PROGRAM) == 1 + 3 * (1 + (7 + 1) * 2) + 1


def test_programs_of_xla_are_read():
    """On this machine's processor; what the loops hold there depends on the compiler."""

    def looped(turns):
        def run(matrix):
            return jax.lax.scan(lambda carry, _: (carry @ matrix, carry.sum()), matrix, None, turns)

        return gpu_program.launches(jax.jit(run).lower(jax.ShapeDtypeStruct((64, 64), "float32")).compile().as_text())

    few, many = looped(10), looped(30)
    assert many > 2 * few > 20
    assert (many - few) % 20 == 0


COMPILER = importlib.util.find_spec("jax_cuda12_plugin")


@pytest.mark.skipif(COMPILER is not None, reason="JAX's compiler for CUDA is here")
def test_without_the_compiler_it_is_said_what_to_install(capsys, monkeypatch):
    monkeypatch.setattr(jax.config, "update", lambda name, value: None)
    assert cli.run(["benchmark", "gpu-program"]) == 2
    assert capsys.readouterr().err == (
        f"error: JAX's compiler for CUDA is not installed; run: {install('gpu,learn')}.\n"
    )


@pytest.mark.slow
@pytest.mark.skipif(COMPILER is None, reason="JAX's compiler for CUDA, of the extra gpu, is not installed")
def test_programs_are_compiled_for_a_device_that_is_not_there():
    # In a process of its own, which may be told not to look for devices.
    found = subprocess.run([sys.executable, "-c", COMPILE], capture_output=True, text=True, timeout=300, check=False)
    assert found.returncode == 0, found.stderr
    few, many = map(int, found.stdout.split())
    assert many > 2 * few > 20
    assert (many - few) % 20 == 0


COMPILE = """
import jax
from jax.sharding import SingleDeviceSharding
from arena.benchmarks import gpu_program

jax.config.update("jax_platforms", "cpu")
at = SingleDeviceSharding(gpu_program.absent_device())
for turns in (10, 30):
    def run(matrix):
        return jax.lax.scan(lambda carry, _: (carry @ matrix, carry.sum()), matrix, None, turns)

    lowered = jax.jit(run).lower(jax.ShapeDtypeStruct((64, 64), "float32", sharding=at))
    print(gpu_program.launches(lowered.compile(gpu_program.OPTIONS).as_text()))
"""
