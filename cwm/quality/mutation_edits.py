"""Every small systematic change that can be made to a program, as an edit of its text.

The program is read with `ast` and changed in its own text, so that lines keep their numbers and a change can be shown
as the one line that differs. Nothing of the program is run.
"""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

MODULE: Final = "<module>"
"""Names the place of code outside functions."""

COMPARISON: Final = "comparison swapped"
ARITHMETIC: Final = "arithmetic swapped"
LOGIC: Final = "and/or swapped"
CONSTANT: Final = "constant changed"
CONDITION: Final = "condition negated"
DELETION: Final = "statement deleted"
BRANCHES: Final = "branches swapped"
RETURN: Final = "return value changed"
INDEX: Final = "index shifted"
OPERATORS: Final = (COMPARISON, ARITHMETIC, LOGIC, CONSTANT, CONDITION, DELETION, BRANCHES, RETURN, INDEX)

_COMPARISONS: Final[dict[type[ast.cmpop], tuple[str, str, str]]] = {
    ast.Lt: ("<", "<=", ">="),
    ast.LtE: ("<=", "<", ">"),
    ast.Gt: (">", ">=", "<="),
    ast.GtE: (">=", ">", "<"),
    ast.Eq: ("==", "!=", "!="),
    ast.NotEq: ("!=", "==", "=="),
    ast.In: ("in", "not in", "not in"),
    ast.NotIn: (r"not\s+in", "in", "in"),
    ast.Is: ("is", "is not", "is not"),
    ast.IsNot: (r"is\s+not", "is", "is"),
}
"""By comparison: its pattern, what it is swapped for, and its negation."""
_ARITHMETIC: Final[dict[type[ast.operator], tuple[str, str]]] = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "+"),
    ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "%"),
    ast.Mod: ("%", "//"),
    ast.Pow: ("**", "*"),
    ast.LShift: ("<<", ">>"),
    ast.RShift: (">>", "<<"),
    ast.BitAnd: ("&", "|"),
    ast.BitOr: ("|", "&"),
    ast.BitXor: ("^", "|"),
}
_BEFORE_OPERATOR: Final = re.compile(r"(?:[\s)\\]|#[^\n]*\n)*")
_BINDS_TIGHTER: Final = (
    *(ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.Attribute, ast.Subscript, ast.Starred),
    *(ast.comprehension, ast.NamedExpr, ast.Await),
)
"""Below these an expression that is no name or call stands in brackets."""
_TYPE_NAMES: Final = frozenset(
    {"dict", "list", "tuple", "set", "frozenset", "Optional", "Union", "Callable", "Literal"}
)


@dataclass(frozen=True)
class Edit:
    """One change to a program's text.

    Attributes:
        operator: one of `OPERATORS`.
        function: qualified name of the function that holds it, or `MODULE`.
        line: of the change, from 1.
        start: first byte that is replaced, in UTF-8.
        end: first byte after.
        text: what takes its place.
    """

    operator: str
    function: str
    line: int
    start: int
    end: int
    text: str

    def applied(self, source: bytes) -> bytes:
        """Returns the changed program."""
        return source[: self.start] + self.text.encode("utf-8") + source[self.end :]


def edits(source: str) -> list[Edit]:
    """Returns every change that the operators know, in the order of the text.

    Docstrings, annotations, decorators, texts and formatted texts stay as they are.

    Args:
        source: a program with line ends of one character.

    Raises:
        SyntaxError: it does not parse.
    """
    text = source.encode("utf-8")
    found = _Finder(text).of_block(ast.parse(source), MODULE)
    real = [edit for edit in found if edit.applied(text) != text]
    return sorted(real, key=lambda edit: (edit.start, edit.end, OPERATORS.index(edit.operator), edit.text))


