"""Reads the text of a traced function: operations of one list, with known attributes and bounded sizes, or nothing.

The text comes from a process in which a language model's code ran, so nothing of it is believed. It is the generic form
of StableHLO, in which every operation looks alike. What is read here is all that there is: the functions that are
compiled are built anew from it (`cwm.twins.text.build`), so that no text of a program ever reaches a compiler.
"""

import re
from collections.abc import Mapping
from typing import Any, Final

from cwm.twins.text.language import (
    CALL,
    DTYPES,
    FUNCTION_RETURN,
    MOST_AXES,
    MOST_CHARACTERS,
    MOST_DEPTH,
    MOST_ELEMENTS,
    MOST_OPERATIONS,
    OPERATIONS,
    RETURN,
    Attribute,
    Bits,
    Dense,
    Named,
    Operation,
    Program,
    TensorType,
    TextBlock,
    TwinTextError,
)
from cwm.twins.text.words import Words

TENSOR: Final = re.compile(r"tensor<((?:[0-9]++x)*+)([a-z0-9]++)>", re.ASCII)


def read(text: str) -> Program:
    """Returns what a text says.

    Args:
        text: of one traced function, in StableHLO's generic form.

    Raises:
        TwinTextError: it holds anything else than the operations, attributes and sizes that are allowed.
    """
    if not isinstance(text, str) or len(text) > MOST_CHARACTERS:
        raise TwinTextError(f"the traced program has more than {MOST_CHARACTERS:,} characters; make it smaller")
    try:
        return _Reader(text).program()
    except RecursionError:
        raise TwinTextError("the traced program is nested too deeply") from None
    except TwinTextError:
        raise
    except (ValueError, OverflowError) as error:
        raise TwinTextError(f"the traced program is not accepted: {str(error)[:200]}") from None


