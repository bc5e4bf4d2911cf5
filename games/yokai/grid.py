"""Sets of cells as bit words, and the fast exact rule for legal moves.

A cell (row, column) is bit `row * (side + 1) + column`. The spare column between two rows is never in a set of cards,
so that shifts by one cell cannot wrap around into the next row.
"""

from functools import cache, lru_cache

CACHED_SETS = 1 << 16
"""How many sets of cells each grid remembers the targets of: some 10 MB."""


class Grid:
    """A square grid.

    Attributes:
        side: cells along one side.
        bits: bits[row][column] is the one-bit word of that cell.
        board: all cells.
        cell_of: one-bit word -> row * side + column.
    """

    def __init__(self, side: int) -> None:
        self.side = side
        self.stride = side + 1
        self.bits = [[1 << (row * self.stride + column) for column in range(side)] for row in range(side)]
        self.board = sum(bit for row in self.bits for bit in row)
        self.cell_of = {self.bits[row][column]: row * side + column for row in range(side) for column in range(side)}
        self.targets = lru_cache(maxsize=CACHED_SETS)(self._targets)

    def spread(self, cells: int) -> int:
        """Returns `cells` and their side neighbours; may hold bits outside the board."""
        stride = self.stride
        return cells | cells << 1 | cells >> 1 | cells << stride | cells >> stride

    def component(self, seed: int, cells: int) -> int:
        """Returns the side-connected part of `cells` that holds `seed`, a subset of `cells`."""
        stride = self.stride
        while True:
            grown = (seed | seed << 1 | seed >> 1 | seed << stride | seed >> stride) & cells
            if grown == seed:
                return seed
            seed = grown

    def is_connected(self, cells: int) -> bool:
        """Whether `cells` (not empty) form one side-connected group."""
        return self.component(cells & -cells, cells) == cells

    def groups(self, cells: int) -> int:
        """Returns the number of side-connected groups in `cells`."""
        count = 0
        while cells:
            cells &= ~self.component(cells & -cells, cells)
            count += 1
        return count

    def _targets(self, others: int) -> int:
        """Returns the empty cells at which one more card would join `others` (all other cards) into one group.

        Without the card that moves, the others fall into components; a cell joins them exactly when its neighbours
        touch all of them. The cell that the card came from may be among the answers; the caller takes it out.
        """
        cells = self.board & ~others
        rest = others
        while rest and cells:
            part = self.component(rest & -rest, rest)
            cells &= self.spread(part)
            rest &= ~part
        return cells


@cache
def grid(side: int) -> Grid:
    """Returns the grid with that side; the same object for the same side, so that its cache is shared."""
    return Grid(side)
