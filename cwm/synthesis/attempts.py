"""What a synthesis has tried: earlier refinements of a program, and the approaches that earlier first prompts led to.

Both are told in a line each, so that no two requests are alike and the next answer need not repeat what was in vain.
"""

import difflib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cwm.suite import failure_groups
from cwm.synthesis.candidate import Candidate, SuiteReport

MOST_LINES = 10
"""Of earlier attempts so many are told, the last ones; the others are counted."""
_MOST_PLACES = 4
_MOST_GROUPS = 2
_MOST_PROBLEM = 200
"""Characters of the reason why a program was not run."""


@dataclass(frozen=True)
class Told:
    """What a prompt tells of earlier attempts.

    Attributes:
        number: how many there were.
        lines: the last ones, one line each.
    """

    number: int = 0
    lines: tuple[str, ...] = ()

    @classmethod
    def of(cls, what: str, lines: Sequence[str]) -> "Told":
        """Numbers the lines, e.g. `attempt 3 …`, and leaves out what is too much."""
        numbered = [f"{what} {number} {line}" for number, line in enumerate(lines, start=1)]
        rest = len(numbered) - MOST_LINES
        if rest > 0:
            left_out = f"{what} 1 is not listed" if rest == 1 else f"{what}s 1 to {rest} are not listed"
            numbered = [left_out, *numbered[rest:]]
        return cls(len(lines), tuple(numbered))


NOTHING = Told()


class Attempts:
    """The answers of one synthesis, as later prompts tell of them."""

    def __init__(self) -> None:
        self._of_program: dict[str, list[str]] = defaultdict(list)
        self._roots: list[Candidate | None] = []
        self._approach: dict[int, int] = {}
        self._best: dict[int, Candidate] = {}
        self._modules: dict[int, set[str]] = defaultdict(set)

    def is_new(self, candidate: Candidate) -> bool:
        """Tells whether a program belongs to no answer that is known."""
        return candidate.id not in self._approach

    def refined(self, program: Candidate, candidates: Sequence[Candidate]) -> None:
        """Takes note of one answer to a prompt that held a program; `candidates` are its programs."""
        # Two sources that differ in white space around them make the same prompt, so they count as one program.
        self._of_program[program.source.strip()].append(_attempt(program, candidates))

    def answered(self, parent: Candidate | None, candidates: Sequence[Candidate]) -> None:
        """Takes note of the programs of one answer, which belong to their parent's approach or begin one."""
        if parent is None:
            self._roots.append(max(candidates, key=Candidate.rank, default=None))
        number = len(self._roots) if parent is None else self._approach.get(parent.id, 0)
        for candidate in candidates:
            self._approach[candidate.id] = number
            self._modules[number].add(candidate.hash)
            best = self._best.get(number)
            if best is None or candidate.rank() > best.rank():
                self._best[number] = candidate

    def retested(self, candidates: Mapping[int, Candidate]) -> None:
        """Takes note of new reports on the programs, by their ids."""
        self._roots = [None if root is None else candidates[root.id] for root in self._roots]
        self._best = {}
        for key, number in self._approach.items():
            best = self._best.get(number)
            if best is None or candidates[key].rank() > best.rank():
                self._best[number] = candidates[key]

    def at(self, program: Candidate) -> Told:
        """Returns what is told of earlier refinements of a program."""
        return Told.of("attempt", self._of_program.get(program.source.strip(), ()))

    def approaches(self) -> Told:
        """Returns what is told of earlier answers to first prompts."""
        return Told.of("approach", [self._line(number, root) for number, root in enumerate(self._roots, start=1)])

    def _line(self, number: int, root: Candidate | None) -> str:
        if root is None:
            return "held no finished Python block"
        if root.duplicate_of is not None:
            twin = self._approach.get(root.duplicate_of, 0)
            return "gave a module that was there before" + (f", in approach {twin}" if 0 < twin < number else "")
        best, modules = self._best[number], len(self._modules[number])
        if best.report.problems:
            outcome = f"was not run: {_problem(best.report)}"
        else:
            outcome = f"passed {_passed(best.report)}{_most_frequent(best.report)}"
        return outcome if modules == 1 else f"came to {modules} modules, the best of which {outcome}"


def _attempt(program: Candidate, candidates: Sequence[Candidate]) -> str:
    """Returns what became of one refinement of a program, without its number."""
    if not candidates:
        return "held no finished Python block"
    best = max(candidates, key=Candidate.rank)
    several = f"gave {len(candidates)} modules; the best " if len(candidates) > 1 else ""
    if best.source.strip() == program.source.strip():
        return f"{several}gave the same module again, unchanged"
    if best.duplicate_of is not None:
        return f"{several}gave a module that was there before, which passed {_passed(best.report)}"
    changed = f"{several}changed {_changes(program.source, best.source)}"
    if best.report.problems:
        return f"{changed} and was not run: {_problem(best.report)}"
    before = f" instead of {_count(program.report)}" if _total(program.report) == _total(best.report) else ""
    return f"{changed} and passed {_passed(best.report)}{before}{_moved(program.report, best.report)}"


def _changes(before: str, after: str) -> str:
    """Returns how many lines differ, and where, by the numbers of the first source's lines."""
    matcher = difflib.SequenceMatcher(None, before.strip().splitlines(), after.strip().splitlines(), autojunk=False)
    spans = [(a, b, c, d) for tag, a, b, c, d in matcher.get_opcodes() if tag != "equal"]
    number = sum(max(b - a, d - c) for a, b, c, d in spans)
    places = [f"{a + 1}-{b}" if b > a + 1 else f"{a + 1}" if b > a else f"after {a}" for a, b, _, _ in spans]
    shown = ", ".join(places[:_MOST_PLACES]) + (", …" if places[_MOST_PLACES:] else "")
    return f"{number} line{'' if number == 1 else 's'} (line {shown})"


def _moved(before: SuiteReport, after: SuiteReport) -> str:
    """Returns which kinds of failures went away and which came."""
    old, new = failure_groups.titles(before.results), failure_groups.titles(after.results)
    if before.problems:
        return _most_frequent(after)
    gone, came = [title for title in old if title not in new], [title for title in new if title not in old]
    parts = [
        f"; {what}: {', '.join(titles[:_MOST_GROUPS])}"
        + (f" and {len(titles) - _MOST_GROUPS} more" if titles[_MOST_GROUPS:] else "")
        for what, titles in (("failures that went away", gone), ("new failures", came))
        if titles
    ]
    return "".join(parts) or "; the failures are of the same kinds"


def _most_frequent(report: SuiteReport) -> str:
    found = list(failure_groups.titles(report.results).items())[:_MOST_GROUPS]
    return "; most failures: " + ", ".join(f"{title} ({number})" for title, number in found) if found else ""


def _problem(report: SuiteReport) -> str:
    text = " ".join(report.problems[0].split())
    return text if len(text) <= _MOST_PROBLEM else f"{text[:_MOST_PROBLEM]} …"


def _passed(report: SuiteReport) -> str:
    return f"{_count(report)} of {_total(report)} tests"


def _count(report: SuiteReport) -> int:
    return sum(count.passed for count in report.counts.values())


def _total(report: SuiteReport) -> int:
    return sum(count.total for count in report.counts.values())
