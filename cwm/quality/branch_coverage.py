"""Which branches of a program some games reach: the program counts them itself, inside its worker.

The program's text is rewritten so that every condition, loop body and handler leaves a mark when it is taken. What
it computes stays the same; nothing of it runs in the user's process.
"""

import ast
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

from cwm.quality.mutation_edits import MODULE
from cwm.sandbox.parent.host import Sandbox, Worker
from cwm.sandbox.wire.api import ProgramSource, Reply
from cwm.sandbox.wire.blame import blame
from cwm.suite.build import to_worker
from cwm.suite.types import UnitTest
from cwm.synthesis.candidate import TesterError

MARK: Final = "_branch_taken_"
TAKEN: Final = "branches_taken_by_now"
"""The function that a rewritten program has in addition: returns the numbers of its branches that were taken."""
SHOWN_TEXT: Final = 100
TESTS_SECONDS: Final = 600.0


@dataclass(frozen=True)
class Branch:
    """One way that a program can take.

    Attributes:
        number: its place in the list of all.
        function: qualified name of the function, or `<module>`.
        line: of the condition or statement, from 1.
        kind: `true` or `false` (of a condition), `entered` (a function or the body of a loop, handler or case).
        text: the condition, or the head of the statement.
    """

    number: int
    function: str
    line: int
    kind: str
    text: str

    def to_json(self) -> dict[str, Any]:
        """Returns the branch as JSON."""
        return asdict(self)


@dataclass(frozen=True)
class Instrumented:
    """A program that marks its branches.

    Attributes:
        source: the rewritten program.
        branches: all of them, by number.
    """

    source: str
    branches: tuple[Branch, ...]


@dataclass(frozen=True)
class Coverage:
    """Which branches were taken.

    Attributes:
        branches: all, by number.
        taken: numbers of those that were.
    """

    branches: tuple[Branch, ...]
    taken: frozenset[int]

    @property
    def missed(self) -> list[Branch]:
        """The branches that were not taken, in the order of the text."""
        left = [branch for branch in self.branches if branch.number not in self.taken]
        return sorted(left, key=lambda branch: (branch.line, branch.number))

    def to_json(self) -> dict[str, Any]:
        """Returns counts in all and by function, and the missed branches."""
        functions: dict[str, list[int]] = {}
        for branch in self.branches:
            counts = functions.setdefault(branch.function, [0, 0])
            counts[0] += branch.number in self.taken
            counts[1] += 1
        return {
            "branches": len(self.branches),
            "taken": len(self.taken),
            "functions": dict(sorted(functions.items())),
            "missed": [branch.to_json() for branch in self.missed],
        }


def instrument(source: str) -> Instrumented:
    """Rewrites a program so that it marks the branches that it takes.

    Raises:
        SyntaxError: it does not parse.
        ValueError: it uses one of the names that the marks need.
    """
    for name in (MARK, TAKEN):
        if name in source:
            raise ValueError(f"the program uses the name {name!r}, which marks its branches; rename it.")
    tree = ast.parse(source)
    rewriting = _Rewriting(source)
    rewritten = ast.fix_missing_locations(rewriting.visit(tree))
    # `from __future__` imports stand first, and a text at the very beginning is the program's description.
    split = sum(1 for _ in _head(rewritten.body))
    prelude = ast.parse(_PRELUDE)
    rewritten.body[split:split] = prelude.body
    return Instrumented(ast.unparse(rewritten), tuple(rewriting.branches))


_PRELUDE: Final = f"""
_taken_{MARK} = set()


def {MARK}(number, value, _taken=_taken_{MARK}):
    _taken.add(number if value else number + 1)
    return value


def {TAKEN}(_taken=_taken_{MARK}):
    return sorted(_taken)
"""


def _head(body: Sequence[ast.stmt]) -> list[ast.stmt]:
    found: list[ast.stmt] = []
    for number, statement in enumerate(body):
        text = number == 0 and isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        if not text and not (isinstance(statement, ast.ImportFrom) and statement.module == "__future__"):
            break
        found.append(statement)
    return found


