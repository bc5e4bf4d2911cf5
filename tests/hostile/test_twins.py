"""Twins that mean harm: nothing of them leaves their worker but text, and of that only what is allowed is read."""

import json
import os
import re
import subprocess
import sys
import time
from glob import glob
from pathlib import Path

import pytest

from cwm.observations.vectors import infer
from cwm.sandbox.parent import attacks
from cwm.sandbox.parent.host import Sandbox
from cwm.sandbox.wire.api import Limits, ProgramSource, SandboxUnavailableError
from cwm.twins.compiled import CompiledTwin
from cwm.twins.proof import ProofConfig, ProofTask, prove
from cwm.twins.text.language import TwinTextError
from cwm.twins.text.reader import read
from cwm.twins.traced import LIBRARIES, LIMITS, MODULE, TwinProblemError, TwinWorker, sandbox

pytestmark = pytest.mark.extra("batched")
FOLDER = Path(__file__).with_name("twins")
PROGRAMS = sorted(path for path in FOLDER.glob("*.py") if not path.name.startswith("_"))
BASE = (FOLDER / "_base.py").read_text()
SWITCH = ProgramSource(
    (FOLDER / "_program.py").read_text(),
    {"on": 0},
    {
        "id": "switch",
        "num_players": 1,
        "utility": "identical",
        "min_utility": 0.0,
        "max_utility": 0.0,
        "perfect_information": True,
        "has_chance": False,
        "player_names": ["one"],
    },
)
QUICK = ("forged__custom_call",)
"""The others take a second or two each, too."""


def test_every_family_is_there():
    families = {path.name.split("__")[0] for path in PROGRAMS}
    assert families == {"acts", "callback", "custom_call", "forged", "layout", "loop", "memory", "proof", "size"}
    assert len(PROGRAMS) >= 20


@pytest.mark.parametrize(
    "path",
    [pytest.param(path, id=path.stem, marks=() if path.stem in QUICK else pytest.mark.slow) for path in PROGRAMS],
)
def test_a_hostile_twin_is_refused_with_its_reason(path):
    text = path.read_text()
    says = next(line for line in text.splitlines() if line.startswith("# says:")).removeprefix("# says:").strip()
    place = Sandbox(Limits(memory_mb=4096, cpu_s=60, wall_s=20.0), payload=(MODULE,), libraries=LIBRARIES)
    source = f"{BASE}\n\n{text}"
    worker = TwinWorker(source, SWITCH, place, seconds=20.0)
    with worker, pytest.raises(TwinProblemError) as told:
        taken_in(worker, source)
    assert says in str(told.value)


def taken_in(worker, source):
    traced = worker.traced(1)
    CompiledTwin(traced, lanes=2).close()
    vectors = infer([{"on": 0}, {"on": 1}])
    found = prove(ProofTask(SWITCH, source, traced, vectors.to_json()), ProofConfig(transitions=30))
    if not found.proved:
        raise TwinProblemError(found.in_words)


@pytest.mark.slow
def test_the_right_twin_that_hostile_ones_change_is_accepted():
    with TwinWorker(BASE, SWITCH, sandbox(None)) as worker:
        traced = worker.traced(1)
        with CompiledTwin(traced, lanes=2) as twin:
            assert twin.look(twin.init())["player"].tolist() == [0]
        taken_in(worker, BASE)


@pytest.mark.slow
def test_every_attack_of_the_doctor_fails_in_a_worker_with_jax_in_it():
    level = sandbox(None).level
    found = list(attacks.attempt(level, limits=LIMITS, modules=(MODULE,), libraries=LIBRARIES))
    # The memory that it asks for is less than JAX is given: `memory__traced` asks for more.
    assert [(one.attack.name, one.detail) for one in found if not one.held and one.attack.name != "memory"] == []
    too_early = ("ImportError", "ModuleNotFoundError", "NameError", "AttributeError")
    assert [one.attack.name for one in found if one.detail.startswith(too_early)] == []


def is_own_worker(stat):
    parent = stat.read_text().rpartition(")")[2].split()[1]
    return int(parent) == os.getpid() and b"worker.py\0worker\0" in stat.with_name("cmdline").read_bytes()


@pytest.mark.slow
def test_no_thread_of_a_twins_worker_keeps_privileges_or_more_system_calls_than_the_first():
    with sandbox("strong").start(SWITCH):
        (process,) = (Path(place).parent for place in glob("/proc/[0-9]*/stat") if is_own_worker(Path(place)))
        threads = threads_of(process)
    assert len(threads) > 1
    assert locks(threads) == LOCKED


def threads_of(process):
    told = [status.read_text() for status in process.glob("task/*/status")]
    return [dict(re.findall(r"^(\w+):\s*(\S+)", text, re.MULTILINE)) for text in told]


LOCKED = {("0" * 16, "0" * 16, "1", "2")}


def locks(threads):
    return {(thread["CapEff"], thread["CapPrm"], thread["NoNewPrivs"], thread["Seccomp"]) for thread in threads}


@pytest.fixture(scope="module")
def switch():
    with TwinWorker(BASE, SWITCH, sandbox(None)) as worker:
        return worker.traced(1)


