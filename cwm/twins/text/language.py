"""What a traced function may consist of: its operations, types and sizes, and how they are kept once they were read."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import prod
from typing import Any, Final, TypeAlias

ELEMENTWISE: Final = frozenset(
    {
        *("abs", "add", "and", "atan2", "cbrt", "ceil", "clamp", "convert", "cosine", "count_leading_zeros", "divide"),
        *("exponential", "exponential_minus_one", "floor", "is_finite", "log", "log_plus_one", "logistic", "maximum"),
        *("minimum", "multiply", "negate", "not", "or", "popcnt", "power", "remainder", "round_nearest_afz"),
        *("round_nearest_even", "rsqrt", "select", "shift_left", "shift_right_arithmetic", "shift_right_logical"),
        *("sign", "sine", "sqrt", "subtract", "tan", "tanh", "xor", "compare", "bitcast_convert"),
    }
)
SHAPED: Final = frozenset(
    {
        *("broadcast_in_dim", "concatenate", "constant", "dot_general", "dynamic_slice", "dynamic_update_slice"),
        *("gather", "iota", "pad", "reshape", "reverse", "slice", "transpose"),
    }
)
WITH_REGIONS: Final = frozenset({"case", "reduce", "reduce_window", "scatter", "sort", "while"})
OPERATIONS: Final = frozenset(f"stablehlo.{name}" for name in ELEMENTWISE | SHAPED | WITH_REGIONS)
CALL, RETURN, FUNCTION_RETURN = "func.call", "stablehlo.return", "func.return"
DTYPES: Final[Mapping[str, str]] = {
    "i1": "bool",
    "i8": "int8",
    "i16": "int16",
    "i32": "int32",
    "ui8": "uint8",
    "ui16": "uint16",
    "ui32": "uint32",
    "f32": "float32",
}
MOST_CHARACTERS: Final = 8_000_000
MOST_OPERATIONS: Final = 60_000
"""Operations of a function with every call and every round of a loop counted."""
MOST_ELEMENTS: Final = 1 << 18
"""Of one array of one game."""
MOST_TOTAL: Final = 1 << 25
"""Of all arrays of one game together, every call and round of a loop counted."""
MOST_AXES: Final = 6
MOST_DEPTH: Final = 40


class TwinTextError(ValueError):
    """A traced function's text holds something that is not allowed, or is no such text; the message says what."""


class Bits(int):
    """A float that is told by its bits."""


@dataclass(frozen=True)
class TensorType:
    """Type of an array.

    Attributes:
        dtype: NumPy's name.
        shape: lengths.
    """

    dtype: str
    shape: tuple[int, ...]

    @property
    def elements(self) -> int:
        """How many numbers it holds."""
        return prod(self.shape)


Attribute: TypeAlias = Any
"""int, float, str, bool, list, `Dense`, `Named`, `TensorType` or a dict of these by name."""


@dataclass(frozen=True)
class Dense:
    """Numbers of a constant.

    Attributes:
        numbers: nested lists, one number for all, or little-endian bytes.
        type: of the array.
    """

    numbers: Any
    type: TensorType


@dataclass(frozen=True)
class Named:
    """An attribute of StableHLO's own, e.g. `#stablehlo<comparison_direction LT>`.

    Attributes:
        name: its kind, e.g. `comparison_direction` or `gather`.
        value: its word, or its fields.
    """

    name: str
    value: Any


@dataclass(frozen=True)
class Operation:
    """One operation.

    Attributes:
        name: e.g. `stablehlo.add`.
        operands: values by name; result 2 of `%5` is `%5#2`.
        attributes: by name.
        regions: inner blocks.
        inputs: types of the operands.
        results: types of the results.
        result: name of the result, "" if there is none.
    """

    name: str
    operands: tuple[str, ...]
    attributes: Mapping[str, Attribute]
    regions: tuple["TextBlock", ...]
    inputs: tuple[TensorType, ...]
    results: tuple[TensorType, ...]
    result: str


@dataclass(frozen=True)
class TextBlock:
    """A sequence of operations; the last one returns.

    Attributes:
        arguments: names.
        types: of the arguments.
        operations: in order.
    """

    arguments: tuple[str, ...]
    types: tuple[TensorType, ...]
    operations: tuple[Operation, ...]


@dataclass(frozen=True)
class Program:
    """A traced function and those that it calls.

    Attributes:
        functions: by name; `main` is the function itself.
    """

    functions: Mapping[str, TextBlock] = field(default_factory=dict)

    @property
    def main(self) -> TextBlock:
        """The function itself."""
        return self.functions["main"]

    @property
    def results(self) -> tuple[TensorType, ...]:
        """Types of what it returns."""
        return self.main.operations[-1].inputs
