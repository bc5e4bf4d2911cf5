"""Functions on arrays, built anew from what was read: `jax.lax` alone, whatever a text says."""

from collections.abc import Callable, Mapping, Sequence
from math import isqrt, prod
from typing import Any

import numpy as np
from jax import lax

from cwm.twins.text.language import (
    CALL,
    FUNCTION_RETURN,
    MOST_OPERATIONS,
    MOST_TOTAL,
    RETURN,
    Operation,
    Program,
    TensorType,
    TextBlock,
    TwinTextError,
)
from cwm.twins.text.operations import PLAIN, Value, integers, refused, scatter, shape_of, whole

MOST_ROUNDS = 4096
MOST_IN_REGION = 48


def function_of(program: Program) -> Callable[..., tuple[Value, ...]]:
    """Returns a program as a function of arrays: one game; `jax.vmap` makes it many.

    Raises:
        TwinTextError: when it is first traced: an operation does not fit its operands, or there are too many.
    """

    def function(*values: Value) -> tuple[Value, ...]:
        return _Evaluation(program).block(program.main, values, {}, 1)

    return function


class _Evaluation:
    """One trace of a program."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._operations = 0
        self._elements = 0
        self._calls: list[str] = []

    def block(
        self, block: TextBlock, values: Sequence[Value], outer: Mapping[str, Value], times: int
    ) -> tuple[Value, ...]:
        """Returns what a block makes of its arguments.

        Args:
            block: what was read.
            values: its arguments.
            outer: values that it may use of the blocks around it.
            times: how often it is run for each run of the program.
        """
        if len(values) != len(block.arguments):
            raise TwinTextError("the traced program is not accepted: a block is given other arguments than it takes")
        known = dict(outer)
        for name, kind, value in zip(block.arguments, block.types, values, strict=True):
            _check("an argument", kind, value)
            known[name] = value
        for operation in block.operations:
            operands = [_value(known, name) for name in operation.operands]
            for kind, value in zip(operation.inputs, operands, strict=True):
                _check(operation.name, kind, value)
            if operation.name in (RETURN, FUNCTION_RETURN):
                return tuple(operands)
            self._count(operation, times)
            made = self._made(operation, operands, known, times)
            for number, (kind, value) in enumerate(zip(operation.results, made, strict=True)):
                _check(operation.name, kind, value)
                known[operation.result if len(made) == 1 else f"{operation.result}#{number}"] = value
        raise TwinTextError("the traced program is not accepted: a block does not return")

    def _count(self, operation: Operation, times: int) -> None:
        self._operations += times
        self._elements += times * _work(operation)
        if self._operations > MOST_OPERATIONS:
            raise TwinTextError(
                f"the traced program has more than {MOST_OPERATIONS:,} operations, every call and round of a loop "
                "counted; make it smaller: work on whole arrays instead of element by element"
            )
        if self._elements > MOST_TOTAL:
            raise TwinTextError(
                f"the traced program computes more than {MOST_TOTAL:,} numbers for one game; make its arrays smaller"
            )

    def _made(
        self, operation: Operation, operands: Sequence[Value], known: Mapping[str, Value], times: int
    ) -> Sequence[Value]:
        if operation.name == CALL:
            return self._called(operation, operands, times)
        name = operation.name.removeprefix("stablehlo.")
        try:
            plain = PLAIN.get(name)
            if plain is not None and not operation.regions:
                return (plain(operation, operands),)
            if name in REGIONAL:
                return REGIONAL[name](self, operation, operands, known, times)
        except (TypeError, ValueError, IndexError, KeyError, NotImplementedError, OverflowError) as error:
            if isinstance(error, TwinTextError):
                raise
            raise refused(operation, f"it does not fit its operands ({str(error)[:200]})") from None
        raise refused(operation, "it has regions, or lacks them")

    def _called(self, operation: Operation, operands: Sequence[Value], times: int) -> Sequence[Value]:
        name = str(operation.attributes.get("callee", "")).removeprefix("@")
        block = self._program.functions.get(name)
        if block is None or name in self._calls:
            raise refused(operation, f"it calls {name!r:.60}, which {'calls itself' if block else 'is not there'}")
        self._calls.append(name)
        found = self.block(block, operands, {}, times)
        self._calls.pop()
        return found

    def case(
        self, operation: Operation, operands: Sequence[Value], known: Mapping[str, Value], times: int
    ) -> Sequence[Value]:
        (index,) = operands

        def branch(region: TextBlock) -> Callable[[], tuple[Value, ...]]:
            return lambda: self.block(region, (), known, times)

        count = len(operation.regions)
        # A number of no branch takes the last one, as StableHLO says.
        chosen = lax.select((index >= 0) & (index < count), index, np.int32(count - 1))
        made = [branch(region)() for region in operation.regions]
        return [_chosen(chosen, values) for values in zip(*made, strict=True)]

    def reduce(
        self, operation: Operation, operands: Sequence[Value], known: Mapping[str, Value], times: int
    ) -> Sequence[Value]:
        arrays, starts = operands[: len(operands) // 2], operands[len(operands) // 2 :]
        (region,) = operation.regions
        _check_region(operation, region)

        def combined(left: Sequence[Value], right: Sequence[Value]) -> tuple[Value, ...]:
            return self.block(region, (*left, *right), {}, times)

        axes = integers(operation, "dimensions")
        simple = _simple(region)
        if simple in REDUCERS and len(arrays) == 1:
            # Not by the region: reductions that JAX knows by name are quicker, also of many games.
            (array,), (start,) = arrays, starts
            return (COMBINE[simple](REDUCERS[simple](array, axes), start),)
        made: tuple[Value, ...] = tuple(lax.reduce(tuple(arrays), tuple(starts), combined, axes))
        return made

    def reduce_window(
        self, operation: Operation, operands: Sequence[Value], known: Mapping[str, Value], times: int
    ) -> Sequence[Value]:
        (region,) = operation.regions
        simple = _simple(region)
        if simple not in COMBINE or len(operands) != 2:
            raise refused(operation, "its windows are not combined by one known operation")
        sizes = integers(operation, "window_dimensions")
        ones = (1,) * len(sizes)
        padding = operation.attributes.get("padding")
        pairs = [(0, 0)] * len(sizes)
        if padding is not None:
            flat = integers(operation, "padding")
            pairs = list(zip(flat[::2], flat[1::2], strict=True))
        return (
            lax.reduce_window(
                operands[0],
                operands[1],
                COMBINE[simple],
                sizes,
                integers(operation, "window_strides", ones),
                pairs,
                integers(operation, "base_dilations", ones),
                integers(operation, "window_dilations", ones),
            ),
        )

    def scatter(
        self, operation: Operation, operands: Sequence[Value], known: Mapping[str, Value], times: int
    ) -> Sequence[Value]:
        (region,) = operation.regions
        last = region.operations[-1]
        if len(region.operations) == 1 and last.operands == region.arguments[1:]:
            return (scatter(operation, operands, ""),)
        return (scatter(operation, operands, _simple(region)),)

    def sort(
        self, operation: Operation, operands: Sequence[Value], known: Mapping[str, Value], times: int
    ) -> Sequence[Value]:
        (region,) = operation.regions
        axis = whole(operation, "dimension")
        keys = _sort_keys(operation, region)
        made: Any = lax.sort(tuple(operands), dimension=axis, is_stable=True, num_keys=keys)
        return tuple(made)

    def loop(
        self, operation: Operation, operands: Sequence[Value], known: Mapping[str, Value], times: int
    ) -> Sequence[Value]:
        test, body = operation.regions
        place, rounds = _counted(operation, test, body, operands)
        if times * rounds > MOST_OPERATIONS:
            raise refused(operation, f"a loop of {times * rounds:,} rounds; make it shorter")

        def once(carry: tuple[Value, ...], _: None) -> tuple[tuple[Value, ...], None]:
            return self.block(body, carry, known, times * rounds), None

        if rounds == 0:
            return operands
        begun = list(operands)
        begun[place] = lax.full((), 0, np.int32)
        ended: tuple[Value, ...] = lax.scan(once, tuple(begun), None, length=rounds)[0]
        return ended


REGIONAL: Mapping[str, Callable[..., Sequence[Value]]] = {
    "case": _Evaluation.case,
    "reduce": _Evaluation.reduce,
    "reduce_window": _Evaluation.reduce_window,
    "scatter": _Evaluation.scatter,
    "sort": _Evaluation.sort,
    "while": _Evaluation.loop,
}
"""Operations with regions, by their names without `stablehlo.`."""
COMBINE: Mapping[str, Callable[[Value, Value], Value]] = {
    "add": lax.add,
    "multiply": lax.mul,
    "maximum": lax.max,
    "minimum": lax.min,
    "and": lax.bitwise_and,
    "or": lax.bitwise_or,
}
REDUCERS: Mapping[str, Callable[[Value, Sequence[int]], Value]] = {
    "add": lax.reduce_sum,
    "multiply": lax.reduce_prod,
    "maximum": lax.reduce_max,
    "minimum": lax.reduce_min,
    "and": lax.reduce_and,
    "or": lax.reduce_or,
}


def _chosen(index: Value, values: Sequence[Value]) -> Value:
    made = values[-1]
    for number in range(len(values) - 2, -1, -1):
        made = lax.select(lax.broadcast(index == number, np.shape(made)), values[number], made)
    return made


def _work(operation: Operation) -> int:
    """Returns how many numbers an operation computes, those that it combines on the way included."""
    made = sum(kind.elements for kind in operation.results)
    name = operation.name.removeprefix("stablehlo.")
    if name == "reduce":
        inputs = operation.inputs[: len(operation.inputs) // 2]
        return sum(kind.elements for kind in inputs) * sum(len(region.operations) for region in operation.regions)
    if name == "reduce_window":
        return made * prod(integers(operation, "window_dimensions"))
    if name == "dot_general":
        # Of [m, k] by [k, n]: the numbers are m k, k n and m n, the work is m n k.
        return isqrt(made * prod(kind.elements for kind in operation.inputs))
    return made


def _check_region(operation: Operation, region: TextBlock) -> None:
    """Refuses a reduction by anything but a few plain operations on scalars: it is run for every number."""
    plain = all(inner.name.removeprefix("stablehlo.") in (*PLAIN, "return") for inner in region.operations)
    scalars = all(not kind.shape for inner in region.operations for kind in (*inner.inputs, *inner.results))
    if not plain or not scalars or len(region.operations) > MOST_IN_REGION:
        raise refused(
            operation, f"it combines numbers otherwise than by at most {MOST_IN_REGION} operations on scalars"
        )


def _simple(region: TextBlock) -> str:
    """Returns the one operation on its two arguments that a region consists of, "" if it is another region."""
    if len(region.operations) != 2 or len(region.arguments) != 2:
        return ""
    only, last = region.operations
    fits = sorted(only.operands) == sorted(region.arguments) and last.operands == (only.result,)
    return only.name.removeprefix("stablehlo.") if fits and not only.regions else ""


def _sort_keys(operation: Operation, region: TextBlock) -> int:
    """Returns how many operands are compared, in their order, the smallest first.

    The comparison that JAX writes for sorting is recognised by what it compares: the first `n` pairs of its arguments.
    """
    used: set[str] = set()
    for inner in region.operations:
        used |= set(inner.operands)
    pairs = len(region.arguments) // 2
    compared = [
        number
        for number in range(pairs)
        if region.arguments[2 * number] in used and region.arguments[2 * number + 1] in used
    ]
    directions = [
        str(getattr(inner.attributes.get("comparison_direction"), "value", ""))
        for inner in region.operations
        if inner.name == "stablehlo.compare"
    ]
    if compared != list(range(len(compared))) or not compared or set(directions) - {"LT", "EQ", "NE"}:
        raise refused(operation, "it sorts otherwise than by its first operands, the smallest first")
    return len(compared)


def _counted(operation: Operation, test: TextBlock, body: TextBlock, operands: Sequence[Value]) -> tuple[int, int]:
    """Returns the place of a loop's counter and its rounds; a loop that does not count from 0 by 1 is refused."""
    why = "a loop without a fixed number of rounds; use a Python loop, jax.lax.fori_loop or jax.lax.scan"
    if len(test.operations) != 3 or not operands:
        raise refused(operation, why)
    limit, compare, end = test.operations
    direction = getattr(compare.attributes.get("comparison_direction"), "value", "")
    fits = (
        limit.name == "stablehlo.constant"
        and compare.name == "stablehlo.compare"
        and direction == "LT"
        and compare.operands[1:] == (limit.result,)
        and compare.operands[0] in test.arguments
        and end.operands == (compare.result,)
    )
    if not fits:
        raise refused(operation, why)
    place = test.arguments.index(compare.operands[0])
    rounds, start = _number(limit), operands[place]
    made = {inner.result: inner for inner in body.operations if inner.result}
    last = made.get(body.operations[-1].operands[place])
    if last is None or last.name != "stablehlo.add" or body.arguments[place] != last.operands[0]:
        raise refused(operation, why)
    one = made.get(last.operands[1])
    if one is None or one.name != "stablehlo.constant" or _number(one) != 1:
        raise refused(operation, why)
    if not isinstance(start, np.ndarray) or start.shape != () or int(start) != 0:
        raise refused(operation, why)
    if not 0 <= rounds <= MOST_ROUNDS:
        raise refused(operation, f"a loop of {rounds:,} rounds; at most {MOST_ROUNDS:,} are taken")
    return place, rounds


def _number(operation: Operation) -> int:
    value = PLAIN["constant"](operation, ())
    if np.shape(value) != () or np.asarray(value).dtype.kind not in "iu":
        raise refused(operation, "a loop is not counted by one whole number")
    return int(value)


def _value(known: Mapping[str, Any], name: str) -> Value:
    if name not in known:
        raise TwinTextError(f"the traced program is not accepted: the value {name!r:.40} is not there")
    return known[name]


def _check(what: str, kind: TensorType, value: Value) -> None:
    found = shape_of(value)
    if found != kind:
        raise TwinTextError(
            f"the traced program is not accepted: {what} has the type {found.dtype}{list(found.shape)}, "
            f"its text says {kind.dtype}{list(kind.shape)}"
        )
