"""Failed tests by what went wrong first: what a refinement prompt shows of many failures.

Most failures of a program come from few mistakes, and one mistake shows in one field. So the failures are grouped by
kind of test and first differing field, the largest groups are shown first, and of each its smallest example.
"""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from cwm.suite.types import Kind, UnitTest, UnitTestResult

LISTED_GROUPS = 10
"""So many groups are named in a prompt; the others are counted."""
_FIRST_KEY = re.compile(r"(?:\[[^\]]*\])*\.?([^.\[]*)")


@dataclass(frozen=True)
class FailureGroup:
    """Failures that look alike.

    Attributes:
        kind: of the tests.
        field: what failed first, e.g. `next_state`.
        key: the first key on the way to the first difference, e.g. `hands`; "" where the field as a whole differs.
        line: of the program, where it raised; None for wrong answers.
        raised: whether the program raised, hit a limit or died.
        tests: the failed ones, the smallest first.
    """

    kind: Kind
    field: str
    key: str
    line: int | None
    raised: bool
    tests: tuple[UnitTest, ...]

    @property
    def title(self) -> str:
        """Names the group, e.g. `transition: next_state differs at "hands"`."""
        return _title(self.kind, self.field, self.key, self.line, self.raised)

    def rotated(self, turn: int, shown: int) -> "FailureGroup":
        """Returns the group with other tests in front.

        Args:
            turn: how often some were shown before; 0 for the group as it is.
            shown: so many each time.
        """
        first = turn * shown % len(self.tests)
        return replace(self, tests=(*self.tests[first:], *self.tests[:first]))


def size(test: UnitTest) -> tuple[int, str]:
    """Returns a key by which smaller tests come first."""
    return len(json.dumps(test.data)), test.id


def grouped(tests: Sequence[UnitTest], results: Sequence[UnitTestResult]) -> list[FailureGroup]:
    """Returns the failures in groups, the largest group first.

    Args:
        tests: the suite.
        results: of the program; those that passed are passed over.
    """
    failed = {result.id: result for result in results if result.status != "pass"}
    found: dict[tuple[Kind, str, str, int, bool], list[UnitTest]] = defaultdict(list)
    for test in tests:
        result = failed.get(test.id)
        if result is not None:
            found[_alike(result)].append(test)
    groups = [
        FailureGroup(kind, field, key, None if line < 0 else line, raised, tuple(sorted(members, key=size)))
        for (kind, field, key, line, raised), members in sorted(found.items(), key=lambda item: item[0])
    ]
    return sorted(groups, key=lambda group: -len(group.tests))


def titles(results: Sequence[UnitTestResult]) -> dict[str, int]:
    """Returns how many tests failed in each way, by the groups' titles, the most frequent first.

    Lines of the program are left out: a program that was changed has others.
    """
    failed = [_alike(result) for result in results if result.status != "pass"]
    counts = Counter(_title(kind, field, key, None, raised) for kind, field, key, _, raised in sorted(failed))
    return dict(counts.most_common())


def examples(groups: Sequence[FailureGroup], limit: int, turn: int = 0) -> list[UnitTest]:
    """Returns the smallest example of each group, then, while there is room, the next of each in turn.

    Args:
        groups: the largest first.
        limit: so many tests at most.
        turn: how often examples of these failures were shown before: then those that follow come first.
    """
    if turn:
        shown = Counter(id(group) for group, _ in _in_turn(groups, limit))
        groups = [group.rotated(turn, shown[id(group)]) for group in groups]
    return [test for _, test in _in_turn(groups, limit)]


def _in_turn(groups: Sequence[FailureGroup], limit: int) -> list[tuple[FailureGroup, UnitTest]]:
    longest = max((len(group.tests) for group in groups), default=0)
    rounds = ([(group, group.tests[turn]) for group in groups if turn < len(group.tests)] for turn in range(longest))
    chosen: list[tuple[FailureGroup, UnitTest]] = []
    for members in rounds:
        chosen += members[: limit - len(chosen)]
        if len(chosen) >= limit:
            break
    return chosen


def listing(groups: Sequence[FailureGroup]) -> list[str]:
    """Returns one line a group: how many tests it holds, and its title."""
    lines = [f"{_count(len(group.tests))}: {group.title}" for group in groups[:LISTED_GROUPS]]
    rest = groups[LISTED_GROUPS:]
    if rest:
        lines.append(f"{_count(sum(len(group.tests) for group in rest))} in {len(rest)} further groups")
    return lines


def _count(tests: int) -> str:
    return "1 test" if tests == 1 else f"{tests} tests"


def _alike(result: UnitTestResult) -> tuple[Kind, str, str, int, bool]:
    """Returns what failures that look alike have in common: kind, field, key, line (-1 for none), whether it raised."""
    raised = result.status == "error"
    line = result.line if raised and result.line is not None else -1
    return result.kind, result.field, "" if raised else _first_key(result.path), line, raised


def _title(kind: Kind, field: str, key: str, line: int | None, raised: bool) -> str:
    what = f"{kind.replace('_', ' ')}: {field}"
    if raised:
        return f"{what} failed with an error" + ("" if line is None else f" in line {line}")
    return f"{what} differs" + (f' at "{key}"' if key else "")


def _first_key(path: str) -> str:
    found = _FIRST_KEY.match(path)
    return found[1] if found is not None else ""
