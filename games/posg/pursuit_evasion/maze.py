"""Maps of pursuit and evasion, and what can be worked out of one once for all: where a step leads, what is in sight.

A pose is cell × 4 + heading, where a cell is row × width + column, and headings are north, east, south and west.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from games.posg.grid import read_grid

HEADINGS: Final = ("north", "east", "south", "west")
ACTIONS: Final = ("forward", "backward", "left", "right")
TURNS: Final = (0, 2, 3, 1)
"""By action: quarter turns to the right."""
WALL: Final = "#"
WIDENING: Final = 3
"""Cells ahead after which a cone is wider by one to each side; it also is after the first."""
DEPTH: Final = 12
HEARING: Final = 2

MAPS: Final[Mapping[str, Sequence[str]]] = {
    "8x8": (
        "  9 #8 #",
        "# #    #",
        "# ## # 7",
        "  6   # ",
        "# #5# # ",
        "   #    ",
        "#    #2 ",
        "0 #1### ",
    ),
    "16x16": (
        "  ## ####### ###",
        "    9##    8 ###",
        "##       # # ###",
        "## ## ##      ##",
        "## ## ##   ## ##",
        "#  #  ##   ## 7#",
        "# ## ###   #   #",
        "  #  6       # #",
        "#   ## ##  ##  #",
        "##   #5##  #   #",
        "## #   #     # #",
        "   # #   ##    #",
        " # # ##  ##   ##",
        "0#       #     #",
        "   ### #   ##2  ",
        "###    1 #####  ",
    ),
}
"""Rows: digits 0 to 2 and 7 to 9 are where an evader may start and want to go, 5 and 6 where a pursuer may start."""
GOALS: Final = {"0": "789", "1": "789", "2": "89", "7": "01", "8": "012", "9": "012"}
"""By the digit of an evader's start: those of its goals."""
LIMITS: Final = {"8x8": 50, "16x16": 100}


class Maze:
    """One map.

    Attributes:
        starts: cells in which an evader may start, in the order of the map.
        posts: cells in which a pursuer may start.
        goals: by the evader's start, its goals.
        after: by action and pose: the next pose.
        walls: by cell: in which directions a wall is next to it, as bits.
        sight: by pose: the cells in sight, as bits.
        heard: by cell: the cells from which somebody is heard, as bits.
        far: by goal and cell: length of the shortest way; -1 where there is none.
        longest: of the shortest ways from a start to a goal.
    """

    def __init__(self, rows: Sequence[str], is_lopsided: bool) -> None:
        """Args:
        rows: of the map.
        is_lopsided: whether a cone that looks east or west widens from its middle to one side alone.
        """
        grid = self._grid = read_grid(rows, WALL)
        self.width, self.height = grid.width, grid.height
        self._cells = "".join(rows)
        cells = range(len(self._cells))
        at = {sign: cell for cell, sign in enumerate(self._cells)}
        self.starts = [cell for cell in cells if self._cells[cell] in GOALS]
        self.posts = [cell for cell in cells if self._cells[cell] in "56"]
        self.goals = {at[sign]: [at[goal] for goal in goals] for sign, goals in GOALS.items()}
        self.after = [
            [self.beside(pose >> 2, (pose + turn) & 3) * 4 + ((pose + turn) & 3) for pose in range(4 * len(cells))]
            for turn in TURNS
        ]
        self.walls = [sum((self.beside(cell, way) == cell) << way for way in range(4)) for cell in cells]
        self._lopsided = is_lopsided
        self.sight = [sum(1 << cell for cell in self.cone(pose >> 2, pose & 3)) for pose in range(4 * len(cells))]
        self.heard = [sum(1 << other for other in cells if self.distance(cell, other) <= HEARING) for cell in cells]
        self.far = {goal: grid.distances(goal) for goal in self.starts}
        self.longest = max(self.far[goal][start] for start, goals in self.goals.items() for goal in goals)

    def beside(self, cell: int, heading: int) -> int:
        """Returns the next cell in a direction, the same where a wall or the border is in the way."""
        return self._grid.next[cell][heading]

    def distance(self, cell: int, other: int) -> int:
        """Returns how many columns and rows two cells are apart."""
        return abs(cell % self.width - other % self.width) + abs(cell // self.width - other // self.width)

    def cone(self, origin: int, heading: int) -> set[int]:
        """Returns the cells in sight, the own one too: `RULES.md` tells how a cone spreads."""
        found, waiting = {origin}, [origin]
        while waiting:
            for cell in self._spread(origin, heading, waiting.pop()):
                if cell not in found:
                    found.add(cell)
                    waiting.append(cell)
        return found

    def _spread(self, origin: int, heading: int, cell: int) -> list[int]:
        (row, column), (row_0, column_0) = divmod(cell, self.width), divmod(origin, self.width)
        along = heading & 1
        depth, aside = (abs(column - column_0), row - row_0) if along else (abs(row - row_0), column - column_0)
        ahead = self.beside(cell, heading)
        if depth >= DEPTH or ahead == cell:
            return []
        reached = [ahead]
        if depth == 1 or depth % WIDENING == 0:
            sides = [way for way, fits in ((-1, aside <= 0), (1, aside >= 0)) if fits]
            place, size = (row, self.height) if along else (column, self.width)
            if self._lopsided and along and len(sides) == 2:
                sides = [-1] if place > 0 else [1]
            for way in sides:
                side = cell + way * (self.width if along else 1)
                if 0 <= place + way < size and self._cells[side] != WALL and self.beside(side, heading) != side:
                    reached.append(self.beside(side, heading))
        return reached

    def drawn(self, signs: Mapping[int, str]) -> list[str]:
        """Returns the rows of the map with signs in some cells."""
        shown = [signs.get(cell, WALL if sign == WALL else ".") for cell, sign in enumerate(self._cells)]
        return ["".join(shown[row * self.width : (row + 1) * self.width]) for row in range(self.height)]