class _Rewriting(ast.NodeTransformer):
    """Puts marks into a tree, and lists what they stand for."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._scopes: list[str] = []
        self.branches: list[Branch] = []

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return self._scope(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        return self._scope(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        self._scopes.append(node.name)
        self.generic_visit(node)
        self._scopes.pop()
        return node

    def visit_If(self, node: ast.If) -> ast.AST:
        return self._conditional(node)

    def visit_While(self, node: ast.While) -> ast.AST:
        return self._conditional(node)

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        return self._conditional(node)

    def visit_comprehension(self, node: ast.comprehension) -> ast.AST:
        tests = [self._condition(test) for test in node.ifs]
        self.generic_visit(node)
        node.ifs = [self._marked(number, test) for number, test in zip(tests, node.ifs, strict=True)]
        return node

    def visit_For(self, node: ast.For) -> ast.AST:
        return self._entered(node)

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> ast.AST:
        return self._entered(node)

    def visit_match_case(self, node: ast.match_case) -> ast.AST:
        number = self._branch(node.pattern.lineno, "entered", f"case {ast.unparse(node.pattern)}")
        self.generic_visit(node)
        node.body.insert(0, self._mark(number))
        return node

    def _scope(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.AST:
        self._scopes.append(node.name)
        number = self._branch(node.lineno, "entered", f"def {node.name}")
        for statement in node.body:
            self.visit(statement)
        described = ast.get_docstring(node, clean=False) is not None
        node.body.insert(int(described), self._mark(number))
        self._scopes.pop()
        return node

    def _conditional(self, node: ast.If | ast.While | ast.IfExp) -> ast.AST:
        if isinstance(node.test, ast.Constant):
            return self.generic_visit(node)
        number = self._condition(node.test)
        self.generic_visit(node)
        node.test = self._marked(number, node.test)
        return node

    def _entered(self, node: ast.For | ast.ExceptHandler) -> ast.AST:
        head = (ast.get_source_segment(self._source, node) or "").split("\n")[0]
        number = self._branch(node.lineno, "entered", head)
        self.generic_visit(node)
        node.body.insert(0, self._mark(number))
        return node

    def _condition(self, test: ast.expr) -> int:
        text = " ".join((ast.get_source_segment(self._source, test) or ast.unparse(test)).split())
        number = self._branch(test.lineno, "true", text)
        self._branch(test.lineno, "false", text)
        return number

    def _branch(self, line: int, kind: str, text: str) -> int:
        number = len(self.branches)
        shown = text if len(text) <= SHOWN_TEXT else f"{text[:SHOWN_TEXT]} …"
        self.branches.append(Branch(number, ".".join(self._scopes) or MODULE, line, kind, shown))
        return number

    @staticmethod
    def _marked(number: int, test: ast.expr) -> ast.expr:
        return ast.Call(ast.Name(MARK, ast.Load()), [ast.Constant(number), test], [])

    @classmethod
    def _mark(cls, number: int) -> ast.stmt:
        return ast.Expr(cls._marked(number, ast.Constant(True)))


def measure(
    program: ProgramSource, groups: Sequence[Sequence[UnitTest]], sandbox: Sandbox, seed: int = 0
) -> list[Coverage]:
    """Returns which branches of a program each group of tests takes, whether it passes them or not.

    Args:
        program: as it is; it is rewritten here.
        groups: e.g. the tests of one game each.
        sandbox: where it runs.
        seed: each test is seeded from it and its own id.

    Returns:
        One coverage a group. What a program does while it is loaded counts in all of them.

    Raises:
        TesterError: the rewritten program does not load or does not answer, or the sandbox failed.
        SandboxUnavailableError: no worker can be started.
    """
    marked = instrument(program.source)
    found = []
    with sandbox.start(replace(program, source=marked.source), seed) as worker:
        _checked(worker.loaded)
        for group in groups:
            found.append(Coverage(marked.branches, _taken(worker, group, seed, len(marked.branches))))
    return found


def _taken(worker: Worker, tests: Sequence[UnitTest], seed: int, branches: int) -> frozenset[int]:
    # Each request begins with a fresh namespace, and so with no marks.
    _checked(worker.run_tests([to_worker(test) for test in tests], seed=seed, timeout_s=TESTS_SECONDS))
    reply = worker.call(TAKEN, [], seed=seed)
    _checked(reply)
    numbers = reply.value
    # The answer may be written by the program: no more is believed of it than its form says.
    if not isinstance(numbers, list) or not all(type(number) is int and 0 <= number < branches for number in numbers):
        raise TesterError("the branches of a program could not be counted: it answered with something else.")
    return frozenset(numbers)


def _checked(reply: Reply) -> None:
    if fault := blame(reply):
        raise TesterError(f"the branches of a program could not be counted: {fault.problem}")
