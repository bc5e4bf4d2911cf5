"""The prompt's interface section, rendered from `cwm.interface.program` itself, so that the two cannot drift apart."""

import ast
import inspect
import textwrap
from collections.abc import Sequence
from types import ModuleType

from cwm.interface import program

ALIASES = ("Action", "State", "PlayerObservation")
"""Type names that the signatures use; a program may use them too, or none at all."""


class UnknownFunctionError(ValueError):
    """The program interface has no function of that name."""


def functions() -> tuple[str, ...]:
    """Returns the names of all functions that `cwm.interface.program` declares, in its order."""
    return tuple(_declared(program))


def render(names: Sequence[str], instead: ModuleType | None = None) -> str:
    """Returns signatures and docstrings of `names` as Python text, as module-level functions.

    Args:
        names: function names, in the order wanted.
        instead: a module whose declarations come before those of `cwm.interface.program`, None for none.

    Raises:
        UnknownFunctionError: a name is declared nowhere.
    """
    declared = _declared(program) | ({} if instead is None else _declared(instead))
    unknown = [name for name in names if name not in declared]
    if unknown:
        raise UnknownFunctionError(f"no such program functions: {unknown}; declared are {sorted(declared)}")
    return "\n\n".join([aliases(instead), *(_function_text(declared[name]) for name in names)])


def aliases(instead: ModuleType | None = None) -> str:
    """Returns the type aliases as Python text, e.g. `Action = str`.

    Args:
        instead: a module that lists its own in `ALIASES`; else they are those of `cwm.interface.program`.
    """
    own: Sequence[str] | None = getattr(instead, "ALIASES", None)
    tree = ast.parse(inspect.getsource(program if own is None or instead is None else instead))
    found = {
        node.target.id: f"{node.target.id} = {ast.unparse(node.value)}"
        for node in tree.body
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None
    }
    return "\n".join(found[name] for name in own or ALIASES)


def _declared(module: ModuleType) -> dict[str, ast.FunctionDef]:
    classes = [node for node in ast.parse(inspect.getsource(module)).body if isinstance(node, ast.ClassDef)]
    return {node.name: node for cls in classes for node in cls.body if isinstance(node, ast.FunctionDef)}


def _function_text(node: ast.FunctionDef) -> str:
    parameters = ", ".join(
        argument.arg if argument.annotation is None else f"{argument.arg}: {ast.unparse(argument.annotation)}"
        for argument in node.args.args
        if argument.arg != "self"
    )
    result = "" if node.returns is None else f" -> {ast.unparse(node.returns)}"
    docstring = inspect.cleandoc(ast.get_docstring(node) or "")
    body = textwrap.indent(f'"""{docstring}"""', "    ")
    return f"def {node.name}({parameters}){result}:\n{body}"
