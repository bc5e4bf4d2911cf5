"""Where the results of agents that were trained on a model are looked for (the CWM paper, appendix D).

Whoever trains one plays it in tournaments whose games stand in `learned/` of the synthesis's folder, with the agents
named as in `arena.paper.matches` and itself as `AGENT`; the tables then show them without further ado.
"""

from typing import Final

from arena.match import GameRecord
from arena.paper import matches
from arena.paper.places import LEARNED, Place

AGENT: Final = "learned"
"""Name of the trained agent in its games."""


def games(place: Place) -> list[GameRecord]:
    """Returns the finished games of an agent trained on a synthesis's model, [] if none was trained."""
    return matches.stored(place, LEARNED)