class _Reader(Words):
    """Reads one text, token by token."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._depth = 0
        self._operations = 0

    def program(self) -> Program:
        self._operation_head("builtin.module")
        self._attributes()
        self._expect("(")
        self._expect("{")
        functions: dict[str, TextBlock] = {}
        while self._token == '"func.func"':
            name, block = self._function()
            if name in functions:
                self._refuse(f"the function {name!r:.60} is there twice")
            functions[name] = block
        if self._kind == "string":
            self._refuse(f"the operation {self._token:.80} is not allowed{_advice(self._string(self._token))}")
        self._expect("}")
        self._expect(")")
        if self._token == "{":
            self._fields("{", "}")
        self._expect(":")
        self._types()
        self._expect_kind("arrow")
        self._types()
        if self._kind != "end":
            self._refuse("something follows the module")
        if "main" not in functions:
            self._refuse("there is no function main")
        return Program(functions)

    def _function(self) -> tuple[str, TextBlock]:
        self._operation_head("func.func")
        name = self._attributes().get("sym_name")
        if not isinstance(name, str):
            self._refuse("a function has no name")
        self._expect("(")
        block = self._region(FUNCTION_RETURN)
        self._expect(")")
        self._expect(":")
        self._types()
        self._expect_kind("arrow")
        self._types()
        return name, block

    def _operation_head(self, name: str) -> None:
        if self._token != f'"{name}"':
            self._refuse(f"expected {name}")
        self._next()
        self._expect("(")
        self._expect(")")

    def _region(self, ends_with: str) -> TextBlock:
        self._depth += 1
        if self._depth > MOST_DEPTH:
            self._refuse("regions are nested too deeply")
        self._expect("{")
        arguments: list[str] = []
        types: list[TensorType] = []
        if self._kind == "block":
            self._next()
            self._expect("(")
            while self._token != ")":
                arguments.append(self._expect_kind("value"))
                self._expect(":")
                types.append(self._type())
                self._comma()
            self._expect(")")
            self._expect(":")
        operations: list[Operation] = []
        while self._token != "}":
            operations.append(self._operation())
            if operations[-1].name in (RETURN, FUNCTION_RETURN):
                break
        if not operations or operations[-1].name != ends_with:
            self._refuse(f"a block does not end with {ends_with}")
        self._expect("}")
        self._depth -= 1
        return TextBlock(tuple(arguments), tuple(types), tuple(operations))

    def _operation(self) -> Operation:
        self._operations += 1
        if self._operations > MOST_OPERATIONS:
            self._refuse(f"there are more than {MOST_OPERATIONS:,} operations; make the program smaller")
        result, count = "", 0
        if self._kind == "value":
            result, count = self._token, 1
            self._next()
            if self._token == ":":
                self._next()
                count = int(self._expect_kind("number"))
            self._expect("=")
        name = self._string(self._expect_kind("string"))
        if name not in OPERATIONS and name not in (CALL, RETURN, FUNCTION_RETURN):
            self._refuse(f"the operation {name!r:.80} is not allowed{_advice(name)}")
        operands = self._operands()
        attributes = self._attributes()
        regions: list[TextBlock] = []
        if self._token == "(":
            self._next()
            while True:
                regions.append(self._region(RETURN))
                if self._token != ",":
                    break
                self._next()
            self._expect(")")
        if self._token == "{":
            self._refuse("an operation has attributes that are not its own")
        self._expect(":")
        inputs = self._types()
        self._expect_kind("arrow")
        results = self._types()
        if len(inputs) != len(operands) or len(results) != count:
            self._refuse(f"{name} has other operands or results than its type says")
        return Operation(name, operands, attributes, tuple(regions), inputs, results, result)

    def _operands(self) -> tuple[str, ...]:
        found: list[str] = []
        self._expect("(")
        while self._token != ")":
            found.append(self._expect_kind("value"))
            self._comma()
        self._expect(")")
        return tuple(found)

    def _attributes(self) -> dict[str, Attribute]:
        """Reads `<{name = value, …}>` if it is there."""
        if self._token != "<":
            return {}
        self._next()
        found = self._fields("{", "}")
        self._expect(">")
        return found

    def _fields(self, opened: str, closed: str) -> dict[str, Attribute]:
        self._expect(opened)
        found: dict[str, Attribute] = {}
        while self._token != closed:
            name = self._token if self._kind == "word" else self._refuse("expected the name of an attribute")
            self._next()
            if name in found:
                self._refuse(f"the attribute {name!r:.40} is there twice")
            if self._token == "=":
                self._next()
                found[name] = self._attribute()
            else:
                found[name] = True
            self._comma()
        self._expect(closed)
        return found

    def _attribute(self) -> Attribute:
        self._depth += 1
        if self._depth > MOST_DEPTH:
            self._refuse("attributes are nested too deeply")
        value = self._one_attribute()
        self._depth -= 1
        return value

    def _one_attribute(self) -> Attribute:
        kind, token = self._kind, self._token
        if kind == "string":
            self._next()
            return self._string(token)
        if kind in ("symbol", "tensor"):
            return self._type() if kind == "tensor" else self._taken()
        if kind == "number":
            return self._typed_number()
        if kind == "hash":
            return self._named()
        if token == "[":
            return self._list()
        if token == "{":
            return self._fields("{", "}")
        if token == "(":
            self._types()
            self._expect_kind("arrow")
            self._types()
            return "function type"
        if token in ("true", "false"):
            self._next()
            return token == "true"
        if token == "unit":
            self._next()
            return True
        if token == "dense":
            return self._dense()
        if token == "array":
            return self._array()
        return self._refuse(f"an attribute {token!r:.60} is not allowed")

    def _typed_number(self) -> int | float:
        number = self._number(self._taken())
        if self._token == ":":
            self._next()
            if self._expect_kind("word") not in ("i64", "i32", "f32"):
                self._refuse("a number of another type than i64, i32 or f32")
        return number

    def _list(self) -> list[Attribute]:
        found: list[Attribute] = []
        self._expect("[")
        while self._token != "]":
            found.append(self._attribute())
            self._comma()
        self._expect("]")
        return found

    def _array(self) -> list[Any]:
        """Reads `array<i64: 1, 2>`."""
        self._next()
        self._expect("<")
        if self._expect_kind("word") not in ("i64", "i1"):
            self._refuse("an array attribute of another type than i64 or i1")
        found: list[Any] = []
        if self._token == ":":
            self._next()
            while self._token != ">":
                if self._kind == "word" and self._token not in ("true", "false"):
                    self._refuse(f"an array attribute holds {self._token!r:.40}")
                found.append(self._token == "true" if self._kind == "word" else self._number(self._token))
                self._next()
                self._comma()
        self._expect(">")
        return found

    def _named(self) -> Named:
        """Reads `#stablehlo<comparison_direction LT>` and `#stablehlo.gather<offset_dims = [1], …>`."""
        name = self._taken()
        if name == "#stablehlo":
            self._expect("<")
            kind, value = self._expect_kind("word"), self._expect_kind("word")
            self._expect(">")
            return Named(kind, value)
        if name in ("#stablehlo.gather", "#stablehlo.scatter", "#stablehlo.dot"):
            return Named(name.removeprefix("#stablehlo."), self._fields("<", ">"))
        return self._refuse(f"an attribute {name!r:.60} is not allowed")

    def _dense(self) -> Dense:
        self._next()
        self._expect("<")
        numbers: Any = []
        if self._token != ">":
            numbers = self._numbers()
        self._expect(">")
        self._expect(":")
        # Attributes such as the padding of a window are told in i64; what is computed with never is.
        kind = self._type({**DTYPES, "i64": "int64"})
        if isinstance(numbers, str):
            numbers = _bytes(numbers, kind)
        return Dense(numbers, kind)

    def _numbers(self) -> Any:
        if self._token == "[":
            self._depth += 1
            if self._depth > MOST_DEPTH:
                self._refuse("a constant is nested too deeply")
            self._next()
            found: list[Any] = []
            while self._token != "]":
                found.append(self._numbers())
                self._comma()
            self._expect("]")
            self._depth -= 1
            return found
        kind, token = self._kind, self._token
        self._next()
        if kind == "string":
            return self._string(token)
        if token in ("true", "false"):
            return token == "true"
        if kind != "number":
            self._refuse(f"a constant holds {token!r:.40}")
        # `0xFF800000` is how a float is told that has no decimal digits: its bits, apart from whole numbers.
        return Bits(int(token, 16)) if token.startswith("0x") else self._number(token)

    def _types(self) -> tuple[TensorType, ...]:
        if self._kind == "tensor":
            return (self._type(),)
        found: list[TensorType] = []
        self._expect("(")
        while self._token != ")":
            found.append(self._type())
            self._comma()
        self._expect(")")
        return tuple(found)

    def _type(self, dtypes: Mapping[str, str] = DTYPES) -> TensorType:
        token = self._expect_kind("tensor")
        match = TENSOR.fullmatch(token)
        if match is None or match[2] not in dtypes:
            kind = token if match is None else match[2]
            self._refuse(f"the type {kind!r:.40} is not allowed; use {', '.join(dict.fromkeys(DTYPES.values()))}")
        lengths = [part for part in match[1].split("x") if part]
        if len(lengths) > MOST_AXES or any(len(part) > 9 for part in lengths):
            self._refuse(f"an array of type {token:.60} has more than {MOST_AXES} axes, or is too long")
        found = TensorType(dtypes[match[2]], tuple(map(int, lengths)))
        if found.elements > MOST_ELEMENTS:
            self._refuse(f"an array of type {token:.60} has more than {MOST_ELEMENTS:,} numbers; make it smaller")
        return found

    def _number(self, token: str) -> int | float:
        try:
            return int(token) if token.lstrip("-").isdigit() else float(token)
        except ValueError:
            return self._refuse(f"{token!r:.40} is no number")

    def _string(self, token: str) -> str:
        return token[1:-1]

    def _comma(self) -> None:
        if self._token == "," and self._kind == "mark":
            self._next()
        elif self._token not in (")", "]", "}", ">"):
            self._refuse("expected a comma")


def _bytes(text: str, kind: TensorType) -> bytes:
    try:
        data = bytes.fromhex(text.removeprefix("0x"))
    except ValueError:
        raise TwinTextError("the traced program is not accepted: a constant is no hexadecimal text") from None
    if not text.startswith("0x") or not data:
        raise TwinTextError("the traced program is not accepted: a constant is no hexadecimal text")
    return data


def _advice(name: str) -> str:
    advice = {
        "stablehlo.custom_call": ": use plain jax.numpy, without jax.numpy.linalg, jax.random or callbacks",
        "sdy.mesh": ": nothing may be called back or printed",
        "chlo.top_k": ": use jnp.sort or jnp.argsort",
        "stablehlo.rng_bit_generator": ": nothing is random in a twin; chance comes in by the index of its outcome",
    }
    return advice.get(name, "")
