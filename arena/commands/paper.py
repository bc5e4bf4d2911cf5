"""`cwm paper`: the CWM paper's tables and figures, rebuilt, each number beside the paper's; other papers' by name."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from arena.commands import hanabi_paper
from arena.commands.exit_codes import EXIT_PROVIDER, EXIT_SYSTEM
from arena.commands.papers import overcooked, posggym
from arena.papers.cwm.published.games import GAMES
from arena.papers.cwm.published.layout import FIGURE_BY_NUMBER, TABLE_BY_NUMBER
from arena.papers.cwm.tables import page, scaling, settings, sheets, writing
from arena.papers.cwm.tables.cells import PaperTable
from arena.papers.cwm.tables.experiments import Rebuilding, Watching
from arena.papers.cwm.tables.measuring import Stored
from arena.papers.cwm.tables.settings import DEFAULT_MINUTES, PaperSelection, PaperWishes
from arena.papers.hanabi.tables import own_games
from arena.runs import language_model
from arena.runs.standard import standard_settings
from arena.terminal import console
from arena.terminal.live_view import LiveView
from arena.terminal.options import (
    NO_CAPS,
    AsJson,
    BaseUrl,
    Decks,
    Effort,
    ModelSpec,
    Temperature,
    TournamentBudget,
    Workers,
    takes_caps,
)
from arena.usage import UsageError
from cwm.llm.caps import Caps
from cwm.llm.line import effort_of

CWM = "cwm"
PAPERS = (CWM, hanabi_paper.NAME, overcooked.NAME, posggym.NAME)
TABLES = "tables"
REPORT = "report.html"


@takes_caps
def command(
    paper: Annotated[
        str,
        typer.Option(
            "--paper",
            help="cwm, or hanabi: language models in Hanabi, with games that ship or that --run keeps, and bots on the "
            "decks of --deck, beside the paper's; it goes with --tables, --run, --output, --deck and --workers alone; "
            "or overcooked: games of two steps, learned at once, and policies of `cwm train overcooked` in --run; "
            "or posggym: published results, and matrices of `cwm posg matrix` in --run.",
        ),
    ] = CWM,
    games: Annotated[
        str | None, typer.Option("--games", help="Ids of games of the paper, with commas. Default: all ten.")
    ] = None,
    tables: Annotated[
        str | None,
        typer.Option(
            "--tables",
            help="Numbers of tables, with commas, or none; of hanabi, names. Default: 1-16 and 18-24, of hanabi all.",
        ),
    ] = None,
    figures: Annotated[
        str | None,
        typer.Option(
            "--figures",
            help="Numbers of figures, with commas, or none. Default: 1-4 and 6-9, none if --tables is given.",
        ),
    ] = None,
    seeds: Annotated[
        str | None,
        typer.Option(
            "--seeds", help="Seeds of the syntheses, with commas. Default: 0,1,2,3,4 as far as recorded, 0 with --llm."
        ),
    ] = None,
    llm: ModelSpec = None,
    base_url: BaseUrl = None,
    temperature: Temperature = None,
    reasoning_effort: Effort = None,
    budget: Annotated[
        float | None,
        typer.Option(
            "--budget",
            min=0.0,
            help=f"Minutes a game on this machine, default {DEFAULT_MINUTES:g}. A small part of it is timed first; "
            "simulations, matches and held-out transitions that fit are kept in the folder and printed in every table.",
        ),
    ] = None,
    paper_setting: Annotated[
        bool,
        typer.Option(
            "--paper-setting",
            help="The paper's own numbers, whatever they take: 1,000 simulations, 10 rollouts, 100 matches a seat, "
            "10,000 held-out transitions.",
        ),
    ] = False,
    simulations: Annotated[int | None, typer.Option(min=1, help="Simulations a move, not chosen by time.")] = None,
    rollouts: Annotated[int | None, typer.Option(min=1, help="Rollouts a leaf, not chosen by time.")] = None,
    matches: Annotated[int | None, typer.Option(min=1, help="Matches a seat, not chosen by time.")] = None,
    transitions: Annotated[int | None, typer.Option(min=1, help="Held-out transitions, not chosen by time.")] = None,
    player_deals: Annotated[
        int | None,
        typer.Option("--player-deals", min=1, help="Matches a seat with the language model of --llm. Default: 5."),
    ] = None,
    learned: Annotated[
        int | None,
        typer.Option(
            "--learned",
            min=5000,
            help="Train agents on the models for so many decisions each, for Tables 18-24; the paper's are 10,000,000.",
        ),
    ] = None,
    learned_seeds: Annotated[
        int | None, typer.Option("--learned-seeds", min=1, help="Such agents a seat; the best plays. Default: 5.")
    ] = None,
    run: Annotated[
        Path | None,
        typer.Option(
            "--run", help="Folder that keeps everything and what was asked for: `cwm paper --run FOLDER` goes on."
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", help="Folder of tables and report. Default: that of --run.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option("--seed", help="Matches and held-out games derive from it. Default: 0.")
    ] = None,
    tournament_budget: TournamentBudget = None,
    deck: Decks = None,
    caps: Caps = NO_CAPS,
    workers: Workers = 2,
    as_json: AsJson = False,
) -> None:
    """Rebuild the CWM paper's tables and figures, each number beside the paper's, from recorded completions or live."""
    if paper != CWM:
        words = (games, figures, seeds, llm, base_url, reasoning_effort)
        numbers = (temperature, budget, simulations, rollouts, matches, transitions, player_deals, learned)
        more = any(given is not None for given in (*words, *numbers, learned_seeds, seed, tournament_budget))
        _check_other(paper, more or paper_setting or caps != NO_CAPS)
        if paper != hanabi_paper.NAME:
            _check_deck(deck)
        if paper == overcooked.NAME:
            overcooked.show(overcooked.OvercookedWishes(tables, run, output), as_json)
            return
        if paper == posggym.NAME:
            posggym.show(posggym.PosggymWishes(tables, run, output), as_json)
            return
        wishes = hanabi_paper.HanabiWishes(tables, run, output, deck or own_games.DECKS, workers)
        hanabi_paper.show(wishes, as_json)
        return
    _check_deck(deck)
    selection = _selection(tables, figures)
    given = {"simulations": simulations, "rollouts": rollouts, "deals": matches, "transitions": transitions}
    told = {
        "games": settings.chosen_games(games),
        "seeds": settings.chosen_seeds(seeds),
        "llm": llm,
        "base_url": base_url,
        "temperature": temperature,
        "reasoning_effort": None if reasoning_effort is None else effort_of(reasoning_effort),
        "tournament_budget": tournament_budget,
        "minutes": budget,
        "scale": _scale(given, paper_setting),
        "player_deals": player_deals,
        "seed": seed,
        "learned": learned,
        "learned_seeds": learned_seeds,
    }
    folder = run or Path("runs") / f"paper-{datetime.now(UTC):%Y%m%d-%H%M%S}"
    asking = caps != NO_CAPS or any(given is not None for given in (temperature, reasoning_effort, tournament_budget))
    _check_model(llm or settings.known_llm(folder), base_url, caps, asking)
    asked = settings.keep(folder, told)
    selection = replace(selection, learned=asked.learned is not None)
    console.notices.print(f"run folder {folder}")
    rebuilt = _run(folder, asked, selection, caps, workers)
    found = sheets.build(Stored(folder, asked), selection)
    _write(output or folder, found)
    _show(found, as_json)
    console.notices.print(f"tables: {(output or folder) / TABLES}   report: {(output or folder) / REPORT}")
    _exit(rebuilt, folder)


def _check_deck(deck: list[str] | None) -> None:
    if deck:
        raise UsageError("--deck is of --paper hanabi: leave it out.")


def _check_other(paper: str, more: bool) -> None:
    """Checks that another paper is known and that nothing was asked for that it has not."""
    if paper not in PAPERS:
        raise UsageError(f"--paper is {paper!r}: it is one of {', '.join(PAPERS)}.")
    if more:
        own = "--deck, --workers and --json" if paper == hanabi_paper.NAME else "--json"
        joined = ", " if paper == hanabi_paper.NAME else " and "
        raise UsageError(
            f"--paper {paper} goes with --tables, --run, --output{joined}{own} alone: leave out the other options."
        )


def _selection(tables: str | None, figures: str | None) -> PaperSelection:
    chosen = settings.chosen_numbers(tables, "--tables", TABLE_BY_NUMBER)
    drawn = "none" if figures is None and tables is not None else figures
    return PaperSelection(chosen, settings.chosen_numbers(drawn, "--figures", FIGURE_BY_NUMBER))


def _check_model(llm: str | None, base_url: str | None, caps: Caps, asking: bool) -> None:
    """Checks a live model's name, key and price before a folder is made."""
    if llm is not None:
        language_model.check(standard_settings(GAMES[0].id, llm, base_url, 0), caps)
    elif asking:
        raise UsageError(
            "Without --llm nothing is asked live: leave out caps, prices, --temperature, --reasoning-effort and "
            "--tournament-budget."
        )


