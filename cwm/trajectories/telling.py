"""What a language model is told of a game beside its rules text and its played games."""

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from cwm.interface.wording import USUAL, Wording
from cwm.trajectories.vocabulary import Vocabulary

Detail: TypeAlias = Literal["book", "specification"]
"""Which text a game is told by: a rule book for people, or the specification of the implementation."""


@dataclass(frozen=True)
class Telling:
    """How a game is told.

    Attributes:
        names: the names in the records, which a rule book does not tell; None to leave them to the played games.
        complete: whether they are all that there are, not only those of the played games.
        drawn: whether what chance may do at the start follows from no table that the program is given.
        bounds_known: whether the bounds of returns are those of the game, not only of the played games.
        wording: of the prompts.
    """

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
        return {"wording": self.wording.texts}


UNNAMED = Telling()
"""Nothing beside rules and games, as with a specification, which names every field and every action string itself."""
