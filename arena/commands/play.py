"""`cwm play`: a person in the terminal, with or against any agent; or agents alone, to watch."""

from typing import Annotated

import typer
from rich.console import Console
from rich.prompt import Prompt

from arena.agents.api import Agent
from arena.agents.human import HumanAgent, HumanQuitError
from arena.agents.kinds import ANYBODY
from arena.agents.specs import AgentSpec, parse
from arena.commands.exit_codes import EXIT_NEGATIVE
from arena.machine import shipped
from arena.machine.runtime import Runtime
from arena.matches import seating
from arena.matches.game_source import open_game
from arena.matches.match import play
from arena.pipeline import recorded_models
from arena.terminal import console
from arena.terminal.options import AsJson, Seed
from arena.usage import UsageError
from cwm.storage.keys import derive
from games.api import CHANCE, Game, RendersText


def command(
    game: Annotated[str, typer.Argument(help="Id of a game, or cwm:RUN to play on a synthesised model itself.")],
    agent: Annotated[
        list[str] | None,
        typer.Option(
            "--agent",
            help=f"Who sits where, one option a seat from seat 0: {ANYBODY}. Nothing keeps a language model's answers. "
            "Random plays seats that are not given.",
        ),
    ] = None,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Play one game; default: you at seat 0, random at the others."""
    with open_game(game) as made:
        specs = _specs(agent or ["human"], made)
        runtime = Runtime(shipped.level_of([spec.model_hash for spec in specs if spec.traits.sandboxed]))
        screen = console.notices if as_json else console.out
        agents = [_agent(spec, made, runtime, screen) for spec in specs]
        try:
            record = play(
                made,
                agents,
                derive("deal", made.info.id, seed),
                [derive("agent", seed, seat) for seat in range(len(agents))],
                runtime.level if any(spec.traits.sandboxed for spec in specs) else None,
            )
        except HumanQuitError as stop:
            screen.print()
            if stop.how == "interrupt":
                raise KeyboardInterrupt from None
            console.notices.print(str(stop))
            raise typer.Exit(0 if stop.how == "quit" else EXIT_NEGATIVE) from None
        if as_json:
            console.print_json(record.to_json())
            return
        _show(made, record.actions)
        for seat, spec in enumerate(specs):
            console.out.print(f"{made.info.player_name(seat)} ({spec.name}): {record.returns[seat]:g}")
        if record.forfeit is not None:
            fault = record.forfeit
            console.out.print(f"forfeited by seat {fault.seat}: {fault.kind}: {fault.detail}")


def _specs(texts: list[str], game: Game) -> list[AgentSpec]:
    if len(texts) > game.info.num_players:
        raise UsageError(f"{game.info.id} seats {game.info.num_players}, but {len(texts)} agents were given.")
    texts = texts + ["random"] * (game.info.num_players - len(texts))
    specs = recorded_models.filled_in([parse(text) for text in texts], game.info.id)
    if any(spec.learn is not None for spec in specs):
        raise UsageError(
            "An agent learns from game to game, and this is one game: leave out learn=, or use `cwm arena`."
        )
    return [seating.resolve(spec, game) for spec in specs]


def _agent(spec: AgentSpec, game: Game, runtime: Runtime, screen: Console) -> Agent:
    if spec.traits.terminal:
        return HumanAgent(lambda text: Prompt.ask(text.rstrip("> "), console=screen), screen, spec.name, spec.view)
    return seating.build(spec, game, runtime)


def _show(game: Game, actions: tuple[tuple[int, str], ...]) -> None:
    """Prints the finished game as it truly was: nothing needs hiding any more."""
    hidden = "" if game.info.perfect_information else ", with what was hidden"
    console.out.print(f"\nThe whole game{hidden}:")
    state = game.initial_state()
    for player, action in actions:
        if player != CHANCE:
            console.out.print(f"{game.info.player_name(player)}: {action}")
        state = game.apply_action(state, action)
    if isinstance(game, RendersText):
        console.out.print(game.render(state))