@pytest.mark.slow
def test_compiling_has_limits_of_time_and_memory(switch):
    with pytest.raises(TwinProblemError, match=r"more than 0\.02 seconds"):
        CompiledTwin(switch, lanes=2, compile_s=0.02)
    with pytest.raises(SandboxUnavailableError, match="does not start"):
        CompiledTwin(switch, lanes=2, memory_mb=64)


@pytest.mark.slow
def test_the_process_that_compiles_twins_is_shut_in_with_all_its_threads_and_ends_with_its_parent(switch, tmp_path):
    with CompiledTwin(switch, lanes=2, memory_mb=5000) as twin:
        process = Path(f"/proc/{twin.process_id}")
        threads = threads_of(process)
        assert len(threads) > 1
        assert locks(threads) == LOCKED
        assert re.search(rf"Max address space +{5000 << 20} ", (process / "limits").read_text())
    given = tmp_path / "twin.json"
    given.write_text(json.dumps([switch.form.to_json(), switch.texts]))
    command = [sys.executable, "-c", PARENT, str(given)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=FOLDER.parents[2]) as parent:
        child = int(parent.stdout.readline())
        parent.kill()
    wait_until(lambda: not Path(f"/proc/{child}/cmdline").exists() or not Path(f"/proc/{child}/cmdline").read_bytes())


PARENT = """
import json, sys, time
from cwm.twins.compiled import CompiledTwin
from cwm.twins.form import TwinForm
from cwm.twins.traced import TracedTwin

form, texts = json.load(open(sys.argv[1]))
twin = CompiledTwin(TracedTwin(TwinForm.from_json(form), texts), lanes=2)
print(twin.process_id, flush=True)
time.sleep(100)
"""


def wait_until(true):
    for _ in range(200):
        if true():
            return
        time.sleep(0.05)
    raise AssertionError("it did not happen")


MODULE_TEXT = """"builtin.module"() <{{sym_name = "m"}}> ({{
  "func.func"() <{{function_type = (tensor<4xi32>) -> tensor<4xi32>, sym_name = "main"}}> ({{
  ^bb0(%arg0: tensor<4xi32>):
    {line}
    "func.return"(%0) : (tensor<4xi32>) -> ()
  }}) : () -> ()
}}) : () -> ()
"""


def test_a_plain_text_is_read():
    line = '%0 = "stablehlo.add"(%arg0, %arg0) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>'
    assert [operation.name for operation in read(MODULE_TEXT.format(line=line)).main.operations] == [
        "stablehlo.add",
        "func.return",
    ]


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (
            '%0 = "stablehlo.custom_call"(%arg0) : (tensor<4xi32>) -> tensor<4xi32>',
            "'stablehlo.custom_call' is not allowed",
        ),
        ('%0 = "stablehlo.infeed"(%arg0) : (tensor<4xi32>) -> tensor<4xi32>', "'stablehlo.infeed' is not allowed"),
        ('%0 = "stablehlo.outfeed"(%arg0) : (tensor<4xi32>) -> tensor<4xi32>', "is not allowed"),
        ('%0 = "stablehlo.rng"(%arg0) : (tensor<4xi32>) -> tensor<4xi32>', "is not allowed"),
        ('%0 = "llvm.inline_asm"(%arg0) : (tensor<4xi32>) -> tensor<4xi32>', "is not allowed"),
        ('%0 = "stablehlo.add"(%arg0) {frontend = 1} : (tensor<4xi32>) -> tensor<4xi32>', "not its own"),
        ('%0 = "stablehlo.add"(%arg0) : (tensor<4xf64>) -> tensor<4xf64>', "the type 'f64' is not allowed"),
        ('%0 = "stablehlo.add"(%arg0) : (tensor<?xi32>) -> tensor<4xi32>', "expected"),
        ('%0 = "stablehlo.iota"() <{d = 0 : i64}> : () -> tensor<999999x999999xi32>', "more than 262,144 numbers"),
        ('%0 = "stablehlo.iota"() <{d = 0 : i64}> : () -> tensor<99999999999xi32>', "too long"),
        ('%0 = "stablehlo.iota"() <{d = #mhlo.x<1>}> : () -> tensor<4xi32>', "'#mhlo.x' is not allowed"),
        ('%0 = "stablehlo.iota"() <{d = 0 : i64, d = 1 : i64}> : () -> tensor<4xi32>', "there twice"),
        ('%0 = "stablehlo.iota"() <{d = ' + "[" * 90 + "]" * 90 + "}> : () -> tensor<4xi32>", "nested too deeply"),
        ("\x00\ud800", "expected"),
    ],
)
def test_a_text_with_anything_else_is_refused(line, says):
    with pytest.raises(TwinTextError, match="not accepted") as told:
        read(MODULE_TEXT.format(line=line))
    assert says in str(told.value)


def test_every_text_that_is_cut_off_is_refused():
    whole = MODULE_TEXT.format(
        line='%0 = "stablehlo.add"(%arg0, %arg0) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>'
    ).strip()
    read(whole)
    for length in range(len(whole)):
        with pytest.raises(TwinTextError):
            read(whole[:length])
