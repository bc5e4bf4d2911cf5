"""What a language model is told of a game beside its rules text and its played games."""

from dataclasses import dataclass
from typing import Any

from cwm.interface.templates import Edition
from cwm.interface.wording import USUAL, Wording
from cwm.trajectories.vocabulary import Vocabulary


@dataclass(frozen=True)
class Telling:
    """How a game is told.

    Attributes:
        edition: of the rules text, and so of the prompts around it.
        names: the names in the records, which a rule book does not tell; None to leave them to the played games.
        complete: whether they are all that there are, not only those of the played games.
        drawn: whether what chance may do at the start follows from no table that the program is given.
        bounds_known: whether the bounds of returns are those of the game, not only of the played games.
        wording: of the prompts.
    """

    edition: Edition = "specification"
    names: Vocabulary | None = None
    complete: bool = True
    drawn: bool = False
    bounds_known: bool = True
    wording: Wording = USUAL

    def words(self) -> dict[str, Any]:
        """Returns what templates are filled in with."""
        names = None if self.names is None else self.names.to_json()
        facts = {"complete": self.complete, "drawn": self.drawn, "bounds_known": self.bounds_known}
        return {**self.templates, "names": names, **facts}

    @property
    def templates(self) -> dict[str, Any]:
        """Which templates are filled in, as `cwm.interface.templates.render` takes it."""
        return {"edition": self.edition, "wording": self.wording.texts}


SPECIFIED = Telling()
"""By the specification, which names every field and every action string itself."""
