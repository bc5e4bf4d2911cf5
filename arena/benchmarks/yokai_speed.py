"""`cwm benchmark yokai`: steps a second of the batched environment, beside the paper's way to find legal moves.

A step is one call for all players of all lanes: uniformly random legal actions with `end` among them, rules, legal
moves, masks, image observations, new games where games ended. Observations and masks are carried into the next step
as an agent would read them, and everything is folded into a carried checksum, so that nothing is optimised away.
"""

import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import jax
import jax.numpy as jnp

from arena.benchmarks import yokai_paper_method
from arena.benchmarks.measurement import Measurement, interleaved
from games.batched.api import Array, BatchedEnv
from games.batched.wrappers import AutoReset
from games.batched.yokai.environment import YokaiEnv, parse_id
from games.batched.yokai.moves import legal_moves
from games.batched.yokai.state import State

GAMES: Final = ("yokai-9c-2p", "yokai-16c-2p")
CPU_LANES: Final = (1024,)
ACCELERATOR_LANES: Final = (512, 1024, 2048, 16_384, 131_072)
MEMORY_LANES: Final = 16_384
PAIRS: Final = 3
SECONDS: Final = 2.0
"""How long one timing of ours takes, about; the baseline plays `PAPER_STEPS` steps."""
PAPER_STEPS: Final = {"cpu": 1, "other": 64}
COPIED_BYTES: Final = 1 << 28

Carry = tuple[Any, Array, Array, Array]


@dataclass(frozen=True)
class Program:
    """A compiled loop of steps.

    Attributes:
        run: plays `steps` steps from a carry; returns the next carry.
        carry: where it begins.
        lanes: games at once.
        steps: steps of one call.
        compile_s: seconds that lowering and compiling took.
        compiled: for its text and its memory.
    """

    run: Callable[[Carry, Array], Carry]
    carry: Carry
    lanes: int
    steps: int
    compile_s: float
    compiled: Any

    def rate(self) -> float:
        """Runs once and returns steps a second, summed over the lanes."""
        begin = time.perf_counter()
        _wait(self.run(self.carry, jax.random.key(1)))
        return self.steps * self.lanes / (time.perf_counter() - begin)


def run(lanes: tuple[int, ...] | None = None) -> Iterator[Measurement]:
    """Yields every figure, on the device that JAX chooses.

    Args:
        lanes: games at once; None: 1,024 on a CPU, 512 to 131,072 on an accelerator.
    """
    device = jax.default_backend()
    for game_id in GAMES:
        for count in lanes or (CPU_LANES if device == "cpu" else ACCELERATOR_LANES):
            yield from _step_records(game_id, device, count)
        yield _memory_record(game_id, device)


def _name(game_id: str, what: str, device: str, lanes: int) -> str:
    return f"yokai/{game_id.removeprefix('yokai-')}/{what}/{device}/{lanes}"


def _step_records(game_id: str, device: str, lanes: int) -> Iterator[Measurement]:
    cards, players = parse_id(game_id)
    ours = YokaiEnv(cards, players)
    paper = YokaiEnv(cards, players, legal_moves=yokai_paper_method.legal_moves)
    first = program(ours, lanes, 8, device)
    steps = max(8, int(SECONDS * _settled(first) / lanes))
    fast = program(ours, lanes, steps, device)
    slow = program(paper, lanes, PAPER_STEPS["cpu" if device == "cpu" else "other"], device)
    _settled(fast)
    note = f"{lanes} games, {steps} steps a call"
    measured = interleaved(_name(game_id, "step", device, lanes), "steps/s", fast.rate, slow.rate, PAIRS, note)
    yield measured
    yield Measurement(
        _name(game_id, "paper-method", device, lanes), measured.baseline, "steps/s", note=f"{slow.steps} steps a call"
    )
    yield from _move_records(game_id, ours, device, lanes, fast.carry[0])
    yield Measurement(_name(game_id, "compile", device, lanes), fast.compile_s, "s")
    yield Measurement(_name(game_id, "kernels", device, lanes), _kernels(fast.compiled), "kernels in the program")
    yield from _roof_records(game_id, device, fast, measured.value or 0.0)


def _settled(loop: Program) -> float:
    """Runs once to warm up and returns the rate of a second run."""
    loop.rate()
    return loop.rate()


