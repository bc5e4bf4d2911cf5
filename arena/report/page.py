"""What pages and printed tables ask of standings."""

from arena.figures.intervals import Estimate
from arena.matches.ratings import Standings


def heat(table: Standings, cell: Estimate | None) -> float:
    """Returns where a cell of the pairing matrix lies between the table's lowest and highest, in [0, 1]."""
    values = [other.mean for row in table.matrix for other in row if other is not None]
    if cell is None or not values or max(values) == min(values):
        return 0.0
    return (cell.mean - min(values)) / (max(values) - min(values))


def cooperative(table: Standings) -> bool:
    """Tells whether the table holds cooperative figures."""
    return any(result.cooperation is not None for result in table.lineups)
