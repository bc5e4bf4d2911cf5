"""How much of a program could have been copied: the longest run of tokens that it shares with our own source.

Comments, line breaks and indentation do not count; names, operators, numbers and strings do.
"""

import functools
import io
import sys
import tokenize
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

_DROPPED = frozenset(
    {
        tokenize.COMMENT,
        tokenize.NL,
        tokenize.NEWLINE,
        tokenize.INDENT,
        tokenize.DEDENT,
        tokenize.ENCODING,
        tokenize.ENDMARKER,
    }
)

MOST_FILES = 2048
"""So many files' tokens are remembered: a process that reports on several runs compares all with the same source."""


@dataclass(frozen=True)
class Token:
    """One token and the line it stands on (1-based)."""

    text: str
    line: int


@dataclass(frozen=True)
class SharedRun:
    """The longest run of tokens that a program shares with a set of files.

    Attributes:
        length: tokens; 0 where nothing is shared.
        program_tokens: tokens of the whole program.
        file: the file that shares the run, "" if none.
        file_line: first line of the run there.
        program_line: first line of the run in the program.
        text: the run, tokens joined by single spaces.
    """

    length: int
    program_tokens: int
    file: str = ""
    file_line: int = 0
    program_line: int = 0
    text: str = ""


def tokens(source: str) -> list[Token]:
    """Returns the tokens of Python `source` that count, up to the first place that cannot be tokenised."""
    found: list[Token] = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.type not in _DROPPED and token.string.strip():
                found.append(Token(token.string, token.start[0]))
    except (tokenize.TokenError, IndentationError, SyntaxError):
        # A broken program is compared as far as it goes.
        return found
    return found


def longest_shared_run(program: str, files: Iterable[tuple[str, str]]) -> SharedRun:
    """Returns the longest run of tokens that `program` shares with any of `files`; on ties the first found.

    Args:
        program: Python source.
        files: (name, Python source) pairs; a run never crosses from one file into the next.
    """
    return longest_shared_runs([program], files)[0]


def longest_shared_runs(programs: Iterable[str], files: Iterable[tuple[str, str]]) -> list[SharedRun]:
    """Returns `longest_shared_run` of each program; a file is tokenised once in a process."""
    read = list(files)
    return [_longest(program, read) for program in programs]


@functools.lru_cache(maxsize=MOST_FILES)
def _texts(source: str) -> tuple[str, ...]:
    """Returns the texts of the tokens that count, each text held once however often it stands anywhere."""
    return tuple(sys.intern(token.text) for token in tokens(source))


def _longest(program: str, files: Sequence[tuple[str, str]]) -> SharedRun:
    own = tokens(program)
    automaton = _SuffixAutomaton([token.text for token in own])
    best = SharedRun(0, len(own))
    for name, theirs in files:
        length, end, own_end = automaton.longest_match(_texts(theirs))
        if length > best.length:
            run = own[own_end - length + 1 : own_end + 1]
            first = tokens(theirs)[end - length + 1]
            best = SharedRun(length, len(own), name, first.line, run[0].line, " ".join(token.text for token in run))
    return best


def source_files(folders: Sequence[Path], root: Path | None = None) -> list[tuple[str, str]]:
    """Returns (name, text) of every `.py` file under `folders`, sorted by name.

    Args:
        folders: where to look, recursively.
        root: names are relative to it where given.
    """
    paths = sorted({path for folder in folders for path in folder.rglob("*.py")})
    return [
        (str(path.relative_to(root)) if root is not None else str(path), path.read_text(encoding="utf-8"))
        for path in paths
    ]


class _SuffixAutomaton:
    """Accepts every run of tokens of one sequence; built in linear time."""

    def __init__(self, sequence: Sequence[str]) -> None:
        self._next: list[dict[str, int]] = [{}]
        self._link = [-1]
        self._length = [0]
        self._end = [-1]
        last = 0
        for position, item in enumerate(sequence):
            last = self._extend(last, item, position)

    def _add(self, edges: dict[str, int], link: int, length: int, end: int) -> int:
        self._next.append(edges)
        self._link.append(link)
        self._length.append(length)
        self._end.append(end)
        return len(self._next) - 1

    def _extend(self, last: int, item: str, position: int) -> int:
        current = self._add({}, 0, self._length[last] + 1, position)
        state = last
        while state != -1 and item not in self._next[state]:
            self._next[state][item] = current
            state = self._link[state]
        if state == -1:
            return current
        target = self._next[state][item]
        if self._length[state] + 1 == self._length[target]:
            self._link[current] = target
            return current
        clone = self._add(dict(self._next[target]), self._link[target], self._length[state] + 1, self._end[target])
        while state != -1 and self._next[state].get(item) == target:
            self._next[state][item] = clone
            state = self._link[state]
        self._link[target] = self._link[current] = clone
        return current

    def longest_match(self, sequence: Sequence[str]) -> tuple[int, int, int]:
        """Returns (length, end index in `sequence`, end index in the own sequence) of the longest shared run."""
        best = (0, -1, -1)
        state = length = 0
        for index, item in enumerate(sequence):
            while state and item not in self._next[state]:
                state = self._link[state]
                length = self._length[state]
            if item in self._next[state]:
                state = self._next[state][item]
                length += 1
            if length > best[0]:
                best = (length, index, self._end[state])
        return best
