"""Where a twin differs from the verified program: grouped by what differs, of each group the smallest example."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final, Self

SHOWN: Final = 6
"""So many groups a prompt shows in full; the others are named with their counts."""
MOST_TEXT: Final = 1500


@dataclass(frozen=True)
class TwinDifference:
    """One thing that is wrong.

    Attributes:
        field: `step`, `legal`, `encode`, …: the function at fault.
        part: what of it differs: the name of an array, of a player, a key; "" where it is the whole.
        state: in which it differs, as text.
        action: that was taken there, "" if none was.
        message: what was expected and what came.
    """

    field: str
    part: str
    state: str
    action: str
    message: str

    @property
    def size(self) -> tuple[int, str, str]:
        """A key by which smaller examples come first."""
        return len(self.state), self.state, self.action


@dataclass(frozen=True)
class TwinDifferenceGroup:
    """Differences that look alike.

    Attributes:
        field: the function at fault.
        part: what of it differs.
        count: how many there are.
        example: the smallest of them.
    """

    field: str
    part: str
    count: int
    example: TwinDifference

    @property
    def title(self) -> str:
        """Names the group in a few words."""
        return f"{self.field}: {self.part}" if self.part else self.field

    @property
    def in_words(self) -> str:
        """Tells the group and its smallest example."""
        example = self.example
        lines = [f"`{self.title}`, {self.count} time{'s' if self.count > 1 else ''}. The smallest case:"]
        if example.state:
            lines.append(f"  state: {cut(example.state)}")
        if example.action:
            lines.append(f"  action: {example.action!r}")
        return "\n".join([*lines, f"  {cut(example.message)}"])

    def to_json(self) -> dict[str, Any]:
        """Returns the group as JSON."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Returns what `to_json` wrote."""
        return cls(data["field"], data["part"], data["count"], TwinDifference(**data["example"]))


def grouped(found: Iterable[TwinDifference]) -> tuple[TwinDifferenceGroup, ...]:
    """Returns the groups, what is encoded before what is computed with, the most frequent first."""
    groups: dict[tuple[str, str], list[TwinDifference]] = {}
    for difference in found:
        groups.setdefault((difference.field, difference.part), []).append(difference)
    made = [
        TwinDifferenceGroup(field, part, len(members), min(members, key=lambda member: member.size))
        for (field, part), members in groups.items()
    ]
    return tuple(sorted(made, key=lambda group: (_place(group.field), -group.count, group.part)))


ORDER: Final = ("table", "encode", "decode", "init", "step", "player", "legal", "chance", "rewards", "observe")


def _place(field: str) -> int:
    return ORDER.index(field) if field in ORDER else len(ORDER)


def listing(groups: Sequence[TwinDifferenceGroup]) -> list[str]:
    """Returns what a prompt tells of the groups."""
    told = [group.in_words for group in groups[:SHOWN]]
    rest = [f"`{group.title}`, {group.count} times" for group in groups[SHOWN:]]
    return [*told, *([f"and further: {'; '.join(rest)}"] if rest else [])]


def cut(text: str, most: int = MOST_TEXT) -> str:
    """Returns a text, or its beginning where it is too long to be shown."""
    return text if len(text) <= most else f"{text[:most]} … ({len(text):,} characters)"