class _Finder:
    """Finds the edits of one program."""

    def __init__(self, text: bytes) -> None:
        self._text = text
        self._lines = [0]
        for line in self._text.split(b"\n"):
            self._lines.append(self._lines[-1] + len(line) + 1)

    def of_block(self, scope: ast.AST, name: str) -> Iterator[Edit]:
        """Yields the edits of a module's, function's or class's body."""
        bound = Counter(_bound_names(scope))
        for child in _children(scope):
            yield from self._of(child, scope, name, bound)

    def _of(self, node: ast.AST, parent: ast.AST, name: str, bound: Counter[str]) -> Iterator[Edit]:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield from self.of_block(node, node.name if name == MODULE else f"{name}.{node.name}")
            return
        if isinstance(node, ast.JoinedStr) or _is_type(node):
            return
        yield from self._own(node, parent, name, bound)
        for child in _children(node):
            yield from self._of(child, node, name, bound)

    def _own(self, node: ast.AST, parent: ast.AST, name: str, bound: Counter[str]) -> Iterator[Edit]:
        match node:
            case ast.Compare():
                yield from self._comparisons(node, name)
            case ast.BinOp():
                yield from self._arithmetic(node, parent, name)
            case ast.BoolOp():
                yield from self._logic(node, parent, name)
            case ast.Constant():
                yield from self._constants(node, parent, name)
            case ast.If() | ast.While() | ast.IfExp() | ast.Assert():
                yield from self._conditions(node, name)
            case ast.comprehension():
                for test in node.ifs:
                    yield self._negated(test, CONDITION, name)
            case ast.Return():
                yield from self._returns(node, name)
            case ast.Subscript() | ast.Slice() | ast.Call():
                yield from self._indices(node, name)
        if isinstance(node, ast.stmt) and _may_go(node, bound):
            yield self._edit(DELETION, name, node, "pass")

    def _comparisons(self, node: ast.Compare, name: str) -> Iterator[Edit]:
        left = node.left
        for operator, right in zip(node.ops, node.comparators, strict=True):
            pattern, swapped, _ = _COMPARISONS[type(operator)]
            start, end = self._token(left, right, pattern)
            yield Edit(COMPARISON, name, self._line(start), start, end, swapped)
            left = right

    def _arithmetic(self, node: ast.BinOp, parent: ast.AST, name: str) -> Iterator[Edit]:
        if type(node.op) not in _ARITHMETIC or any(map(_is_literal_text, (node.left, node.right))):
            return
        token, swapped = _ARITHMETIC[type(node.op)]
        yield self._retold(
            ARITHMETIC, name, node, parent, [self._token(node.left, node.right, re.escape(token))], swapped
        )

    def _logic(self, node: ast.BoolOp, parent: ast.AST, name: str) -> Iterator[Edit]:
        token, swapped = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        pairs = zip(node.values, node.values[1:], strict=False)
        yield self._retold(LOGIC, name, node, parent, [self._token(one, two, token) for one, two in pairs], swapped)

    def _constants(self, node: ast.Constant, parent: ast.AST, name: str) -> Iterator[Edit]:
        value = node.value
        if isinstance(value, bool):
            yield self._edit(CONSTANT, name, node, repr(not value))
        elif isinstance(value, int):
            for other in (value + 1, value - 1):
                torn = other < 0 and isinstance(parent, ast.BinOp | ast.UnaryOp | ast.Attribute)
                yield self._edit(CONSTANT, name, node, f"({other})" if torn else str(other))
        elif isinstance(value, float) and abs(value) < 1e15:
            yield self._edit(CONSTANT, name, node, repr(value + 1.0))

    def _conditions(self, node: ast.If | ast.While | ast.IfExp | ast.Assert, name: str) -> Iterator[Edit]:
        chained = isinstance(node, ast.If) and len(node.orelse) == 1 and self._is_elif(node.orelse[0])
        # Where there is another branch, negating the condition is swapping the two.
        swaps = isinstance(node, ast.IfExp) or (isinstance(node, ast.If) and node.orelse and not chained)
        yield self._negated(node.test, BRANCHES if swaps else CONDITION, name)
        if isinstance(node, ast.If) and chained and isinstance(node.orelse[0], ast.If):
            yield from self._exchanged(node.body, node.orelse[0].body, name)

    def _returns(self, node: ast.Return, name: str) -> Iterator[Edit]:
        match node.value:
            case None | ast.Constant():
                return
            case ast.List() | ast.ListComp():
                yield self._edit(RETURN, name, node.value, "[]")
            case ast.Dict() | ast.DictComp():
                yield self._edit(RETURN, name, node.value, "{}")
            case ast.BoolOp() | ast.Compare():
                yield self._negated(node.value, RETURN, name)
            case _:
                yield self._edit(RETURN, name, node.value, "None")

    def _indices(self, node: ast.Subscript | ast.Slice | ast.Call, name: str) -> Iterator[Edit]:
        shifted: list[ast.expr | None] = []
        if isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Slice):
            shifted = [node.slice]
        elif isinstance(node, ast.Slice):
            shifted = [node.lower, node.upper]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range":
            shifted = list(node.args[:2])
        for index in shifted:
            if isinstance(index, ast.Name | ast.Attribute | ast.Call | ast.Subscript | ast.BinOp):
                text = self._segment(index)
                yield self._edit(INDEX, name, index, f"{text if not isinstance(index, ast.BinOp) else f'({text})'} + 1")

    def _exchanged(self, first: list[ast.stmt], second: list[ast.stmt], name: str) -> Iterator[Edit]:
        spans = [(self._span(body[0])[0], self._span(body[-1])[1]) for body in (first, second)]
        (start, middle), (other, end) = spans
        if first[0].col_offset != second[0].col_offset:
            return
        between = self._decoded(middle, other)
        text = self._decoded(other, end) + between + self._decoded(start, middle)
        yield Edit(BRANCHES, name, first[0].lineno, start, end, text)

    def _negated(self, test: ast.expr, operator: str, name: str) -> Edit:
        if isinstance(test, ast.Compare) and len(test.ops) == 1:
            pattern, _, inverse = _COMPARISONS[type(test.ops[0])]
            start, end = self._token(test.left, test.comparators[0], pattern)
            return Edit(operator, name, self._line(start), start, end, inverse)
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            return self._edit(operator, name, test, f"({self._segment(test.operand)})")
        plain = isinstance(test, ast.Name | ast.Call | ast.Attribute | ast.Subscript)
        text = self._segment(test)
        return self._edit(operator, name, test, f"(not {text})" if plain else f"(not ({text}))")

    def _retold(
        self, operator: str, name: str, node: ast.expr, parent: ast.AST, tokens: list[tuple[int, int]], swapped: str
    ) -> Edit:
        """Returns the edit that writes an expression with other tokens, in brackets where it could be torn apart."""
        start, end = self._span(node)
        text, place = "", start
        for token_start, token_end in tokens:
            text += self._decoded(place, token_start) + swapped
            place = token_end
        text += self._decoded(place, end)
        return Edit(operator, name, self._line(tokens[0][0]), start, end, f"({text})" if _tight(parent) else text)

    def _token(self, left: ast.expr, right: ast.expr, pattern: str) -> tuple[int, int]:
        """Returns where the operator between two operands stands, in bytes."""
        start, end = self._span(left)[1], self._span(right)[0]
        between = self._decoded(start, end)
        skipped = _BEFORE_OPERATOR.match(between)
        found = re.compile(pattern).match(between, skipped.end() if skipped else 0)
        if found is None:
            raise ValueError(f"no operator {pattern!r} stands in {between!r}; the positions of `ast` have changed.")
        before = start + len(between[: found.start()].encode("utf-8"))
        return before, before + len(found.group().encode("utf-8"))

    def _edit(self, operator: str, name: str, node: ast.expr | ast.stmt, text: str) -> Edit:
        return Edit(operator, name, node.lineno, *self._span(node), text)

    def _span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        if node.end_lineno is None or node.end_col_offset is None:
            raise ValueError(f"the parser gave no end of the node in line {node.lineno}.")
        return self._lines[node.lineno - 1] + node.col_offset, self._lines[node.end_lineno - 1] + node.end_col_offset

    def _segment(self, node: ast.expr) -> str:
        return self._decoded(*self._span(node))

    def _decoded(self, start: int, end: int) -> str:
        return self._text[start:end].decode("utf-8")

    def _line(self, place: int) -> int:
        return self._text.count(b"\n", 0, place) + 1

    def _is_elif(self, statement: ast.stmt) -> bool:
        return isinstance(statement, ast.If) and self._decoded(*self._span(statement)).startswith("elif")


