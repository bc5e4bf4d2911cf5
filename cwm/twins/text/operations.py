"""Each allowed operation as `jax.lax` has it: operands that are arrays and attributes that were read, checked again."""

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from cwm.twins.text.language import Bits, Dense, Named, Operation, TensorType, TwinTextError

Value: TypeAlias = Any
"""An array, or a tracer of one."""
Plain: TypeAlias = Callable[[Operation, Sequence[Value]], Value]


def constant(operation: Operation, _: Sequence[Value]) -> Value:
    """Returns the numbers of a constant."""
    dense = operation.attributes.get("value")
    (kind,) = operation.results
    if not isinstance(dense, Dense) or dense.type != kind:
        raise refused(operation, "its numbers are of another type")
    if isinstance(dense.numbers, bytes):
        return _of_bytes(operation, dense.numbers, kind)
    numbers = dense.numbers
    try:
        array = np.array(_unpacked(numbers, kind), dtype=object)
        if array.shape not in ((), kind.shape):
            raise refused(operation, f"its numbers have the shape {array.shape}, not {kind.shape}")
        filled = np.broadcast_to(array, kind.shape) if array.shape == () else array
        return np.ascontiguousarray(filled.astype(kind.dtype)).reshape(kind.shape)
    except (ValueError, TypeError, OverflowError) as error:
        raise refused(operation, f"its numbers cannot be read ({type(error).__name__})") from None


def _unpacked(numbers: Any, kind: TensorType) -> Any:
    if isinstance(numbers, list):
        return [_unpacked(number, kind) for number in numbers]
    if isinstance(numbers, Bits):
        if kind.dtype != "float32":
            return int(numbers)
        return float(np.array(int(numbers) & 0xFFFFFFFF, np.uint32).view(np.float32))
    return numbers


def _of_bytes(operation: Operation, data: bytes, kind: TensorType) -> Value:
    if kind.dtype == "bool":
        # One byte a number where there are as many, else one bit each.
        if len(data) == kind.elements:
            return (np.frombuffer(data, np.uint8) != 0).reshape(kind.shape)
        if len(data) == 1:
            return np.full(kind.shape, data[0] != 0)
        raise refused(operation, "its bytes are not as many as its type has numbers")
    width = np.dtype(kind.dtype).itemsize
    little = np.dtype(kind.dtype).newbyteorder("<")
    if len(data) == width:
        return np.full(kind.shape, np.frombuffer(data, little)[0], kind.dtype)
    if len(data) != width * kind.elements:
        raise refused(operation, "its bytes are not as many as its type has numbers")
    return np.frombuffer(data, little).reshape(kind.shape).astype(kind.dtype)


def refused(operation: Operation, why: str) -> TwinTextError:
    """Returns the error of an operation that says what it must not."""
    return TwinTextError(f"the traced program is not accepted: {operation.name}: {why}")


def integers(operation: Operation, name: str, otherwise: Sequence[int] | None = None) -> tuple[int, ...]:
    """Returns an attribute that is a list of whole numbers."""
    value = operation.attributes.get(name, otherwise)
    if isinstance(value, Dense):
        value = np.ravel(constant_numbers(operation, value)).tolist()
    if not isinstance(value, Sequence) or not all(type(number) is int for number in value):
        raise refused(operation, f"{name} is no list of whole numbers")
    return tuple(value)


def constant_numbers(operation: Operation, dense: Dense) -> Any:
    """Returns the numbers of a constant attribute, filled up to its type."""
    if isinstance(dense.numbers, bytes):
        return np.frombuffer(dense.numbers, "<i8").reshape(dense.type.shape)
    array = np.array(dense.numbers)
    if array.dtype.kind not in "iu" and array.size:
        raise refused(operation, "an attribute holds other numbers than whole ones")
    return np.broadcast_to(array, dense.type.shape)


def whole(operation: Operation, name: str) -> int:
    """Returns an attribute that is a whole number."""
    value = operation.attributes.get(name)
    if type(value) is not int:
        raise refused(operation, f"{name} is no whole number")
    return value


def _word(operation: Operation, name: str, otherwise: str) -> str:
    value = operation.attributes.get(name)
    return str(value.value) if isinstance(value, Named) else otherwise


def _dims(operation: Operation, name: str) -> dict[str, Any]:
    value = operation.attributes.get(name)
    if not isinstance(value, Named) or not isinstance(value.value, dict):
        raise refused(operation, f"{name} is missing")
    return value.value


