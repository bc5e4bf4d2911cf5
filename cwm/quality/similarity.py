"""How much of a program could have been copied: the longest run of tokens that it shares with our own source.

Comments, line breaks and indentation do not count; names, operators, numbers and strings do.
"""

import bisect
import functools
import io
import itertools
import re
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

PIECE = 10
"""What a prompt holds of a program counts from so many tokens on: shorter runs are in any long text."""

_WORD = re.compile(
    r"""
    (?: \b [rbfRBF]{1,2} )? (?: "{3} [\s\S]*? "{3} | "(?:[^"\\\n]|\\.)*" | '(?:[^'\\\n]|\\.)*' )
    | \d+\.\d+ | \w+ | -> | := | \*\*=? | //=? | <<=? | >>=? | [-+*/%&|^=!<>]= | [^\w\s]
    """,
    re.VERBOSE,
)
"""A token of Python as prose may hold it, in which a tokenizer would stop at the first apostrophe."""

SEED = 8
"""Runs that are at least so long are found by their first tokens, which is fast; shorter ones are rare."""

_QUOTED = (
    "|".join(
        rf"{quote}[^{quote[0]}\\]*(?:(?:\\.|{inner})[^{quote[0]}\\]*)*{quote}"
        for quote, inner in (("'''", "'(?!'')"), ('"""', '"(?!"")'))
    )
    + "|"
    + "|".join(rf"{quote}[^{quote}\\]*(?:\\.[^{quote}\\]*)*{quote}" for quote in ("'", '"'))
)
_PIECE = re.compile(
    rf"""\#[^\n]*|\\\n
    |((?:[bB][rR]?|[rR][bBfF]?|[fF][rR]?|[uU])?(?:{_QUOTED})
    |0[xX][\da-fA-F_]+|0[bB][01_]+|0[oO][0-7_]+
    |(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:[eE][-+]?\d[\d_]*)?[jJ]?
    |\w+|\.\.\.|\*\*=?|//=?|>>=?|<<=?|->|:=|[-+*/%@&|^=<>!]=|\S)""",
    re.DOTALL | re.VERBOSE,
)
"""A comment, a line that is continued, or, in a group, a token: those of `tokenize`, found several times as fast."""
_WHOLE_STRINGS = sys.version_info < (3, 12)
"""From Python 3.12 on, `tokenize` is fast and divides f-strings, as nothing here would."""

MOST_FILES = 2048
"""So many files' tokens are remembered: a process that reports on several runs compares all with the same source."""
MOST_PROGRAMS = 64
"""So many programs' tokens, and prompts' pieces, are remembered: a program is compared with several sets of files."""


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


@functools.lru_cache(maxsize=MOST_PROGRAMS)
def tokens(source: str) -> tuple[Token, ...]:
    """Returns the tokens of Python `source` that count, up to the first place that cannot be tokenised."""
    found: list[Token] = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.type not in _DROPPED and token.string.strip():
                found.append(Token(token.string, token.start[0]))
    except (tokenize.TokenError, IndentationError, SyntaxError):
        # A broken program is compared as far as it goes.
        return tuple(found)
    return tuple(found)


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


