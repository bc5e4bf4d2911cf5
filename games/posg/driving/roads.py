"""Maps of driving, and what can be worked out of one once for all: where a vehicle goes, what it sees, how far it is.

A pose is (cell × 4 + heading) × 4 + speed + 1, where a cell is row × width + column, headings are north, east, south
and west in this order, and speeds are -1 (reverse), 0 (standing), 1 and 2.
"""

from collections.abc import Sequence
from typing import Final, TypeAlias

from games.posg.grid import STEPS, read_grid

ACTIONS: Final = ("wait", "accelerate", "brake", "turn right", "turn left")
HEADINGS: Final = ("north", "east", "south", "west")
WALL: Final = "#"
EMPTY: Final = "."
VEHICLE: Final = "V"
DESTINATION: Final = "D"

Seen: TypeAlias = tuple[str, int, int, int, int, int]
"""What a driver is told: the view row by row, speed, own cell, destination (cells), arrived, crashed (0 or 1)."""

_ROUNDABOUT: Final = """
#-..........-#
-#####..#####+
.#####..#####.
.#####..#####.
.###......###.
.###......###.
......##......
......##......
.###......###.
.###......###.
.#####..#####.
.#####..#####.
-#####..#####+
#+..........+#
"""
_SMALL: Final = """
#-...-#
-##.##+
.#...#.
...#...
.#...#.
-##.##+
#+...+#
"""
MAPS: Final = {"roundabout": _ROUNDABOUT.split(), "small roundabout": _SMALL.split()}
"""Rows of cells: `#` wall, `+` start, `-` destination, `*` both."""


class Roads:
    """One map.

    Attributes:
        starts: cells in which a vehicle may start, ascending.
        ends: cells that may be destinations, ascending; a destination is a number in this list.
        after: by action and pose: the pose that a vehicle alone on the road has next.
        way: by action and pose: the cells that it enters on the way.
        touched: the same with the cell on which it stands, as bits.
        far: by destination and cell: length of the shortest way; -1 where there is none.
    """

    def __init__(self, rows: Sequence[str], view: tuple[int, int, int]) -> None:
        """Args:
        rows: of the map.
        view: cells that a driver sees ahead, behind and to each side.
        """
        grid = self._grid = read_grid(rows, WALL)
        self.width, self.height = grid.width, grid.height
        self._cells = "".join(rows)
        self.starts = [cell for cell, kind in enumerate(self._cells) if kind in "+*"]
        self.ends = [cell for cell, kind in enumerate(self._cells) if kind in "-*"]
        poses = range(len(self._cells) * 16)
        self.way = [[self._way(action, pose) for pose in poses] for action in range(5)]
        self.after = [[self._after(action, pose) for pose in poses] for action in range(5)]
        self.touched = [
            [sum(1 << cell for cell in {pose >> 4, *self.way[action][pose]}) for pose in poses] for action in range(5)
        ]
        self.far = [grid.distances(end) for end in self.ends]
        self._view = view
        self._places: dict[int, tuple[int, ...]] = {}
        self._seen: dict[tuple[int, ...], Seen] = {}

    def beside(self, cell: int, heading: int) -> int:
        """Returns the next cell in a direction, the same where a wall or the border is in the way."""
        return self._grid.next[cell][heading]

    def seen(self, pose: int, end: int, ended: int, others: Sequence[int]) -> Seen:
        """Returns what a driver is told.

        Args:
            pose: of its vehicle.
            end: its destination.
            ended: 1 arrived, 2 crashed, 3 both.
            others: cells of the other vehicles.
        """
        places = self._places.get(pose >> 2)
        if places is None:
            places = self._places[pose >> 2] = self.in_view(pose)
        key = (pose, end, ended, *[places.index(cell) for cell in others if cell in places])
        told = self._seen.get(key)
        if told is None:
            vehicles = {pose >> 4, *others}
            view = "".join(self._shown(cell, vehicles, self.ends[end]) for cell in places)
            told = self._seen[key] = (view, (pose & 3) - 1, pose >> 4, self.ends[end], ended & 1, ended >> 1)
        return told

    def drawn(self, vehicles: Sequence[tuple[int, str]], ends: Sequence[int]) -> list[str]:
        """Returns the rows of the map with vehicles (cell, sign) and destinations (cells) in it."""
        signs = [WALL if kind == WALL else EMPTY for kind in self._cells]
        for cell in ends:
            signs[cell] = DESTINATION
        for cell, sign in vehicles:
            signs[cell] = sign
        return ["".join(signs[row * self.width : (row + 1) * self.width]) for row in range(self.height)]

    def in_view(self, pose: int) -> tuple[int, ...]:
        """Returns the cells that a driver sees, row by row from the furthest ahead; -1 beyond the border."""
        ahead, behind, side = self._view
        row, column = divmod(pose >> 4, self.width)
        (right, down), (across, along) = STEPS[pose >> 2 & 3], STEPS[(pose >> 2) + 1 & 3]
        cells = []
        for forward in range(ahead, -behind - 1, -1):
            for sideways in range(-side, side + 1):
                there = column + forward * right + sideways * across, row + forward * down + sideways * along
                inside = 0 <= there[0] < self.width and 0 <= there[1] < self.height
                cells.append(there[1] * self.width + there[0] if inside else -1)
        return tuple(cells)

    def _shown(self, cell: int, vehicles: set[int], end: int) -> str:
        if cell < 0 or self._cells[cell] == WALL:
            return WALL
        return VEHICLE if cell in vehicles else DESTINATION if cell == end else EMPTY

    def _way(self, action: int, pose: int) -> tuple[int, ...]:
        cell, heading, speed = pose >> 4, pose >> 2 & 3, _faster(action, (pose & 3) - 1)
        heading = _turned(action, heading, speed)
        path = []
        for _ in range(abs(speed)):
            there = self.beside(cell, heading if speed > 0 else heading ^ 2)
            if there == cell:
                break
            path.append(there)
            cell = there
        return tuple(path)

    def _after(self, action: int, pose: int) -> int:
        """Returns the next pose; whoever stays in its cell stands."""
        speed, path = _faster(action, (pose & 3) - 1), self.way[action][pose]
        heading = _turned(action, pose >> 2 & 3, speed)
        return (path[-1] * 4 + heading) * 4 + speed + 1 if path else stopped(pose, heading)


def stopped(pose: int, heading: int) -> int:
    """Returns the pose of a vehicle that stands where it is, with a heading."""
    return (pose >> 4) * 16 + heading * 4 + 1


def heading_after(action: int, pose: int) -> int:
    """Returns the heading that a vehicle has after an action, whatever is in its way."""
    return _turned(action, pose >> 2 & 3, _faster(action, (pose & 3) - 1))


def _faster(action: int, speed: int) -> int:
    if action == 1:
        return min(speed + 1, 2)
    if action == 2:
        return max(speed - 1, -1)
    return 1 if action > 2 and speed == 2 else speed


def _turned(action: int, heading: int, speed: int) -> int:
    """Nobody turns in reverse."""
    if action < 3 or speed < 0:
        return heading
    return (heading + (1 if action == 3 else 3)) & 3