def _scale(given: dict[str, int | None], paper_setting: bool) -> tuple[tuple[str, int], ...] | None:
    own = {name: value for name, value in given.items() if value is not None}
    if paper_setting and own:
        raise UsageError(
            "--paper-setting is the paper's own numbers: leave it out, or leave out --simulations, --rollouts, "
            "--matches and --transitions."
        )
    return scaling.paper_scale() if paper_setting else tuple(sorted(own.items())) or None


def _run(folder: Path, asked: PaperWishes, selection: PaperSelection, caps: Caps, workers: int) -> Rebuilding:
    try:
        with LiveView(console.notices) as live:
            rebuilt = Rebuilding(folder, asked, selection, caps, workers, Watching(live.stage, live.progress, live))
            rebuilt.run()
            return rebuilt
    except BaseException:
        console.notices.print(f"what was finished is kept in {folder}; `cwm paper --run {folder}` goes on")
        raise


def _write(folder: Path, found: list[PaperTable]) -> None:
    writing.write(folder / TABLES, found)
    page.write(folder / REPORT, found)


def _show(found: list[PaperTable], as_json: bool) -> None:
    if as_json:
        console.print_json([sheet.to_json() for sheet in found])
        return
    for sheet in found:
        console.out.print(writing.terminal_table(sheet))


def _exit(rebuilt: Rebuilding, folder: Path) -> None:
    for problem in (*rebuilt.unanswered, *rebuilt.broken):
        console.notices.print(f"error: {problem}")
    if rebuilt.unanswered or rebuilt.broken:
        console.notices.print(f"`cwm paper --run {folder}` goes on")
        raise typer.Exit(EXIT_PROVIDER if rebuilt.unanswered else EXIT_SYSTEM)
