"""Python programs with syntax colours, as lines of HTML; a text that is no Python stays as it is."""

import builtins
import io
import keyword
import tokenize
from collections.abc import Iterator
from typing import Final

from markupsafe import Markup, escape

_CLASSES: Final = {tokenize.COMMENT: "tc", tokenize.STRING: "ts", tokenize.NUMBER: "tn"}
_BUILT_IN: Final = frozenset(dir(builtins))
LONGEST: Final = 400_000
"""Characters of a text that is coloured; a longer one is no program that anybody reads."""


def lines(source: str) -> list[Markup]:
    """Returns the lines of a program, escaped, with comments, strings, numbers, keywords and names in spans."""
    rows = source.split("\n")
    pieces: list[list[Markup]] = [[] for _ in rows]
    done = [0] * len(rows)
    if len(source) <= LONGEST:
        for row, start, end, name in _spans(source, rows):
            if start >= done[row]:
                pieces[row].append(escape(rows[row][done[row] : start]))
                pieces[row].append(Markup('<span class="{}">{}</span>').format(name, rows[row][start:end]))
                done[row] = end
    return [Markup("").join([*found, escape(rows[row][done[row] :])]) for row, found in enumerate(pieces)]


def _spans(source: str, rows: list[str]) -> Iterator[tuple[int, int, int, str]]:
    """Yields (row, first column, column behind the last, class) in the order of the text, as far as it is Python."""
    before = ""
    try:
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            name = _class(token, before)
            before = token.string
            if name:
                (first, start), (last, end) = token.start, token.end
                for row in range(first - 1, min(last, len(rows))):
                    left = start if row == first - 1 else 0
                    right = end if row == last - 1 else len(rows[row])
                    if left < right:
                        yield row, left, right, name
    except (tokenize.TokenError, SyntaxError):
        return


def _class(token: tokenize.TokenInfo, before: str) -> str:
    if token.type == tokenize.NAME:
        if keyword.iskeyword(token.string):
            return "tk"
        if before in ("def", "class"):
            return "tf"
        return "tb" if token.string in _BUILT_IN else ""
    # From Python 3.12 on a string with fields is several tokens, whose kinds have names of their own.
    if tokenize.tok_name[token.type].startswith(("FSTRING", "TSTRING")):
        return "ts"
    return _CLASSES.get(token.type, "")
