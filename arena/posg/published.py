"""Payoffs of hand-written policies as the authors of POSGGym published them, 100 episodes a pair.

Source: raw results of posggym-baselines a40e902 (MIT), figure 20 of Schwartz et al. (2025). Rows and columns are in the
order of `NAMES`; a row is what its policy got. None: not published.
"""

from collections.abc import Mapping, Sequence
from typing import Final

Table = Sequence[Sequence[float | None]]

EPISODES: Final = 100
NAMES: Final[Mapping[str, Sequence[str]]] = {
    "cooperative-reaching": tuple(f"H{number}" for number in range(1, 12)),
    "driving": ("A0", "A40", "A60", "A80", "A100"),
    "foraging": ("H1", "H2", "H3", "H4", "H5"),
    "predator-prey": ("H1", "H2", "H3"),
}
_REACHING: Final = (
    (0.14, 0.26, 0.25, 0.28, 0.14, 0.22, 0.18, 0.89, 0.63, 0.51, 0.89),
    (0.26, 0.25, 0.27, 0.26, 0.19, 0.15, 0.18, 0.88, 0.63, 0.45, 0.89),
    (0.25, 0.27, 0.43, 0.47, 0.0, 0.0, 0.28, 1.0, 1.0, 0.29, 1.0),
    (0.28, 0.26, 0.47, 0.49, 0.0, 0.0, 0.32, 1.0, 1.0, 0.27, 1.0),
    (0.14, 0.19, 0.0, 0.0, 0.30, 0.44, 0.16, 0.75, 0.20, 0.75, 0.75),
    (0.22, 0.15, 0.0, 0.0, 0.44, 0.28, 0.19, 0.75, 0.16, 0.75, 0.75),
    (0.18, 0.18, 0.28, 0.32, 0.16, 0.19, 0.23, 0.88, 0.59, 0.52, 0.87),
    (0.89, 0.88, 1.0, 1.0, 0.75, 0.75, 0.88, 0.88, 0.99, 0.76, 0.88),
    (0.63, 0.63, 1.0, 1.0, 0.20, 0.16, 0.59, 0.99, 1.0, 0.39, 1.0),
    (0.51, 0.45, 0.29, 0.27, 0.75, 0.75, 0.52, 0.76, 0.39, 0.75, 0.75),
    (0.89, 0.89, 1.0, 1.0, 0.75, 0.75, 0.87, 0.88, 1.0, 0.75, 0.0),
)
_DRIVING: Final = (
    (0.60, 0.54, 0.48, 0.57, 0.73),
    (0.56, 0.59, 0.53, 0.71, 0.79),
    (0.56, 0.52, 0.55, 0.51, 0.59),
    (0.66, 0.73, 0.59, 0.57, 0.51),
    (0.85, 0.85, 0.64, 0.50, 0.45),
)
_FORAGING: Final = (0.14, 0.05, 0.20, 0.06, 0.22)
_PREY: Final = ((0.12, 0.15, 0.31), (0.15, 0.19, 0.38), (0.31, 0.38, 0.41))

PAYOFFS: Final[Mapping[str, Table]] = {
    "cooperative-reaching": _REACHING,
    "driving": _DRIVING,
    "foraging": [[one if row == column else None for column in range(5)] for row, one in enumerate(_FORAGING)],
    "predator-prey": _PREY,
}


def published(game_id: str, row: str, column: str) -> float | None:
    """Returns what a policy got beside another one, None where that is not published."""
    names = NAMES.get(game_id, ())
    if row not in names or column not in names:
        return None
    return PAYOFFS[game_id][names.index(row)][names.index(column)]
