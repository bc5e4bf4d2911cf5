"""How a game is told to a language model: by which text, with which names, with or without a table of what is dealt."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

from arena.usage import UsageError
from cwm.interface.wording import USUAL, Wording
from cwm.trajectories.recorded import Deck, Trajectory
from cwm.trajectories.telling import Detail, Telling
from cwm.trajectories.vocabulary import Vocabulary
from games import registry
from games.api import Game
from games.posg import as_game

Names: TypeAlias = Literal["list", "none"]
Chance: TypeAlias = Literal["listed", "drawn"]


@dataclass(frozen=True)
class HowTold:
    """The choices of a run.

    Attributes:
        detail: `book`: the rules as people tell them; `specification`: every field and every action string as well.
        names: with a rule book, whether the names in the records are listed beside it.
        chance: where no rule says what may be dealt, whether the table of it is handed over.
        wording: of the prompts.
    """

    detail: Detail = "book"
    names: Names = "list"
    chance: Chance = "listed"
    wording: Wording = USUAL

    @classmethod
    def asked(
        cls,
        game_id: str | None,
        detail: str,
        names: str | None,
        chance: str | None,
        told: bool = True,
        wording: Wording = USUAL,
    ) -> "HowTold":
        """Returns what was asked for on the command line.

        Args:
            game_id: of a registered game; None for a user's own.
            detail: see above.
            names: see above; None for `list`, where no rules are told `none`.
            chance: see above; None for `drawn` where there is a table, with a rule book.
            told: whether any rules are told.
            wording: of the prompts.

        Raises:
            UsageError: it is unknown, or does not go together.
        """
        if names == "none" and detail == "specification":
            raise UsageError("The specification tells all names itself: leave out the option `vocabulary`.")
        names = names or ("list" if told or detail == "specification" else "none")
        for option, given, choices in (("rules_detail", detail, Detail), ("vocabulary", names, Names)):
            if given not in get_args(choices):
                raise UsageError(f"The option `{option}` is {given!r}; give {' or '.join(get_args(choices))}.")
        if chance not in (None, *get_args(Chance)):
            raise UsageError(f"The option `chance` is {chance!r}; give {' or '.join(get_args(Chance))}.")
        table = game_id is not None and bool(registry.describe(game_id).drawn)
        if chance is not None and not table:
            raise UsageError(
                f"What may be dealt in {game_id or 'a game of your own'} follows from its rules or from its games: "
                "leave out the option `chance`."
            )
        if chance is None:
            chance = "drawn" if table and detail == "book" else "listed"
        return cls(detail, names, chance, wording)  # type: ignore[arg-type]

    @property
    def by_book(self) -> bool:
        """Whether the game is told as to people."""
        return self.detail == "book"

    def rules(self, game_id: str, joint: bool = False) -> str:
        """Returns the text of a registered game; for a program with a joint step, without that of its turns."""
        return as_game.told(game_id) if joint and not self.by_book else registry.told(game_id, self.by_book)

    def params(self, game_id: str) -> Mapping[str, Any]:
        """Returns what a registered game is made with."""
        return registry.describe(game_id).drawn if self.chance == "drawn" else {}

    def make(self, game_id: str) -> Game:
        """Returns the registered game whose states are shown."""
        return registry.make(game_id, **self.params(game_id))

    def recorded(self, game_id: str) -> Game:
        """Returns the registered game as it is recorded: broken off earlier where whole games would be too long."""
        return registry.make(game_id, **self.params(game_id), **registry.describe(game_id).recorded)

    def telling(
        self,
        game_id: str | None,
        games: Sequence[Trajectory],
        deck: Deck = "open",
        bounds_known: bool = True,
        joint: bool = False,
    ) -> Telling:
        """Returns what the model is told beside rules and games.

        Args:
            game_id: of a registered game; None for a user's own.
            games: the played ones; their names stand for those of the game where nobody collected these.
            deck: in the closed deck only what players see is named.
            bounds_known: whether the bounds of returns are those of the game.
            joint: whether the program has a joint step, and knows nothing of turns.
        """
        drawn = self.chance == "drawn"
        if not self.by_book or self.names == "none":
            return Telling(drawn=drawn, bounds_known=bounds_known, wording=self.wording)
        collected = None if game_id is None else registry.vocabulary(game_id, drawn)
        names = Vocabulary.of(games, deck) if collected is None else Vocabulary.from_json(collected)
        names = names.joint() if joint else names.closed() if deck == "closed" else names
        return Telling(names, collected is not None, drawn, bounds_known, self.wording)


BY_BOOK = HowTold()