def program(env: BatchedEnv[Any], lanes: int, steps: int, device: str) -> Program:
    """Compiles a loop of `steps` steps of `lanes` games."""
    wrapped = AutoReset(env) if device == "cpu" else AutoReset(env, dealt_at_once=None)

    def step(carry: Carry, key: Array) -> tuple[Carry, None]:
        state, seen, mask, checksum = carry
        checksum = checksum + _fold(seen) + _fold(mask)
        draws, deals = jax.random.split(key)
        actions = env.sample(state, jax.random.uniform(draws, (lanes,)))
        state, paid = wrapped.step(state, actions, jax.random.split(deals, lanes))
        checksum = checksum + _fold(paid.reward) + _fold(paid.info["illegal"])
        return (state, env.observe(state), env.legal_mask(state), checksum), None

    def loop(carry: Carry, key: Array) -> Carry:
        return jax.lax.scan(step, carry, jax.random.split(key, steps))[0]

    def begin(key: Array) -> Carry:
        state = env.init(jax.random.split(key, lanes))
        return state, env.observe(state), env.legal_mask(state), jnp.zeros((), jnp.uint32)

    carry = jax.jit(begin)(jax.random.key(0))
    started = time.perf_counter()
    compiled = jax.jit(loop).lower(carry, jax.random.key(0)).compile()
    return Program(compiled, carry, lanes, steps, time.perf_counter() - started, compiled)


def _wait(tree: Any) -> None:
    for leaf in jax.tree.leaves(tree):
        leaf.block_until_ready()


def _fold(values: Array) -> Array:
    """Returns the sum of the values as 32-bit words; flags are read four at a time."""
    if values.dtype == jnp.bool_:
        packed = jnp.pad(values.reshape(-1), (0, -values.size % 4)).astype(jnp.uint8).reshape(-1, 4)
        return jax.lax.bitcast_convert_type(packed, jnp.uint32).sum(dtype=jnp.uint32)
    return jax.lax.bitcast_convert_type(values, jnp.uint32).sum(dtype=jnp.uint32)


def _move_records(game_id: str, env: YokaiEnv, device: str, lanes: int, state: State) -> Iterator[Measurement]:
    """Yields the legal moves alone: positions a second of both ways, and the baseline's arithmetic."""
    fast = jax.jit(lambda cells, locked: legal_moves(env.sizes, cells, locked))
    slow = jax.jit(lambda cells, locked: yokai_paper_method.legal_moves(env.sizes, cells, locked))

    def rate(find: Callable[..., Array], calls: int) -> float:
        begin = time.perf_counter()
        for _ in range(calls):
            _wait(find(state.cells, state.locked))
        return calls * lanes / (time.perf_counter() - begin)

    for find in (fast, slow):
        rate(find, 1)
    name = _name(game_id, "moves", device, lanes)
    measured = interleaved(name, "positions/s", lambda: rate(fast, 100), lambda: rate(slow, 1), PAIRS)
    yield measured
    gflops = (measured.baseline or 0.0) * yokai_paper_method.flops(env.sizes) / 1e9
    yield Measurement(_name(game_id, "paper-method-arithmetic", device, lanes), gflops, "GFLOP/s")


def _kernels(compiled: Any) -> int:
    """Counts the fusions, loops, sorts, scatters and library calls in a compiled program: a step's launches, about."""
    text = "\n".join(line for line in compiled.as_text().splitlines() if " = " in line)
    return len(re.findall(r" (?:fusion|custom-call|sort|scatter|dot|while|call)\(", text))


def _roof_records(game_id: str, device: str, loop: Program, rate: float) -> Iterator[Measurement]:
    """Yields the bytes that a step must move, and the part of the memory's bandwidth that they take up.

    State, observation and mask are read once and written once.
    """
    carried = sum(leaf.nbytes for leaf in jax.tree.leaves(loop.carry)) / loop.lanes
    state = sum(leaf.nbytes for leaf in jax.tree.leaves(loop.carry[0])) / loop.lanes
    yield Measurement(
        _name(game_id, "bytes", device, loop.lanes), carried, "bytes/game", note=f"of these the state: {state:.0f}"
    )
    bandwidth = _bandwidth()
    yield Measurement(
        _name(game_id, "bandwidth", device, loop.lanes),
        2 * carried * rate / 1e9,
        "GB/s",
        baseline=bandwidth / 1e9,
        ratio=2 * carried * rate / bandwidth,
        note="bytes that steps must move, beside a copy",
    )


def _bandwidth() -> float:
    """Returns bytes a second that a copy reads and writes."""
    values = jnp.zeros(COPIED_BYTES // 4, jnp.float32)
    copy = jax.jit(lambda array: array + 1)
    _wait(copy(values))
    best = 0.0
    for _ in range(5):
        begin = time.perf_counter()
        _wait(copy(values))
        best = max(best, 2 * COPIED_BYTES / (time.perf_counter() - begin))
    return best


def _memory_record(game_id: str, device: str) -> Measurement:
    cards, players = parse_id(game_id)
    loop = program(YokaiEnv(cards, players), MEMORY_LANES, 8, device)
    used = loop.compiled.memory_analysis()
    total = used.argument_size_in_bytes + used.output_size_in_bytes + used.temp_size_in_bytes
    return Measurement(
        _name(game_id, "memory", device, MEMORY_LANES),
        total / 1e9,
        "GB",
        note=f"whole program; {total / MEMORY_LANES:,.0f} bytes/game",
    )