def _places(fields: Mapping[str, Any], name: str) -> tuple[int, ...]:
    value = fields.get(name, ())
    if not isinstance(value, Sequence) or not all(type(number) is int for number in value):
        raise TwinTextError(f"the traced program is not accepted: {name} is no list of whole numbers")
    return tuple(value)


COMPARISONS: Final[Mapping[str, Callable[[Value, Value], Value]]] = {
    "EQ": lax.eq,
    "NE": lax.ne,
    "LT": lax.lt,
    "LE": lax.le,
    "GT": lax.gt,
    "GE": lax.ge,
}


def _compare(operation: Operation, values: Sequence[Value]) -> Value:
    direction = _word(operation, "comparison_direction", "")
    if direction not in COMPARISONS or _word(operation, "compare_type", "") == "TOTALORDER":
        raise refused(operation, f"a comparison {direction!r:.20}")
    return COMPARISONS[direction](*values)


def _gather(operation: Operation, values: Sequence[Value]) -> Value:
    operand, indices = values
    fields = _dims(operation, "dimension_numbers")
    if fields.get("index_vector_dim", 0) != indices.ndim - 1:
        indices = _with_index_axis(operation, indices, fields)
    numbers = lax.GatherDimensionNumbers(
        offset_dims=_places(fields, "offset_dims"),
        collapsed_slice_dims=_places(fields, "collapsed_slice_dims"),
        start_index_map=_places(fields, "start_index_map"),
        operand_batching_dims=_places(fields, "operand_batching_dims"),
        start_indices_batching_dims=_places(fields, "start_indices_batching_dims"),
    )
    # What lies outside is moved inside: so says StableHLO of its own gather.
    return lax.gather(operand, indices, numbers, integers(operation, "slice_sizes"), mode="clip")


def _with_index_axis(operation: Operation, indices: Value, fields: Mapping[str, Any]) -> Value:
    if fields.get("index_vector_dim", 0) == indices.ndim:
        return indices[..., None]
    raise refused(operation, "its indices do not lie along the last axis")


def scatter(operation: Operation, values: Sequence[Value], combine: str) -> Value:
    """Returns a scatter with one of the known ways to combine numbers.

    Args:
        operation: what was read.
        values: operand, indices, updates.
        combine: name of the one operation of its region, "" if the new number takes the old one's place.
    """
    known = {"": lax.scatter, "add": lax.scatter_add, "minimum": lax.scatter_min, "maximum": lax.scatter_max}
    known["multiply"] = lax.scatter_mul
    if combine not in known or len(values) != 3:
        raise refused(operation, f"it combines numbers by {combine!r:.40}")
    operand, indices, updates = values
    fields = _dims(operation, "scatter_dimension_numbers")
    if fields.get("index_vector_dim", 0) != indices.ndim - 1:
        indices = _with_index_axis(operation, indices, fields)
    numbers = lax.ScatterDimensionNumbers(
        update_window_dims=_places(fields, "update_window_dims"),
        inserted_window_dims=_places(fields, "inserted_window_dims"),
        scatter_dims_to_operand_dims=_places(fields, "scatter_dims_to_operand_dims"),
        operand_batching_dims=_places(fields, "input_batching_dims"),
        scatter_indices_batching_dims=_places(fields, "scatter_indices_batching_dims"),
    )
    # Neither order nor uniqueness of the indices is believed: a wrong word there would be undefined behaviour.
    scattered: Value = known[combine](operand, indices, updates, numbers, mode="drop")
    return scattered


def _dot_general(operation: Operation, values: Sequence[Value]) -> Value:
    fields = _dims(operation, "dot_dimension_numbers")
    contracting = (_places(fields, "lhs_contracting_dimensions"), _places(fields, "rhs_contracting_dimensions"))
    batch = (_places(fields, "lhs_batching_dimensions"), _places(fields, "rhs_batching_dimensions"))
    (kind,) = operation.results
    left, right = values
    return lax.dot_general(
        left,
        right,
        dimension_numbers=(contracting, batch),
        precision=lax.Precision.HIGHEST,
        preferred_element_type=np.dtype(kind.dtype),
    )


def _pad(operation: Operation, values: Sequence[Value]) -> Value:
    names = ("edge_padding_low", "edge_padding_high", "interior_padding")
    rows = zip(*(integers(operation, name) for name in names), strict=True)
    return lax.pad(values[0], values[1], list(rows))


