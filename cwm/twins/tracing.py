"""What happens to a twin inside its worker: traced into text, asked for its tables, put between states and arrays.

Loaded into workers: standard library alone. JAX and NumPy are there because the worker imported them before it locked
itself (`cwm.sandbox.parent.payload.Libraries`).
"""

import sys
from collections.abc import Callable, Sequence
from json import dumps, loads
from typing import Any, Final

from cwm.sandbox.wire.arrays import BinaryArray
from cwm.sandbox.wire.failures import describe, in_program

MOST_ARRAYS: Final = 64
MOST_NUMBERS: Final = 16_384
"""Of all arrays of one state."""
MOST_TABLE: Final = 16_384
MOST_PROBLEMS: Final = 8
WHOLE_TYPES: Final = ("bool", "int8", "uint8", "int16", "uint16", "int32")
REAL_TYPES: Final = ("float32",)
TRACED: Final = ("init", "step", "player", "legal", "chance", "rewards", "observe")


class UnfitTwinError(Exception):
    """A function of the twin returned something else than it must; the message says what was expected."""


def warm_up() -> None:
    """Traces a sample of our own, so that JAX has loaded all that it loads late."""
    jax = sys.modules["jax"]
    jnp = sys.modules["jax.numpy"]
    lax = sys.modules["jax.lax"]
    jax.config.update("jax_traceback_filtering", "off")

    def sample(numbers: Any, index: Any) -> Any:
        changed = numbers.at[index].set(1)
        chosen = lax.cond(index > 1, lambda: changed, lambda: jnp.cumsum(changed))
        looped = lax.fori_loop(0, 3, lambda place, kept: kept + place, chosen)
        kept, _ = lax.scan(lambda carry, number: (carry + number, None), index, looped)
        shapes = (jnp.sort(changed), jnp.argmax(changed), jnp.roll(changed, 1), jnp.stack([changed, looped]))
        more = (jnp.where(changed > 0, changed, -1), jnp.any(changed > 0), jnp.asarray([1.0, 2.0]) @ jnp.ones((2, 2)))
        lanes = jax.vmap(lambda number: number * 2)(changed)
        parts = (jnp.pad(changed, 1), jnp.take(changed, index), jnp.nonzero(changed, size=2)[0], lanes % 3, lanes // 2)
        return kept, shapes, more, parts, lax.switch(index, [lambda: 0, lambda: 1]), jnp.einsum("i,j->ij", lanes, lanes)

    _text(sample, [jax.ShapeDtypeStruct((9,), jnp.int32), jax.ShapeDtypeStruct((), jnp.int32)])


def tables(game: Any, argument: dict[str, Any], rng: Any) -> dict[str, Any]:
    """Returns the twin's tables: `actions` and `chance`, or `problem`."""
    found = {}
    for key, function in (("actions", "list_actions"), ("chance", "list_chance_outcomes")):
        if function not in game.functions:
            return {"problem": f"{function} is no function"}
        table = game.functions[function]()
        good = isinstance(table, list | tuple) and all(isinstance(action, str) for action in table)
        if not good or len(set(table)) != len(table):
            return {"problem": f"{function} must return a list of different strings"}
        if len(table) > MOST_TABLE:
            return {"problem": f"{function} lists {len(table):,} strings; at most {MOST_TABLE:,} are taken"}
        found[key] = list(table)
    return found if found["actions"] else {"problem": "list_actions is empty"}


def trace(game: Any, argument: dict[str, Any], rng: Any) -> dict[str, Any]:
    """Traces the twin's functions.

    Args:
        game: the twin.
        argument: `players`, `width` of observation vectors, `actions` and `chance`: how many there are.
        rng: not used.

    Returns:
        `layout`: [name, type, shape] of every array of a state, by name; the texts of `init`, `step` and `look`; or
        `problem` in words.
    """
    functions = game.functions
    missing = [name for name in TRACED if name not in functions]
    if missing:
        return {"problem": f"{missing[0]} is no function"}
    jax, jnp = sys.modules["jax"], sys.modules["jax.numpy"]
    try:
        layout = _layout(jax.eval_shape(functions["init"]))
        names = [name for name, _, _ in layout]
        kinds = [jax.ShapeDtypeStruct(tuple(shape), dtype) for _, dtype, shape in layout]
        index = jax.ShapeDtypeStruct((), jnp.int32)

        def init() -> Any:
            return _state(functions["init"](), layout, "init")

        def step(*values: Any) -> Any:
            stepped = functions["step"](dict(zip(names, values, strict=False)), values[-1])
            return _state(stepped, layout, "step")

        def look(*values: Any) -> Any:
            return _look(functions, lambda: dict(zip(names, values, strict=True)), argument)

        return {
            "layout": layout,
            "init": _text(init, []),
            "step": _text(step, [*kinds, index]),
            "look": _text(look, kinds),
        }
    except UnfitTwinError as error:
        return {"problem": str(error)}
    except MemoryError:
        raise
    except Exception as error:
        if in_program(error):
            raise
        # JAX itself is known to work: it traced our sample before.
        return {"problem": f"the twin cannot be traced: {type(error).__name__}: {str(error)[:1000]}"}


def encode(game: Any, argument: dict[str, Any], rng: Any) -> tuple[dict[str, Any], dict[str, BinaryArray]]:
    """Puts states into arrays.

    Args:
        game: the twin.
        argument: `layout`; `states`: texts.
        rng: not used.

    Returns:
        `problems`: [place of the state, what is wrong]; and the numbers: `whole` int32 [N, K] and `real` float32
        [N, L], the arrays of a state one after the other; zeros where there is a problem.
    """
    np = sys.modules["numpy"]
    layout = argument["layout"]
    states = argument["states"]
    problems: list[list[Any]] = []
    rows = {kind: np.zeros((len(states), _width(layout, kind)), kind) for kind in ("int32", "float32")}
    for number, text in enumerate(states):
        try:
            arrays = _function(game, "encode")(loads(text))
            row = {kind: _row(np, arrays, layout, kind) for kind in rows}
        except Exception as error:
            problems.append([number, _told("encode", error)])
            if len(problems) >= MOST_PROBLEMS:
                break
            continue
        for kind, numbers in row.items():
            rows[kind][number] = numbers
    taken = {
        name: BinaryArray(kind, rows[kind].shape, rows[kind].astype(f"<{kind[0]}4").tobytes())
        for name, kind in (("whole", "int32"), ("real", "float32"))
    }
    return {"problems": problems}, taken


def decode(game: Any, argument: dict[str, Any], rng: Any) -> dict[str, Any]:
    """Makes states out of arrays.

    Args:
        game: the twin.
        argument: `layout`; `whole` and `real`: rows of numbers, see `encode`.
        rng: not used.

    Returns:
        `states`: texts with sorted keys, "" where there is a problem; `problems`: [place, what is wrong].
    """
    np = sys.modules["numpy"]
    layout = argument["layout"]
    problems: list[list[Any]] = []
    states: list[str] = []
    for number, row in enumerate(zip(argument["whole"], argument["real"], strict=True)):
        try:
            state = _function(game, "decode")(_arrays(np, layout, *row))
            states.append(dumps(state, sort_keys=True, allow_nan=False, separators=(",", ":")))
        except Exception as error:
            states.append("")
            problems.append([number, _told("decode", error)])
            if len(problems) >= MOST_PROBLEMS:
                states += [""] * (len(argument["whole"]) - len(states))
                break
    return {"states": states, "problems": problems}


def _function(game: Any, name: str) -> Callable[..., Any]:
    if name not in game.functions:
        raise UnfitTwinError("it is no function")
    found: Callable[..., Any] = game.functions[name]
    return found


def _text(function: Callable[..., Any], kinds: Sequence[Any]) -> str:
    jax = sys.modules["jax"]
    # Arguments that are not used are kept: the reader of the text knows them by their places.
    lowered = jax.jit(function, keep_unused=True).trace(*kinds).lower(lowering_platforms=("cpu",))
    operation = lowered.compiler_ir("stablehlo").operation
    text: str = operation.get_asm(print_generic_op_form=True, enable_debug_info=False)
    return text


def _layout(shapes: Any) -> list[list[Any]]:
    if not isinstance(shapes, dict) or not shapes or not all(isinstance(name, str) for name in shapes):
        raise UnfitTwinError("init must return a dictionary of arrays by names, at least one")
    if len(shapes) > MOST_ARRAYS:
        raise UnfitTwinError(f"init returns {len(shapes)} arrays; at most {MOST_ARRAYS} are taken")
    layout = []
    for name in sorted(shapes):
        shape, dtype = getattr(shapes[name], "shape", None), str(getattr(shapes[name], "dtype", "no array"))
        if shape is None or dtype not in (*WHOLE_TYPES, *REAL_TYPES):
            known = ", ".join((*WHOLE_TYPES, *REAL_TYPES))
            raise UnfitTwinError(f"init: {name!r} is of type {dtype}; a state holds arrays of {known}")
        if 0 in shape:
            raise UnfitTwinError(f"init: {name!r} is empty, of shape {list(shape)}; leave out arrays without numbers")
        layout.append([name, dtype, list(shape)])
    numbers = sum(_size(shape) for _, _, shape in layout)
    if numbers > MOST_NUMBERS:
        raise UnfitTwinError(f"the arrays of a state hold {numbers:,} numbers; at most {MOST_NUMBERS:,} are taken")
    return layout


def _state(arrays: Any, layout: list[list[Any]], function: str) -> list[Any]:
    """Returns the arrays of a state in the order of the layout, if they are what it says."""
    jnp = sys.modules["jax.numpy"]
    names = [name for name, _, _ in layout]
    if not isinstance(arrays, dict) or sorted(arrays) != names:
        got = sorted(arrays) if isinstance(arrays, dict) else type(arrays).__name__
        raise UnfitTwinError(f"{function} must return the arrays {names}, got {got}")
    found = []
    for name, dtype, shape in layout:
        value = jnp.asarray(arrays[name])
        if list(value.shape) != shape or str(value.dtype) != dtype:
            got = f"{value.dtype}{list(value.shape)}"
            raise UnfitTwinError(
                f"{function}: {name!r} is {got}, init makes it {dtype}{shape}: give every array the same type and "
                "shape in every state"
            )
        found.append(value)
    return found


def _look(functions: Any, arrays: Callable[[], Any], argument: dict[str, Any]) -> list[Any]:
    players = argument["players"]
    wanted = [
        ("player", "int32", []),
        ("legal", "bool", [argument["actions"]]),
        ("chance", "float32", [argument["chance"]]),
        ("rewards", "float32", [players]),
    ]
    found = [_shaped(functions[name](arrays()), dtype, shape, name) for name, dtype, shape in wanted]
    jnp = sys.modules["jax.numpy"]
    width = [argument["width"]]
    seen = [_shaped(functions["observe"](arrays(), who), "float32", width, "observe") for who in range(players)]
    return [*found, jnp.stack(seen)]


def _shaped(value: Any, dtype: str, shape: list[int], function: str) -> Any:
    jnp = sys.modules["jax.numpy"]
    array = jnp.asarray(value)
    if list(array.shape) != shape:
        raise UnfitTwinError(f"{function} must return {dtype}{shape}, got {array.dtype}{list(array.shape)}")
    return array.astype(dtype)


def _row(np: Any, arrays: Any, layout: list[list[Any]], kind: str) -> Any:
    names = [name for name, _, _ in layout]
    if not isinstance(arrays, dict) or sorted(arrays) != names:
        got = sorted(map(str, arrays)) if isinstance(arrays, dict) else type(arrays).__name__
        raise UnfitTwinError(f"it must return the arrays {names}, got {got}")
    parts = [np.zeros(0, kind)]
    for name, dtype, shape in layout:
        if (dtype in REAL_TYPES) != (kind == "float32"):
            continue
        value = np.asarray(arrays[name])
        if list(value.shape) != shape:
            raise UnfitTwinError(f"{name!r} has the shape {list(value.shape)}, init makes it {shape}")
        cast = value.astype(dtype)
        if dtype in WHOLE_TYPES and not np.array_equal(cast, value):
            raise UnfitTwinError(f"{name!r} holds numbers that {dtype} cannot hold: {value.tolist()!r:.200}")
        parts.append(cast.astype(kind).reshape(-1))
    return np.concatenate(parts)


def _arrays(np: Any, layout: list[list[Any]], whole: list[int], real: list[float]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    places = {"whole": 0, "real": 0}
    for name, dtype, shape in layout:
        key, numbers = ("real", real) if dtype in REAL_TYPES else ("whole", whole)
        begin, places[key] = places[key], places[key] + _size(shape)
        found[name] = np.array(numbers[begin : places[key]]).astype(dtype).reshape(shape).tolist()
    return found


def _width(layout: list[list[Any]], kind: str) -> int:
    return sum(_size(shape) for _, dtype, shape in layout if (dtype in REAL_TYPES) == (kind == "float32"))


def _size(shape: Sequence[int]) -> int:
    size = 1
    for length in shape:
        size *= length
    return size


def _told(function: str, error: Exception) -> str:
    if isinstance(error, UnfitTwinError):
        return f"{function}: {error}"
    failure = describe(error, {})
    where = "" if failure["line"] is None else f" in line {failure['line']}"
    return f"{function} raised {failure['type']}{where}: {failure['message'][:500]}"
