"""Where each candidate of a synthesis stands in the picture: columns are generations, a parent is level with its first
child."""

from collections.abc import Sequence
from dataclasses import dataclass

from arena.report.data import CandidateView

COLUMN = 96
ROW = 34
MARGIN = 24


@dataclass(frozen=True)
class PlacedNode:
    """A candidate, its place in pixels, and its parent's."""

    candidate: CandidateView
    x: int
    y: int
    parent_x: int | None
    parent_y: int | None


@dataclass(frozen=True)
class TreePicture:
    """Nodes in order of appearance, and the size of the picture in pixels."""

    nodes: tuple[PlacedNode, ...]
    width: int
    height: int


def layout(candidates: Sequence[CandidateView]) -> TreePicture:
    """Returns the picture of a forest of candidates; a parent that is not among them counts as none."""
    ids = {candidate.id for candidate in candidates}
    children: dict[int | None, list[CandidateView]] = {}
    for candidate in candidates:
        parent = candidate.parent if candidate.parent in ids and candidate.parent != candidate.id else None
        children.setdefault(parent, []).append(candidate)
    places: dict[int, tuple[int, int]] = {}
    row = 0
    # An explicit stack: a long chain of refinements must not meet the limit of recursion.
    stack = [(candidate, 0) for candidate in reversed(children.get(None, []))]
    while stack:
        candidate, depth = stack.pop()
        places[candidate.id] = (MARGIN + depth * COLUMN, MARGIN + row * ROW)
        below = children.get(candidate.id, [])
        stack.extend((child, depth + 1) for child in reversed(below))
        row += not below
    nodes = tuple(_placed(candidate, places) for candidate in candidates if candidate.id in places)
    width = max((node.x for node in nodes), default=0) + COLUMN + MARGIN
    return TreePicture(nodes, width, max((node.y for node in nodes), default=0) + ROW + MARGIN // 2)


def _placed(candidate: CandidateView, places: dict[int, tuple[int, int]]) -> PlacedNode:
    x, y = places[candidate.id]
    parent = None if candidate.parent is None else places.get(candidate.parent)
    return PlacedNode(candidate, x, y, *(parent or (None, None)))
