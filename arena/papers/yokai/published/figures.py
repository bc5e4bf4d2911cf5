"""Published figures that our results are shown beside."""

from dataclasses import dataclass
from typing import Final

YOKAI_SOURCE: Final = (
    "Yōkai Learning Environment, Tables 2 and 6 (mean ± standard error over 12 seeds; people: 25 games)"
)


@dataclass(frozen=True)
class PaperRow:
    """One row of the paper's tables.

    Attributes:
        game: our id of the configuration.
        agent: the method.
        memory: True if players were shown all cards that they had ever observed.
        self_play: R with itself, with its standard error; None where the paper has none.
        cross_play: R with agents of other seeds, with its standard error.
        cross_success_early: SEE in cross-play, a share; None where the paper has none.
        cross_early: EE in cross-play, a share.
        cross_won_given_early: WEE in cross-play, a share; None too where nobody ended early (the paper prints 0).
        cross_length: LEN in cross-play.
    """

    game: str
    agent: str
    memory: bool
    self_play: tuple[float, float] | None
    cross_play: tuple[float, float]
    cross_success_early: float | None
    cross_early: float | None
    cross_won_given_early: float | None
    cross_length: float | None


YOKAI: Final = (
    PaperRow("yokai-9c-2p", "people", False, None, (5.7, 0.5), 0.65, 0.65, 1.00, None),
    PaperRow("yokai-9c-2p", "Other-Play (OP)", True, (6.6, 0.2), (4.8, 0.1), 0.63, 0.75, 0.83, 26.7),
    PaperRow("yokai-9c-2p", "High-Entropy IPPO (HE)", True, (7.5, 0.1), (4.1, 0.8), 0.50, 0.68, 0.69, 27.2),
    PaperRow("yokai-9c-2p", "Self-Play IPPO (SP)", True, (7.5, 0.3), (1.6, 0.2), 0.18, 0.35, 0.50, 29.7),
    PaperRow("yokai-9c-2p", "Off-Belief Learning, level 4", True, (4.5, 0.2), (2.8, 0.3), 0.53, 0.66, 0.78, 28.5),
    PaperRow("yokai-9c-2p", "Other-Play with Transformer-XL", False, (0.3, 0.1), (0.3, 0.1), 0.01, 0.50, 0.01, 17.8),
    PaperRow("yokai-9c-2p", "Other-Play (OP)", False, (0.0, 0.0), (0.0, 0.0), 0.00, 0.00, None, 32.0),
    PaperRow("yokai-9c-3p", "Other-Play (OP)", True, (3.0, 0.8), (1.2, 0.2), 0.10, 0.29, 0.34, 38.0),
    PaperRow("yokai-9c-3p", "High-Entropy IPPO (HE)", True, (0.9, 0.0), (0.9, 0.0), 0.04, 1.00, 0.04, 1.0),
    PaperRow("yokai-9c-3p", "Self-Play IPPO (SP)", True, (7.8, 0.6), (0.2, 0.1), 0.00, 0.06, 0.17, 39.5),
    PaperRow("yokai-9c-4p", "High-Entropy IPPO (HE)", True, (0.7, 0.1), (0.7, 0.0), 0.02, 1.00, 0.02, 6.6),
    PaperRow("yokai-9c-4p", "Other-Play (OP)", True, (0.2, 0.0), (0.2, 0.0), 0.01, 0.68, 0.02, 36.5),
    PaperRow("yokai-9c-4p", "Self-Play IPPO (SP)", True, (0.5, 0.2), (0.1, 0.0), 0.01, 0.64, 0.01, 36.6),
    PaperRow("yokai-16c-2p", "Self-Play IPPO (SP)", True, (0.0, 0.0), (0.0, 0.0), 0.00, 0.25, 0.00, 53.2),
)


def rows(game: str) -> list[PaperRow]:
    """Returns the published rows of a game, [] if there are none."""
    return [row for row in YOKAI if row.game == game]
