"""`cwm play`: a person in the terminal, with or against any agent; or agents alone, to watch."""

import secrets
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.prompt import Prompt

from arena.agents.api import Agent
from arena.agents.human import HumanAgent, HumanQuitError, Manners, Read
from arena.agents.kinds import ANYBODY
from arena.agents.specs import AgentSpec, AgentSpecError
from arena.commands import played
from arena.commands.exit_codes import EXIT_NEGATIVE
from arena.language_players import notation
from arena.machine import shipped
from arena.machine.runtime import Runtime
from arena.matches import seating
from arena.matches.game_source import named_decks, open_game, rules_text
from arena.matches.match import GameRecord, play
from arena.matches.plan import PlannedGame
from arena.one_game import kept
from arena.terminal import console
from arena.terminal.game_words import words_of
from arena.terminal.options import GAME, AsJson, Decks, KeepSearch
from arena.usage import UsageError
from cwm.storage.keys import derive
from games.api import Action, Game, GameError, UnknownGameError


def command(
    game: Annotated[str, typer.Argument(help=GAME)],
    agent: Annotated[
        list[str] | None,
        typer.Option(
            "--agent",
            help=f"Who sits where, one option a seat from seat 0: {ANYBODY}. Nothing keeps a language model's answers. "
            "Random plays seats that are not given.",
        ),
    ] = None,
    seed: Annotated[
        int | None, typer.Option("--seed", help="Deal this game again; default: a new deal, whose seed is told.")
    ] = None,
    deck: Decks = None,
    run: Annotated[
        Path | None, typer.Option("--run", help="Folder that keeps the finished game; default: runs/play-GAME-TIME.")
    ] = None,
    confirm: Annotated[
        bool, typer.Option("--confirm/--no-confirm", help="In a terminal, ask before a move is played for good.")
    ] = True,
    keep_search: KeepSearch = False,
    as_json: AsJson = False,
) -> None:
    """Play one game; default: you at seat 0, random at the others."""
    with open_game(game) as made:
        specs = kept.seated(agent or ["human"], made)
        runtime = Runtime(shipped.level_of([spec.model_hash for spec in specs if spec.traits.sandboxed]))
        drawn = seed is None and not deck
        chosen = secrets.randbelow(10**6) if drawn else seed or 0
        decks = named_decks(made, deck) if deck else ()
        if len(decks) > 1:
            raise UsageError(f"{len(decks)} decks are named, and this is one game: name one with --deck.")
        config, plan = kept.planned(game, specs, chosen, runtime, decks)
        folder = kept.folder_for(game, run)
        screen = console.notices if as_json else console.out
        if drawn:
            console.notices.print(f"deal {chosen} (--seed {chosen} deals it again)")
        asks = confirm and sys.stdin.isatty()
        try:
            table = _Table(screen, asks, game, keep_search)
            record = _played(made, specs, runtime, plan, table)
        except BaseException as stop:
            kept.leave(folder)
            if isinstance(stop, HumanQuitError):
                _leave(stop, screen)
            raise
        kept.keep(folder, config, plan, record, made)
        if as_json:
            console.print_json(record.to_json())
        else:
            played.tell(made, specs, record)
        console.notices.print(f"kept: {folder} (cwm verify {folder} plays it again)", soft_wrap=True)


@dataclass(frozen=True)
class _Table:
    """What was asked for beside the players.

    Attributes:
        screen: where people read.
        asks: whether they are asked before a move is played.
        game: as the user named it.
        explain: whether the game keeps what agents considered.
    """

    screen: Console
    asks: bool
    game: str
    explain: bool


def _leave(stop: HumanQuitError, screen: Console) -> None:
    screen.print()
    if stop.how == "interrupt":
        raise KeyboardInterrupt from None
    console.notices.print(str(stop))
    raise typer.Exit(0 if stop.how == "quit" else EXIT_NEGATIVE) from None


def _played(
    game: Game,
    specs: list[AgentSpec],
    runtime: Runtime,
    plan: PlannedGame,
    table: "_Table",
) -> GameRecord:
    """Plays the game.

    Args:
        game: the true game.
        specs: of the agents by seat.
        runtime: limits of programs that are not trusted.
        plan: the deal, and what the agents' seeds derive from.
        table: what was asked for beside the players.
    """
    actions: list[tuple[int, Action]] = []
    open_to_all = game.info.perfect_information and not game.info.simultaneous
    manners = Manners(
        read=_reader(game),
        words=words_of(game),
        rules=lambda: _rules(table.game),
        confirm=table.asks,
        public=(lambda: actions) if open_to_all else None,
    )
    agents = [_agent(spec, game, runtime, table.screen, manners) for spec in specs]
    return play(
        game,
        agents,
        plan.deal_seed,
        [derive("agent", plan.course, seat) for seat in range(len(agents))],
        runtime.level if any(spec.traits.sandboxed for spec in specs) else None,
        lambda player, action: actions.append((player, action)),
        explain=table.explain,
        deck=plan.deck,
    )


def _agent(spec: AgentSpec, game: Game, runtime: Runtime, screen: Console, manners: Manners) -> Agent:
    if spec.traits.terminal:

        def ask(text: str) -> str:
            return Prompt.ask(text.rstrip("> "), console=screen)

        return HumanAgent(ask, screen, spec.name, spec.view, manners)
    return seating.build(spec, game, runtime)


def _reader(game: Game) -> Read:
    """Returns what reads a person's moves: one notation for people and for language models."""
    try:
        own = notation.own_notations(game.info.id)
    except UnknownGameError:
        own = notation.OwnNotations()
    return lambda text, legal: notation.read(text, legal, own)


def _rules(game: str) -> str:
    """Returns the rules of a game, or why there are none."""
    try:
        return rules_text(game)
    except (GameError, AgentSpecError) as error:
        return str(error)