class Source:
    """Files that many programs are compared with, indexed once.

    Args:
        files: (name, Python source) pairs; a run never crosses from one file into the next.
    """

    def __init__(self, files: Iterable[tuple[str, str]]) -> None:
        self._files = list(files)
        self._starts: list[int] = []
        self._texts: list[str] = []
        for number, (_, text) in enumerate(self._files):
            self._starts.append(len(self._texts))
            # No program holds what stands between two files.
            self._texts += [*_texts(text), f"\0end {number}"]
        self._seeds: dict[int, list[int]] = {}
        for place, seed in enumerate(_pieces(self._texts, SEED, 1)):
            self._seeds.setdefault(hash(seed), []).append(place)

    def longest_run(self, program: str) -> SharedRun:
        """Returns the longest run of tokens that the program shares with any of the files."""
        own = tokens(program)
        return self._longest(own, [token.text for token in own])

    def longest_run_outside(self, program: str, prompt: str) -> SharedRun:
        """Returns the longest run that the program shares with any of the files and that the prompt holds no piece of.

        Who copies what he was shown writes our code without having seen it: signatures, data that rules name. Such
        pieces, of `PIECE` tokens or more, end a run.
        """
        own = tokens(program)
        texts = [token.text for token in own]
        pieces = _shown_pieces(prompt)
        held = [False] * len(own)
        for start in range(len(own) - PIECE + 1):
            if tuple(texts[start : start + PIECE]) in pieces:
                held[start : start + PIECE] = [True] * PIECE
        # A token that no file holds stands where the prompt's pieces were.
        return self._longest(own, [f"\0{place}" if held[place] else text for place, text in enumerate(texts)])

    def _longest(self, own: Sequence[Token], texts: Sequence[str]) -> SharedRun:
        best, there, here = 0, 0, 0
        for place, seed in enumerate(_pieces(texts, SEED, 1)):
            for start in self._seeds.get(hash(seed), ()):
                if place and start and texts[place - 1] == self._texts[start - 1]:
                    # It was found from its beginning.
                    continue
                length = _common(texts, place, self._texts, start)
                if length > best:
                    best, there, here = length, start, place
        if best < SEED:
            return _longest_of(own, texts, self._files)
        number = bisect.bisect_right(self._starts, there) - 1
        name, source = self._files[number]
        line = _line_of(source, there - self._starts[number])
        text = " ".join(token.text for token in own[here : here + best])
        return SharedRun(best, len(own), name, line, own[here].line, text)


@functools.lru_cache(maxsize=MOST_PROGRAMS)
def _shown_pieces(prompt: str) -> frozenset[tuple[str, ...]]:
    return frozenset(_pieces(_WORD.findall(prompt), PIECE, 1))


def _common(left: Sequence[str], at: int, right: Sequence[str], there: int) -> int:
    """Returns how many tokens are the same from two places on."""
    length = 0
    while at + length < len(left) and there + length < len(right) and left[at + length] == right[there + length]:
        length += 1
    return length


@functools.lru_cache(maxsize=MOST_FILES)
def _texts(source: str) -> tuple[str, ...]:
    """Returns the texts of the tokens that count, each text held once however often it stands anywhere."""
    found = _PIECE.findall(source) if _WHOLE_STRINGS else [token.text for token in tokens(source)]
    return tuple(sys.intern(text) for text in found if text)


def _line_of(source: str, number: int) -> int:
    """Returns the line of one of `_texts`."""
    if not _WHOLE_STRINGS:
        return tokens(source)[number].line
    pieces = (piece for piece in _PIECE.finditer(source) if piece[1])
    return 1 + source.count("\n", 0, next(itertools.islice(pieces, number, None)).start())


def _longest(program: str, files: Sequence[tuple[str, str]]) -> SharedRun:
    own = tokens(program)
    return _longest_of(own, [token.text for token in own], files)


def _longest_of(own: Sequence[Token], texts: Sequence[str], files: Sequence[tuple[str, str]]) -> SharedRun:
    automaton = _SuffixAutomaton(texts)
    best, sieve = SharedRun(0, len(own)), _Sieve(texts, 1)
    for name, theirs in files:
        there = _texts(theirs)
        if not sieve.lets_pass(there):
            continue
        length, end, own_end = automaton.longest_match(there)
        if length > best.length:
            sieve = _Sieve(texts, length + 1)
            run = own[own_end - length + 1 : own_end + 1]
            line = _line_of(theirs, end - length + 1)
            best = SharedRun(length, len(own), name, line, run[0].line, " ".join(token.text for token in run))
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


class _Sieve:
    """Sorts out files that share no run of some length, which most do not, without looking at most of their tokens.

    Args:
        sequence: the program's tokens.
        length: tokens of the shortest run that is looked for.
    """

    def __init__(self, sequence: Sequence[str], length: int) -> None:
        # A run holds a piece whole that begins at one of the places that are looked at.
        self._piece = length // 2 + 1
        self._step = length - self._piece + 1
        self._pieces = frozenset(_pieces(sequence, self._piece, 1))

    def lets_pass(self, sequence: Sequence[str]) -> bool:
        """Returns whether such a run may be shared: never False where one is."""
        return not self._pieces.isdisjoint(_pieces(sequence, self._piece, self._step))


def _pieces(sequence: Sequence[str], length: int, step: int) -> Iterable[tuple[str, ...]]:
    """Returns the runs of a length that begin at each `step`th place."""
    return zip(*(sequence[start::step] for start in range(length)), strict=False)


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
