"""`cwm xp --checkpoint`: self-play and cross-play of trained policies, thousands of games at once."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from arena.machine import accelerated
from arena.pages import cross_play_page
from arena.papers.yokai.play.name_figures import NameFigures
from arena.papers.yokai.play.probe_figures import ColourProbes
from arena.policy_play.method_figures import LearnedCrossPlay
from arena.report import learned_tables
from arena.report.cross_play import lineup_tables, summary_table
from arena.terminal import console
from arena.terminal.bar import counted_bar
from cwm.storage.files import write_whole

PROBING: Final = "arena.papers.yokai.play.probing"
NAMING: Final = "arena.papers.yokai.play.naming"
"""Both need optional packages."""


@dataclass(frozen=True)
class XpWishes:
    """What is to be played.

    Attributes:
        game: registry id.
        names: folders of checkpoints, or names of those that ship.
        games: of a seating; None: as many as in the paper.
        seed: everything random derives from it.
        greedy: take each policy's likeliest action.
        probe_games: self-play games of each policy for probes of card colours; 0 for none.
        name_games: games of each policy with itself in which players see colours under names of their own; 0 for none.
    """

    game: str
    names: tuple[str, ...]
    games: int | None
    seed: int
    greedy: bool
    probe_games: int
    name_games: int


def show(asked: XpWishes, html: Path | None, as_json: bool) -> None:
    """Plays and prints.

    Args:
        asked: what to play.
        html: write a page there.
        as_json: print one JSON document instead of tables.

    Raises:
        GameError: the extra `learn` is not installed.
        LearnError: a checkpoint cannot be read or is of another game, or there are too few games for probes.
    """
    cross_play = accelerated.load("arena.policy_play.cross_play")
    if asked.probe_games:
        accelerated.load(PROBING).check(asked.probe_games)
    chosen = cross_play.load_all(asked.game, asked.names)
    games = asked.games or cross_play.GAMES
    with counted_bar("seatings") as told:
        found: LearnedCrossPlay = cross_play.run(chosen, games, asked.seed, asked.greedy, told)
    probes = _probes(chosen, asked) if asked.probe_games else None
    names = _names(chosen, asked) if asked.name_games else None
    if as_json:
        further = {
            "probes": None if probes is None else probes.to_json(),
            "names": None if names is None else names.to_json(),
        }
        console.print_json(found.to_json() | further)
    else:
        _print(found, probes, names)
    if html is not None:
        write_whole(html, cross_play_page.render(found.found, (), {}, found, probes, names))


def _print(found: LearnedCrossPlay, probes: ColourProbes | None, names: NameFigures | None) -> None:
    tables = [*lineup_tables(found.found), summary_table(found.found), *learned_tables.tables(found)]
    if probes is not None:
        tables += learned_tables.probe_tables(probes)
    if names is not None:
        tables += learned_tables.name_tables(names)
    for table in tables:
        console.out.print(table)


def _probes(chosen: Any, asked: XpWishes) -> ColourProbes:
    with counted_bar("probes") as told:
        found: ColourProbes = accelerated.load(PROBING).run(chosen, asked.probe_games, asked.seed, asked.greedy, told)
        return found


def _names(chosen: Any, asked: XpWishes) -> NameFigures:
    with counted_bar("games under names of their own") as told:
        found: NameFigures = accelerated.load(NAMING).run(chosen, asked.name_games, asked.seed, asked.greedy, told)
        return found