def _slice(operation: Operation, values: Sequence[Value]) -> Value:
    names = ("start_indices", "limit_indices", "strides")
    return lax.slice(values[0], *(integers(operation, name) for name in names))


def _iota(operation: Operation, _: Sequence[Value]) -> Value:
    (kind,) = operation.results
    return lax.broadcasted_iota(np.dtype(kind.dtype), kind.shape, whole(operation, "iota_dimension"))


def _converted(operation: Operation, values: Sequence[Value]) -> Value:
    (value,), (kind,) = values, operation.results
    # A float that is cut off goes towards zero; to a truth value, any number but 0 is true.
    return lax.ne(value, jnp.zeros_like(value)) if kind.dtype == "bool" else lax.convert_element_type(value, kind.dtype)


def _shaped(function: Callable[[Value, tuple[int, ...]], Value], name: str) -> Plain:
    return lambda operation, values: function(values[0], integers(operation, name))


def _same(function: Callable[..., Value]) -> Plain:
    return lambda operation, values: function(*values)


PLAIN: Final[Mapping[str, Plain]] = {
    **{
        name: _same(getattr(lax, name))
        for name in ("abs", "add", "atan2", "cbrt", "ceil", "clamp", "floor", "is_finite", "log", "logistic", "rsqrt")
    },
    **{name: _same(getattr(lax, name)) for name in ("shift_left", "shift_right_arithmetic", "shift_right_logical")},
    **{name: _same(getattr(lax, name)) for name in ("sign", "sqrt", "tan", "tanh")},
    "and": _same(lax.bitwise_and),
    "or": _same(lax.bitwise_or),
    "xor": _same(lax.bitwise_xor),
    "not": _same(lax.bitwise_not),
    "bitcast_convert": lambda operation, values: lax.bitcast_convert_type(values[0], operation.results[0].dtype),
    "broadcast_in_dim": lambda operation, values: lax.broadcast_in_dim(
        values[0], operation.results[0].shape, integers(operation, "broadcast_dimensions")
    ),
    "compare": _compare,
    "concatenate": lambda operation, values: lax.concatenate(values, whole(operation, "dimension")),
    "constant": constant,
    "convert": _converted,
    "cosine": _same(lax.cos),
    "count_leading_zeros": _same(lax.clz),
    "divide": _same(lax.div),
    "dot_general": _dot_general,
    # A negative place is moved to 0 here: JAX has written into the text already that it counts from the end.
    "dynamic_slice": lambda operation, values: lax.dynamic_slice(
        values[0], values[1:], integers(operation, "slice_sizes"), allow_negative_indices=False
    ),
    "dynamic_update_slice": lambda operation, values: lax.dynamic_update_slice(
        values[0], values[1], values[2:], allow_negative_indices=False
    ),
    "exponential": _same(lax.exp),
    "exponential_minus_one": _same(lax.expm1),
    "gather": _gather,
    "iota": _iota,
    "log_plus_one": _same(lax.log1p),
    "maximum": _same(lax.max),
    "minimum": _same(lax.min),
    "multiply": _same(lax.mul),
    "negate": _same(lax.neg),
    "pad": _pad,
    "popcnt": _same(lax.population_count),
    "power": _same(lax.pow),
    "remainder": _same(lax.rem),
    "reshape": lambda operation, values: lax.reshape(values[0], operation.results[0].shape),
    "reverse": _shaped(lax.rev, "dimensions"),
    "round_nearest_afz": lambda operation, values: lax.round(values[0], lax.RoundingMethod.AWAY_FROM_ZERO),
    "round_nearest_even": lambda operation, values: lax.round(values[0], lax.RoundingMethod.TO_NEAREST_EVEN),
    "select": _same(lax.select),
    "sine": _same(lax.sin),
    "slice": _slice,
    "subtract": _same(lax.sub),
    "transpose": _shaped(lax.transpose, "permutation"),
}
"""Operations without regions, by their names without `stablehlo.`."""


def zeros(kind: TensorType) -> Value:
    """Returns an array of zeros of a type."""
    return jnp.zeros(kind.shape, kind.dtype)


def index_of(value: Any) -> int:
    """Returns a whole number as such."""
    return operator.index(value)


def shape_of(value: Any) -> TensorType:
    """Returns the type of an array."""
    kind = jax.typeof(value)
    return TensorType(np.dtype(kind.dtype).name, tuple(kind.shape))
