"""Populations without policies that play like one another: clusters by their rows in a table of payoffs.

As in the experiments of Schwartz et al. (2025): a policy begins a cluster where the nearest one is farther than
`min + 0.1 (max - min)` of the Euclidean distances between rows. Ours is the order: that of the table, and a cluster is
as far away as its first policy, which is kept.
"""

import math
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Any, Final

from arena.posg.payoffs import Payoff
from arena.usage import UsageError
from cwm.storage import stored_json

SHARE: Final = 0.1
"""Of the way from the smallest distance to the largest: policies no farther apart count as one."""


def clusters(table: Sequence[Payoff], share: float = SHARE) -> list[list[str]]:
    """Returns the policies of a table in clusters, the one that is kept first in each.

    Args:
        table: of every ordered pair of policies.
        share: see `SHARE`, 0 to 1.

    Raises:
        UsageError: a pair is missing.
    """
    means = {(payoff.row, payoff.column): payoff.mean for payoff in table}
    names = list(dict.fromkeys(payoff.row for payoff in table))
    missing = [(row, column) for row in names for column in names if (row, column) not in means]
    if missing:
        raise UsageError(f"the payoff of {missing[0][0]} beside {missing[0][1]} is missing: play all pairs first.")
    rows = {name: [means[name, column] for column in names] for name in names}
    distances = [math.dist(rows[one], rows[other]) for one, other in combinations(names, 2)]
    far = min(distances) + share * (max(distances) - min(distances)) if distances else 0.0
    found: list[list[str]] = []
    for name in names:
        near = min(found, key=lambda cluster: math.dist(rows[name], rows[cluster[0]]), default=None)
        if near is not None and math.dist(rows[name], rows[near[0]]) <= far:
            near.append(name)
        else:
            found.append([name])
    return found


def read_table(path: Path) -> tuple[str, list[Payoff]]:
    """Reads what `arena.posg.payoffs.payoff_table` kept; returns the game and the table.

    Raises:
        UsageError: the file holds no payoffs.
    """

    def made(stored: dict[str, Any]) -> tuple[str, list[Payoff]]:
        return stored["settings"]["game"], list(map(stored_json.exactly(Payoff), stored["pairs"].values()))

    return stored_json.read(path, made, UsageError, "give a file that `cwm posg payoffs` kept")
