"""The games that a synthesis's model is tested on as played: the CWM paper's "online" accuracy."""

from collections.abc import Sequence
from pathlib import Path

from arena.match import GameRecord
from arena.paper import matches, recorded_players
from arena.paper.places import MATCHES, ONLINE, PLAYER, WITHOUT_VALUE, Place
from cwm.storage.keys import content_key


def games(place: Place, live: bool) -> list[GameRecord]:
    """Returns the games in which a synthesis's model was played, in a fixed order.

    A model that plays in none, as no table is about its matches, is tested on those of the usual synthesis of the game.

    Args:
        place: the synthesis.
        live: whether a live language model plays; otherwise the recorded games with one count too.
    """
    found = [record for part in (MATCHES, PLAYER, WITHOUT_VALUE) for record in matches.stored(place, part)]
    if place.variant == "tree":
        return found if live else found + recorded_players.games(place.game)
    return found or games(Place(place.root, place.game, "tree", place.seed), live)


def folder(place: Place, played: Sequence[GameRecord]) -> Path:
    """Returns where the evaluation on these games is kept: other games are another evaluation."""
    return place.part(f"{ONLINE}-{content_key([record.actions for record in played])[:12]}")
