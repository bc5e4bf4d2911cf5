"""A tournament as one HTML page: who beats whom, ratings, what went wrong, games to watch, calls to models."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from arena.exports import watching
from arena.exports.watching import Watched
from arena.figures import metrics, templates
from arena.figures.dots import Dot, DotPlot
from arena.language_players.models import CALLS_FILE
from arena.matches.game_source import open_game
from arena.matches.verification import VerifiedGames
from arena.pages import elo, folder_page
from arena.pages.run_page import player
from arena.report import bounded
from arena.report.arena_view import view
from arena.report.data import ArenaView
from arena.report.page import cooperative, heat, plots
from cwm.llm.journaled import StoredCall
from cwm.record.calls import RecordedCalls
from cwm.storage.journal import Journal

MOST_CALLS: Final = 500
MOST_CHARACTERS: Final = 4_000_000
"""Of prompts and answers on the page; the others are in the folder, and the page says how many."""


@dataclass(frozen=True)
class Tournament:
    """What the page shows.

    Attributes:
        games: of the folder, checked against the rules.
        arena: their tables.
        watched: games to watch, None where there are none.
        calls: to language models, in their order.
        left_out: calls beyond what a page may hold.
    """

    games: VerifiedGames
    arena: ArenaView
    watched: Watched | None
    calls: tuple[StoredCall, ...]
    left_out: int


def read(folder: Path, games: VerifiedGames) -> Tournament:
    """Reads what a tournament's folder holds beside its checked games; nothing is asked or played.

    Raises:
        RunCorruptError: the journal of the calls is damaged.
    """
    config = games.config
    with open_game(config.game, config.referee, **config.params) as game:
        watched = watching.of(game, games.result.records)
    calls, left_out = _calls(folder / CALLS_FILE)
    return Tournament(games, view("Matches", config, games.result), watched, tuple(calls), left_out)


def render(found: Tournament) -> str:
    """Returns the page; every value is escaped, and it runs no script but the player of its games."""
    table = found.arena.table
    rated = [] if cooperative(table) else elo.ratings(found.games.result.records)
    shown = bounded.arena(found.arena)
    return templates.page(
        "arena.pages",
        "tournament.html.j2",
        found=found,
        arena=shown,
        plots=plots(table.game, shown.table.agents) if cooperative(table) else [],
        sentence=_sentence(found, rated),
        rated=_plot(rated),
        asked=len(found.calls) + found.left_out,
        faults=_faults(found),
        heat=heat,
        cooperative=cooperative,
        terms=metrics.TERMS,
        player=player(found.watched),
        policy=watching.script_source() if found.watched else "",
    )


def write(folder: Path, found: Tournament) -> str:
    """Writes the page into the tournament's folder and returns what a command says of it; as `folder_page.write`."""
    return folder_page.write(folder, found.arena.table.games, lambda: render(found))


def _calls(path: Path) -> tuple[list[StoredCall], int]:
    if not path.exists():
        return [], 0
    journal = Journal(path, read_only=True)
    try:
        stored = list(RecordedCalls(journal).calls())
    finally:
        journal.close()
    shown, characters = [], 0
    for call in stored[:MOST_CALLS]:
        answer = "" if call.completion is None else call.completion.text
        characters += len(answer) + sum(len(message.text) for message in call.request.messages)
        if characters > MOST_CHARACTERS:
            break
        shown.append(call)
    return shown, len(stored) - len(shown)


def _sentence(found: Tournament, rated: Sequence[elo.Rating]) -> str:
    table = found.arena.table
    games = f"{table.games:,} {'game' if table.games == 1 else 'games'} of {table.game}"
    if cooperative(table):
        scored = [(agent.self_play.score.mean, agent.agent) for agent in table.agents if agent.self_play is not None]
        best = max(scored, default=None)
        return f"In {games} {best[1]} scores best with itself: {best[0]:.2f}." if best else f"{games} were played."
    if rated:
        return f"In {games} {rated[0].agent} is the strongest of {len(rated)} agents."
    return f"{games} were played."


def _plot(rated: Sequence[elo.Rating]) -> DotPlot | None:
    if not rated:
        return None
    dots = [Dot(rating.agent, rating.value, rating.low, rating.high) for rating in rated]
    ends = [end for rating in rated for end in (rating.low, rating.high) if end is not None]
    return DotPlot.of("Ratings: points on the scale of Elo", dots, min([0.0, *ends]), max([0.0, *ends]), digits=0)


def _faults(found: Tournament) -> list[tuple[str, str, int]]:
    """Returns (who, what, how often) of forfeits, fallbacks and bad answers of agents, and of games that broke."""
    rows = []
    for agent in found.arena.table.agents:
        for what, counts in (
            ("forfeit", agent.forfeits),
            ("its own method gave up", agent.fallbacks),
            ("bad answer", agent.bad_answers),
        ):
            rows += [(agent.agent, f"{what}: {kind}", count) for kind, count in sorted(counts.items())]
    return rows + [("no agent", message, count) for message, count in found.games.result.faults.items()]
