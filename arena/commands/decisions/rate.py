"""`cwm rate`: what every move was worth where it was chosen, and how well players rate their own."""

from pathlib import Path
from typing import Annotated

import typer

from arena.decisions import agreement, search_ratings, walk
from arena.decisions.agreement import Agreement
from arena.decisions.search_ratings import RateConfig, Rated
from arena.figures.formatting import NONE, estimate, interval
from arena.figures.intervals import Estimate
from arena.figures.sheet import Sheet
from arena.terminal import console
from arena.terminal.bar import counted_bar
from arena.terminal.options import AsJson, Seed, Workers
from search.errors import SearchFailedError

MOST_WORLDS = 1_000_000
NOTE = (
    "regret: value of the best move less that of the chosen one, in points of the game; best: share of moves that none "
    "beats; tau: Kendall's tau-b between the player's own ratings and the values; top: share of moves that the player "
    "itself rated highest. In brackets the decisions; games of one deal count as alike in the 95 % intervals."
)


def command(
    run: Annotated[
        Path,
        typer.Argument(help="Folder of `cwm arena --run`, `cwm xp --run` or `cwm play`, or of several of these."),
    ],
    worlds: Annotated[
        int, typer.Option("--worlds", min=2, max=MOST_WORLDS, help="Sampled worlds a decision; each move in each.")
    ] = 100,
    by: Annotated[
        str | None,
        typer.Option(
            "--by", help="Who plays on: policy, random or partner:NAME. Default: the game's quick bot, else its policy."
        ),
    ] = None,
    clairvoyant: Annotated[
        bool,
        typer.Option("--clairvoyant", help="Value moves as who sees all that is hidden from the player."),
    ] = False,
    agent: Annotated[
        list[str] | None, typer.Option("--agent", help="Only this agent's decisions; may be given several times.")
    ] = None,
    seed: Seed = 0,
    workers: Workers = 1,
    as_json: AsJson = False,
) -> None:
    """Value every legal move of every decision by play-outs; kept beside the games, so that it goes on after a kill."""
    places = walk.played(run)
    names = agent or []
    walk.check_agents(places, names)
    config = RateConfig(worlds, by, clairvoyant, seed)
    for place in places:
        with place.opened() as game:
            config.resolved(game)
    rated: list[Rated] = []
    failed: list[str] = []
    with counted_bar("decisions") as show:
        for place in places:
            found = search_ratings.rate(place, config, names, workers, show)
            rated += found.rated
            failed += found.failed
    agents, scaffolds = agreement.by_agent(rated), agreement.by_scaffold(rated)
    if as_json:
        console.print_json(
            {
                "agents": [row.to_json() for row in agents],
                "scaffolds": [row.to_json() for row in scaffolds],
                "decisions": [_row(item) for item in rated],
                "failed": len(failed),
            }
        )
    else:
        how = f"{worlds} {'true' if clairvoyant else 'sampled'} worlds, {rated[0].config.by} plays on" if rated else ""
        console.out.print(_sheet(f"Moves by agent: {how}", agents))
        if scaffolds:
            console.out.print(_sheet(f"Moves by scaffold: {how}", scaffolds))
    if failed:
        raise SearchFailedError(f"{len(failed)} decisions could not be rated; first: {failed[0]}")


def _sheet(title: str, rows: list[Agreement]) -> Sheet:
    sheet = Sheet(title, ["agent"], ["regret", "best", "tau", "top"], note=NOTE, names=[row.who for row in rows])
    for row in rows:
        sheet.add(row.who, *(_cell(found) for found in (row.regret, row.best, row.tau, row.top)))
    return sheet


def _cell(found: Estimate | None) -> str:
    return NONE if found is None else f"{_shown(found)} ({found.n})"


def _shown(found: Estimate) -> str:
    return interval(found) if found.low is not None else estimate(found)


def _row(item: Rated) -> dict[str, object]:
    decision = item.decision
    return {
        "game": decision.key,
        "number": decision.number,
        "seat": decision.seat,
        "agent": decision.agent,
        "scaffold": decision.scaffold,
        "action": decision.action,
        "regret": item.regret,
        "moves": [value._asdict() for value in item.values],
    }
