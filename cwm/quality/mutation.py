"""Mutants: a program broken in small, systematic ways, one change each, to see whether its tests notice.

Mutants that the compiler cannot tell from the program, or from each other, are left out. Nothing is run here.
"""

import difflib
import random
import warnings
from dataclasses import dataclass
from types import CodeType
from typing import Any

from cwm.quality.mutation_edits import Edit, edits


@dataclass(frozen=True)
class Mutant:
    """A program with one change.

    Attributes:
        operator: kind of change, one of `OPERATORS`.
        function: that holds it, or `MODULE`.
        line: of the change, from 1.
        source: the whole changed program.
        diff: the lines that differ, first those of the program (`-`), then the mutant's (`+`).
    """

    operator: str
    function: str
    line: int
    source: str
    diff: tuple[str, ...]


@dataclass(frozen=True)
class Drawn:
    """A sample of all mutants of one program.

    Attributes:
        mutants: in the order of the program's text.
        places: how many changes the operators know in all, equivalent-looking ones included.
    """

    mutants: tuple[Mutant, ...]
    places: int


def draw(source: str, count: int, seed: int) -> Drawn:
    """Draws mutants uniformly, without any two that compile to the same code.

    Args:
        source: the program.
        count: how many at most; a short program may have fewer.
        seed: decides which.

    Raises:
        SyntaxError: the program does not parse.
    """
    text = source.replace("\r\n", "\n").replace("\r", "\n")
    encoded = text.encode("utf-8")
    every = edits(text)
    shuffled = list(every)
    random.Random(f"mutants/{seed}").shuffle(shuffled)
    known = {_fingerprint(text)}
    chosen: list[tuple[Edit, str]] = []
    for edit in shuffled:
        if len(chosen) == count:
            break
        changed = edit.applied(encoded).decode("utf-8")
        fingerprint = _fingerprint(changed)
        if fingerprint is not None and fingerprint not in known:
            known.add(fingerprint)
            chosen.append((edit, changed))
    chosen.sort(key=lambda pair: (pair[0].start, pair[0].end, pair[0].operator, pair[0].text))
    return Drawn(tuple(_mutant(edit, text, changed) for edit, changed in chosen), len(every))


def _mutant(edit: Edit, text: str, changed: str) -> Mutant:
    lines = difflib.unified_diff(text.split("\n"), changed.split("\n"), lineterm="", n=0)
    shown = [line for line in lines if not line.startswith(("---", "+++", "@@"))]
    removed = [line for line in shown if line.startswith("-")]
    added = [line for line in shown if line.startswith("+")]
    return Mutant(edit.operator, edit.function, edit.line, changed, (*removed, *added))


def _fingerprint(source: str) -> Any:
    """Returns what decides how a program runs, without its line numbers; None if it does not compile."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        try:
            return _content(compile(source, "<mutant>", "exec", dont_inherit=True))
        except (SyntaxError, ValueError):
            return None


def _content(code: CodeType) -> tuple[Any, ...]:
    return (
        code.co_code,
        code.co_exceptiontable,
        tuple(map(_constant, code.co_consts)),
        code.co_names,
        code.co_varnames,
        code.co_freevars,
        code.co_cellvars,
        code.co_name,
    )


def _constant(value: Any) -> Any:
    if isinstance(value, CodeType):
        return _content(value)
    if isinstance(value, frozenset):
        return "frozenset", tuple(sorted(map(repr, value)))
    if isinstance(value, tuple):
        return tuple(map(_constant, value))
    # 1, 1.0 and True are equal and still not the same; so are the zeros.
    return type(value).__name__, repr(value)
