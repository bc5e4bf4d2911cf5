"""What can be said of a program without running it: quick feedback for a language model. It is no safety."""

import ast
import inspect
from collections.abc import Iterator, Sequence
from types import ModuleType

from cwm.interface import program

ALLOWED_MODULES = frozenset(
    {
        "bisect",
        "collections",
        "copy",
        "dataclasses",
        "enum",
        "fractions",
        "functools",
        "heapq",
        "itertools",
        "json",
        "math",
        "operator",
        "random",
        "re",
        "statistics",
        "string",
        "typing",
    }
)
"""Modules that a program may import."""
MAX_SOURCE_BYTES = 200_000
NO_FUNCTIONS = (ast.Constant, ast.List, ast.Tuple, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp)
"""Expressions whose value cannot be called."""
FORBIDDEN_CALLS = frozenset({"exec", "eval", "open", "__import__", "compile", "input", "breakpoint"})
FORBIDDEN_ATTRIBUTES = frozenset(
    {
        *("__subclasses__", "__globals__", "__builtins__", "__code__", "__bases__", "__mro__"),
        # From a frame of its own a program walks to those of the test runner, which hold the expected answers.
        *("__traceback__", "tb_frame", "f_back", "f_locals", "f_globals", "gi_frame", "cr_frame", "ag_frame"),
    }
)


def check(
    source: str, required: Sequence[str], instead: ModuleType | None = None, further: frozenset[str] = frozenset()
) -> list[str]:
    """Returns what is wrong with a program, one sentence each; [] if nothing is.

    Args:
        source: the program.
        required: names of the functions of `cwm.interface.program` that it must define.
        instead: a module whose declarations come before those of `cwm.interface.program`, None for none.
        further: modules that it may import beside `ALLOWED_MODULES`.
    """
    size = len(source.encode("utf-8", "replace"))
    if size > MAX_SOURCE_BYTES:
        return [f"the program has {size:,} bytes; at most {MAX_SOURCE_BYTES:,} are taken: write a shorter one"]
    try:
        tree = ast.parse(source)
    except SyntaxError as error:
        text = f": {error.text.strip()[:200]}" if error.text else ""
        return [f"line {error.lineno or 1}: syntax error: {error.msg}{text}"]
    except (ValueError, RecursionError, MemoryError) as error:
        return [f"the program cannot be parsed: {type(error).__name__}: {error}"]
    problems = [*_usages(tree, ALLOWED_MODULES | further), *_functions(tree, required, instead)]
    return list(dict.fromkeys(problems))


def parameters(name: str, instead: ModuleType | None = None) -> tuple[str, ...]:
    """Returns the parameter names of a function of `cwm.interface.program`.

    Args:
        name: of the function.
        instead: see `check`.

    Raises:
        KeyError: there is no such function.
    """
    # Its own classes alone: an alias of `str` has functions, too.
    named = "" if instead is None else instead.__name__
    found = [] if instead is None else [item for item in vars(instead).values() if inspect.isclass(item)]
    own = [item for item in found if item.__module__ == named]
    for protocol in (
        *own,
        program.TransitionProgram,
        program.HiddenHistoryProgram,
        program.ValueProgram,
        program.PolicyProgram,
    ):
        function = vars(protocol).get(name)
        if function is not None:
            return tuple(inspect.signature(function).parameters)[1:]
    raise KeyError(name)


def _usages(tree: ast.Module, allowed: frozenset[str]) -> Iterator[str]:
    modules = {
        alias.asname or alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            refused = [alias.name for alias in node.names if alias.name.split(".")[0] not in allowed]
            yield from (_refused_import(node.lineno, name, allowed) for name in refused)
        elif isinstance(node, ast.ImportFrom):
            yield from _import_from(node, allowed)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in FORBIDDEN_CALLS:
            yield f"line {node.lineno}: {node.func.id}() is not available to a program"
        elif isinstance(node, ast.Attribute):
            yield from _attribute(node, modules)


def _refused_import(line: int, module: str, allowed: frozenset[str]) -> str:
    return f"line {line}: the module {module!r} is not available; available are {', '.join(sorted(allowed))}"


def _import_from(node: ast.ImportFrom, allowed: frozenset[str]) -> Iterator[str]:
    module = "." * node.level + (node.module or "")
    if node.module == "__future__" and not node.level:
        return
    if node.level or module.split(".")[0] not in allowed:
        yield _refused_import(node.lineno, module, allowed)
    for alias in node.names:
        if alias.name.startswith("_"):
            yield f"line {node.lineno}: {module}.{alias.name} is private and not available to a program"


def _attribute(node: ast.Attribute, modules: set[str]) -> Iterator[str]:
    private = isinstance(node.value, ast.Name) and node.value.id in modules and node.attr.startswith("_")
    if private or node.attr in FORBIDDEN_ATTRIBUTES:
        yield f"line {node.lineno}: {ast.unparse(node)[:100]} is not available to a program"


def _functions(tree: ast.Module, required: Sequence[str], instead: ModuleType | None) -> Iterator[str]:
    defined = {name: node for node in _module_level(tree.body) for name in _bound(node)}
    for name in required:
        node = defined.get(name)
        if node is None:
            yield f"the function {name}({', '.join(parameters(name, instead))}) is missing"
        elif isinstance(node, ast.AsyncFunctionDef):
            yield f"line {node.lineno}: {name} must be a plain function, not async"
        elif isinstance(getattr(node, "value", None), NO_FUNCTIONS):
            yield f"line {node.lineno}: {name} must be a function: {name}({', '.join(parameters(name, instead))})"
        elif isinstance(node, ast.FunctionDef):
            yield from _signature(node, parameters(name, instead))
            if _is_placeholder(node):
                yield f"line {node.lineno}: {name} is only a placeholder: write its body"


def _module_level(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    for node in body:
        yield node
        if isinstance(node, ast.If | ast.Try | ast.With):
            yield from _module_level(node.body)
            yield from _module_level(getattr(node, "orelse", []))


def _bound(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return [node.name]
    if isinstance(node, ast.Assign):
        return [target.id for target in node.targets if isinstance(target, ast.Name)]
    if isinstance(node, ast.AnnAssign) and node.value is not None and isinstance(node.target, ast.Name):
        return [node.target.id]
    if isinstance(node, ast.ImportFrom):
        return [alias.asname or alias.name for alias in node.names]
    return []


def _signature(node: ast.FunctionDef, wanted: Sequence[str]) -> Iterator[str]:
    arguments = node.args
    positional = len(arguments.posonlyargs) + len(arguments.args)
    needed = positional - len(arguments.defaults)
    keyword_only = [
        item for item, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if not default
    ]
    too_few = positional < len(wanted) and arguments.vararg is None
    if too_few or needed > len(wanted) or keyword_only:
        yield (
            f"line {node.lineno}: {node.name} must take {len(wanted)} positional "
            f"argument{'s' if len(wanted) > 1 else ''}: {node.name}({', '.join(wanted)})"
        )


def _is_placeholder(node: ast.FunctionDef) -> bool:
    body = [statement for statement in node.body if not _is_constant(statement)]
    return all(isinstance(statement, ast.Pass) or _raises_not_implemented(statement) for statement in body)


def _is_constant(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _raises_not_implemented(statement: ast.stmt) -> bool:
    if not isinstance(statement, ast.Raise) or statement.exc is None:
        return False
    raised = statement.exc.func if isinstance(statement.exc, ast.Call) else statement.exc
    return isinstance(raised, ast.Name) and raised.id == "NotImplementedError"
