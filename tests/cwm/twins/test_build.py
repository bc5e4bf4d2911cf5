"""Functions that are built anew from their text: the same numbers as those of the functions that were traced."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from cwm.twins.text import build
from cwm.twins.text.build import REGIONAL, function_of
from cwm.twins.text.language import OPERATIONS, TwinTextError
from cwm.twins.text.operations import PLAIN
from cwm.twins.text.reader import read

pytestmark = pytest.mark.extra("batched")


def text_of(function, *kinds):
    lowered = jax.jit(function, keep_unused=True).trace(*kinds).lower(lowering_platforms=("cpu",))
    return lowered.compiler_ir("stablehlo").operation.get_asm(print_generic_op_form=True)


TABLE = np.arange(80, dtype=np.int32).reshape(40, 2) % 7
WHOLE, REAL, PLACE, GRID = (
    jax.ShapeDtypeStruct(shape, dtype)
    for shape, dtype in (((9,), jnp.int32), ((9,), jnp.float32), ((), jnp.int32), ((3, 3), jnp.bool_))
)


def everything(whole, real, place, grid):
    return [
        jnp.asarray(TABLE)[whole],
        whole.at[place].add(2),
        whole.at[place].set(7),
        jnp.sort(real),
        jnp.argsort(whole),
        jnp.argmax(real),
        jnp.cumsum(whole),
        grid.astype(jnp.float32) @ grid.astype(jnp.float32),
        lax.cond(place > 1, lambda: whole, lambda: whole + 1),
        lax.switch(place, [lambda: whole, lambda: whole * 2, lambda: whole * 3]),
        jnp.pad(whole, (1, 2)),
        whole[::-1],
        jnp.any(grid, axis=0),
        lax.dynamic_update_slice(whole, whole[:2], (place,)),
        jnp.where(real > 0, real, -jnp.inf),
        whole.astype(jnp.uint8) << 1,
        whole // 3 - whole % 4,
        jnp.round(real),
        lax.fori_loop(0, 5, lambda number, total: total * 2 + whole[number], place),
        lax.scan(lambda carry, number: (carry + number, carry), place, whole),
        jnp.nonzero(whole, size=4)[0],
        jnp.prod(whole[:3]) + jnp.min(whole),
        jnp.array([True, False, True]) & grid,
        lax.dynamic_slice(whole, (place,), (2,)),
        lax.dynamic_slice(whole, (place.astype(jnp.int8),), (2,)),
        whole[place],
    ]


def test_a_function_built_from_its_text_gives_the_same_numbers_for_many_games_at_once():
    text = text_of(everything, WHOLE, REAL, PLACE, GRID)
    draws = np.random.default_rng(0)
    given = (
        draws.integers(0, 9, (32, 9)).astype(np.int32),
        draws.normal(size=(32, 9)).astype(np.float32),
        # Outside of the array, too: JAX counts negative places from the end once, StableHLO moves the rest inside.
        draws.integers(-20, 20, 32).astype(np.int32),
        draws.random((32, 3, 3)) < 0.5,
    )
    wanted = jax.tree.leaves(jax.jit(jax.vmap(everything))(*given))
    built = jax.jit(jax.vmap(function_of(read(text))))(*given)
    assert len(built) == len(wanted)
    for expected, got in zip(wanted, built, strict=True):
        assert got.dtype == expected.dtype
        np.testing.assert_allclose(got, expected, rtol=1e-6)


def test_every_allowed_operation_can_be_built_and_no_other():
    assert {f"stablehlo.{name}" for name in (*PLAIN, *REGIONAL)} == OPERATIONS


UNKNOWN = "without a fixed number of rounds"


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (lambda place: lax.while_loop(lambda x: x < 7, lambda x: x + 2, place), "without a fixed number of rounds"),
        (
            lambda place: lax.fori_loop(place, 9, lambda number, x: x + number, place),
            "without a fixed number of rounds",
        ),
        (lambda place: lax.fori_loop(0, 10**9, lambda number, x: x + number, place), "rounds"),
    ],
)
def test_a_loop_that_is_not_counted_is_refused(function, says):
    with pytest.raises(TwinTextError, match=says):
        jax.eval_shape(function_of(read(text_of(function, PLACE))), PLACE)


def test_calls_that_double_are_counted_and_not_followed(monkeypatch):
    monkeypatch.setattr(build, "MOST_OPERATIONS", 2_000)
    line = '%{0} = "func.call"(%{1}) <{{callee = @f{2}}}> : (tensor<i32>) -> tensor<i32>\n'
    head = '"func.func"() <{{sym_name = "{0}"}}> ({{\n^bb0(%0: tensor<i32>):\n'
    function = head + '{1}"func.return"(%2) : (tensor<i32>) -> ()\n}}) : () -> ()\n'
    body = [line.format(1, 0, number + 1) + line.format(2, 1, number + 1) for number in range(40)]
    parts = [function.format("main" if number == 0 else f"f{number}", text) for number, text in enumerate(body)]
    last = '%2 = "stablehlo.add"(%0, %0) : (tensor<i32>, tensor<i32>) -> tensor<i32>\n'
    text = '"builtin.module"() ({\n' + "".join([*parts, function.format("f40", last)]) + "}) : () -> ()"
    with pytest.raises(TwinTextError, match="more than 2,000 operations"):
        jax.eval_shape(function_of(read(text)), PLACE)


REDUCE = """"builtin.module"() ({{
"func.func"() <{{sym_name = "double"}}> ({{
^bb0(%a: tensor<i32>):
 %b = "stablehlo.add"(%a, %a) : (tensor<i32>, tensor<i32>) -> tensor<i32>
 "func.return"(%b) : (tensor<i32>) -> ()
}}) : () -> ()
"func.func"() <{{sym_name = "main"}}> ({{
^bb0(%start: tensor<i32>):
 %n = "stablehlo.iota"() <{{iota_dimension = 0 : i64}}> : () -> tensor<{count}xi32>
 %r = "stablehlo.reduce"(%n, %start) <{{dimensions = array<i64: 0>}}> ({{
 ^bb0(%p: tensor<i32>, %q0: tensor<i32>):
{lines}
  "stablehlo.return"(%q{number}) : (tensor<i32>) -> ()
 }}) : (tensor<{count}xi32>, tensor<i32>) -> tensor<i32>
 "func.return"(%r) : (tensor<i32>) -> ()
}}) : () -> ()
}}) : () -> ()
"""
XOR = '%q{1} = "stablehlo.xor"(%p, %q{0}) : (tensor<i32>, tensor<i32>) -> tensor<i32>'


def reduction(lines, count):
    return REDUCE.format(lines="\n".join(lines), number=len(lines), count=count)


def test_a_reduction_by_a_few_plain_operations_is_built():
    lines = [XOR.format(number, number + 1) for number in range(3)]
    built = jax.jit(function_of(read(reduction(lines, 5))))
    assert built(np.int32(8))[0] == 8 ^ 0 ^ 1 ^ 2 ^ 3 ^ 4


@pytest.mark.parametrize(
    ("lines", "count", "says"),
    [
        (['%q1 = "func.call"(%p) <{callee = @double}> : (tensor<i32>) -> tensor<i32>'], 9, "operations on scalars"),
        (
            ['%q1 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<4xi32>'],
            9,
            "operations on scalars",
        ),
        ([XOR.format(number, number + 1) for number in range(60)], 9, "operations on scalars"),
        ([XOR.format(number, number + 1) for number in range(40)], 250_000, "33,554,432 numbers"),
    ],
    ids=["call", "array", "long", "much"],
)
def test_a_reduction_by_anything_else_is_refused(lines, count, says):
    text = reduction(lines, count)
    if count == 250_000:
        # Four of them, one after the other.
        inner = text[text.index(" %r =") : text.index(' "func.return"(%r)')]
        more = [inner.replace("%r =", f"%r{number} =") for number in range(4)]
        text = text.replace(inner, inner + "".join(more))
    with pytest.raises(TwinTextError, match=says):
        jax.eval_shape(function_of(read(text)), PLACE)


def test_windows_and_products_count_all_that_they_combine():
    wide = jax.ShapeDtypeStruct((4096,), jnp.int32)

    def windows(x):
        return [lax.reduce_window(x + number, 0, lax.add, (4096,), (1,), [(4095, 0)]) for number in range(3)]

    with pytest.raises(TwinTextError, match="33,554,432 numbers"):
        jax.eval_shape(function_of(read(text_of(windows, wide))), wide)
    square = jax.ShapeDtypeStruct((400, 400), jnp.float32)
    with pytest.raises(TwinTextError, match="33,554,432 numbers"):
        jax.eval_shape(function_of(read(text_of(lambda x: x @ x, square))), square)


def test_a_function_that_calls_itself_is_refused():
    line = '%1 = "func.call"(%0) <{callee = @main}> : (tensor<i32>) -> tensor<i32>'
    text = f""""builtin.module"() ({{
"func.func"() <{{sym_name = "main"}}> ({{
^bb0(%0: tensor<i32>):
{line}
"func.return"(%1) : (tensor<i32>) -> ()
}}) : () -> ()
}}) : () -> ()"""
    with pytest.raises(TwinTextError, match="calls itself"):
        jax.eval_shape(function_of(read(text)), PLACE)


def test_an_operation_whose_result_is_of_another_type_than_it_says_is_refused():
    text = text_of(lambda place: place + 1, PLACE).replace(
        '"stablehlo.add"(%arg0, %0) : (tensor<i32>, tensor<i32>) -> tensor<i32>',
        '"stablehlo.add"(%arg0, %0) : (tensor<i32>, tensor<i32>) -> tensor<4xi32>',
    )
    if "4xi32" not in text:
        pytest.fail("the text is of another form than this test knows")
    with pytest.raises(TwinTextError, match="its text says"):
        jax.eval_shape(function_of(read(text)), PLACE)
