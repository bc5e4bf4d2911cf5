"""`cwm agents`: try an agent of one's own before it plays."""

from dataclasses import asdict
from typing import Annotated

import typer

from arena.agent_check import kit
from arena.agents.kinds import KINDS
from arena.agents.specs import kind_of, parse
from arena.commands.exit_codes import EXIT_NEGATIVE
from arena.matches import seating
from arena.matches.game_source import open_game
from arena.terminal import console
from arena.terminal.bar import counted_bar
from arena.terminal.options import AsJson, Seed
from arena.usage import UsageError
from games import plugins

app = typer.Typer(no_args_is_help=True, help="List the kinds of agents, try an agent of your own.")
_OWN = " and ".join(f"{kind.name}:" for kind in KINDS.values() if kind.own or kind.program)


@app.command("list")
def list_agents(as_json: AsJson = False) -> None:
    """List the kinds of agents, and how each is written; those of installed distributions too."""
    kinds = [*KINDS.values(), *(kind_of(name) for name in plugins.names(plugins.AGENTS) if name not in KINDS)]
    if as_json:
        console.print_json([{"name": kind.name, "help": kind.help} for kind in kinds])
        return
    for kind in kinds:
        console.out.print(kind.help)


@app.command()
def check(
    agent: Annotated[str, typer.Argument(help="exec:COMMAND, python:FILE:CLASS or one that a distribution brings.")],
    game: Annotated[str, typer.Option("--game", help="Id of the game that it plays.")] = "tic_tac_toe",
    games: Annotated[int, typer.Option("--games", min=1, help="Games, at most, its seats in turn.")] = kit.GAMES,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Play games with an agent of your own against random players and tell its faults, with what led to them."""
    spec = parse(agent)
    if not (spec.traits.own or spec.traits.program):
        raise UsageError(f"{agent!r} is an agent of ours: give one of your own, {_OWN}.")
    with open_game(game) as made, counted_bar("games") as show:
        findings = kit.check(seating.resolve(spec, made), made, games, seed, show)
    if as_json:
        console.print_json(asdict(findings))
    else:
        _print(findings, spec.name)
    if findings.faults:
        raise typer.Exit(EXIT_NEGATIVE)


def _print(findings: kit.Findings, name: str) -> None:
    told: set[str] = set()
    for fault in findings.faults:
        if fault.detail in told:
            continue
        told.add(fault.detail)
        console.out.print(f"{fault.kind}: {fault.detail} (game {fault.game}, seat {fault.seat})")
        for line in fault.lines:
            console.out.print(f"    {line.way:8} {line.text}")
    played = f"{findings.games} games, {findings.moves} moves"
    if not findings.faults:
        console.out.print(f"no faults: {name}, {played}")
        return
    kinds: dict[str, int] = {}
    for fault in findings.faults:
        kinds[fault.kind] = kinds.get(fault.kind, 0) + 1
    counted = ", ".join(f"{count} x {kind}" for kind, count in kinds.items())
    console.out.print(f"faults: {counted}; {name}, {played}")