def _children(node: ast.AST) -> Iterator[ast.AST]:
    """Yields the parts that may be changed."""
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns", "decorator_list", "type_params"):
            continue
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, ast.AST):
                yield part


def _is_type(node: ast.AST) -> bool:
    return isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id in _TYPE_NAMES


def _is_literal_text(node: ast.expr) -> bool:
    """Whether an operand is written as a text or a list: arithmetic other than its own fails on it at once."""
    texts = isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)
    return texts or isinstance(node, ast.JoinedStr | ast.List | ast.ListComp | ast.Tuple)


def _tight(parent: ast.AST) -> bool:
    return isinstance(parent, _BINDS_TIGHTER)


def _bound_names(scope: ast.AST) -> Iterator[str]:
    """Yields every name that a scope binds, once each time."""
    for node in ast.walk(scope):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.arg):
            yield node.arg


def _may_go(node: ast.stmt, bound: Counter[str]) -> bool:
    """Whether a program without the statement may still run: names that nothing else binds stay bound."""
    match node:
        case ast.Expr():
            return not isinstance(node.value, ast.Constant)
        case ast.Assign():
            return all(bound[name] > 1 for target in node.targets for name in _bound_names(target))
        case ast.AugAssign() | ast.Delete() | ast.Continue() | ast.Break() | ast.Raise() | ast.Assert():
            return True
    return False
