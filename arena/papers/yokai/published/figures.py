"""Published figures that our results are shown beside."""

from dataclasses import dataclass
from typing import Any, Final

from arena.figures import formatting
from arena.figures.sheet import Sheet
from arena.papers.yokai.published import results

PERCENT: Final = 100


@dataclass(frozen=True)
class PublishedRow:
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


def rows(game: str) -> list[PublishedRow]:
    """Returns the published rows of a game, [] if there are none."""
    return [_row(game, row) for row in results.shown(game)]


def sheet(game: str) -> Sheet | None:
    """Returns R of the published rows of a game for a page, None if there are none."""
    made = Sheet(results.SHOWN_SOURCE, ["agent", "memory help"], ["R with itself", "R with others"])
    for row in rows(game):
        scores = map(formatting.pair, (row.self_play, row.cross_play))
        made.add(row.agent, "yes" if row.memory else "no", *scores)
    return made if made.rows else None


def _row(game: str, row: dict[str, Any]) -> PublishedRow:
    score, *others = row["cross_play"].split()
    success_early, early, won_given_early, length = map(_mean, others)
    return PublishedRow(
        game=game,
        agent=row["agent"],
        memory=row.get("memory", True),
        self_play=_with_error(row["self_play"].split()[0]) if "self_play" in row else None,
        cross_play=_with_error(score),
        cross_success_early=_share(success_early),
        cross_early=_share(early),
        cross_won_given_early=_share(won_given_early) if early else None,
        cross_length=length,
    )


def _with_error(word: str) -> tuple[float, float]:
    mean, error = word.split("±")
    return float(mean), float(error)


def _mean(word: str) -> float | None:
    """Returns the mean of `mean±error` or of a mean alone, None for a dash."""
    return None if word == "–" else float(word.partition("±")[0])


def _share(percent: float | None) -> float | None:
    return None if percent is None else percent / PERCENT
