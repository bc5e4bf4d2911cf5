"""The CWM paper's games and ours: which is which, and what the paper calls them."""

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

Variant: TypeAlias = Literal["tree", "conversation", "state", "closed"]
"""How a synthesis was done: `tree` (tree search; where something is hidden: open deck, whole histories inferred), and
what differs from it: refinement by `conversation`, inference of the present `state`, the `closed` deck."""

VARIANT_WORDS: Final[dict[Variant, str]] = {
    "tree": "tree search",
    "conversation": "conversation",
    "state": "tree search, hidden state inference",
    "closed": "tree search, closed deck",
}


@dataclass(frozen=True)
class PaperGame:
    """One game of the paper.

    Attributes:
        id: ours, in the registry.
        name: the paper's.
        novel: made for the paper ("OOD" in its tables).
        hidden: whether something is hidden from a player.
        payoff: what the paper reports of its matches: shares of wins, losses and draws, or mean payoffs.
        zero_sum: whether one player gains what the other loses.
    """

    id: str
    name: str
    novel: bool
    hidden: bool
    payoff: Literal["outcomes", "payoffs"]
    zero_sum: bool

    @property
    def variants(self) -> tuple[Variant, ...]:
        """The syntheses that the paper reports of this game."""
        return ("tree", "state", "closed") if self.hidden else ("tree", "conversation")


GAMES: Final = (
    PaperGame("backgammon", "Backgammon", False, False, "outcomes", True),
    PaperGame("connect_four", "Connect four", False, False, "outcomes", True),
    PaperGame("tic_tac_toe", "Tic-tac-toe", False, False, "outcomes", True),
    PaperGame("mnk", "Gen. tic-tac-toe", True, False, "outcomes", True),
    PaperGame("army5x5a", "Gen. chess", True, False, "outcomes", True),
    PaperGame("bargaining", "Bargaining", False, True, "payoffs", False),
    PaperGame("leduc_poker", "Leduc poker", False, True, "payoffs", True),
    PaperGame("gin_rummy", "Gin rummy", False, True, "payoffs", True),
    PaperGame("quadranto", "Quadranto", True, True, "outcomes", True),
    PaperGame("hand_of_war", "Hand of war", True, True, "outcomes", True),
)
BY_ID: Final = {game.id: game for game in GAMES}

PERFECT: Final = tuple(game.id for game in GAMES if not game.hidden)
HIDDEN: Final = tuple(game.id for game in GAMES if game.hidden)
WITH_OUTCOMES: Final = tuple(game.id for game in GAMES if game.hidden and game.payoff == "outcomes")
WITH_PAYOFFS: Final = tuple(game.id for game in GAMES if game.hidden and game.payoff == "payoffs")
LEARNED_PAYOFFS: Final = ("bargaining", "leduc_poker")
"""The paper trained no PPO agent on Gin rummy."""
WITH_VALUE_FUNCTION: Final = ("mnk", "bargaining")
"""Games on which the paper's planner used a value function (C.4)."""
