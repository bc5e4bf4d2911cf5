"""`cwm play`: a person in the terminal, with or against any agent; or agents alone, to watch."""

from typing import Annotated

import typer
from rich.prompt import Prompt

from arena import agent_factory, console
from arena.agent_specs import AgentSpec, parse
from arena.agents import Agent
from arena.errors import UsageError
from arena.game_source import open_game
from arena.human_agent import HumanAgent, HumanQuitError
from arena.match import play
from arena.options import AsJson, Seed
from arena.runtime import Runtime
from arena.seeds import derive
from games.api import CHANCE, Game, RendersText


def command(
    game: Annotated[str, typer.Argument(help="Id of a game, or cwm:RUN to play on a synthesised model itself.")],
    agent: Annotated[
        list[str] | None,
        typer.Option(
            "--agent",
            help="Who sits where, one option a seat from seat 0: human, random, mcts:sims=1000, ismcts:…, cwm:RUN,…. "
            "Seats that are not given are played by random.",
        ),
    ] = None,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Play one game; default: you at seat 0, random at the others."""
    runtime = Runtime()
    with open_game(game) as made:
        specs = _specs(agent or ["human"], made)
        agents = [_agent(spec, made, runtime) for spec in specs]
        try:
            record = play(
                made,
                agents,
                derive("deal", made.info.id, seed),
                [derive("agent", seed, seat) for seat in range(len(agents))],
                runtime.level if any(spec.kind == "cwm" for spec in specs) else None,
            )
        except HumanQuitError as stop:
            console.notices.print(str(stop))
            raise typer.Exit(0) from None
        if as_json:
            console.print_json(record.to_json())
            return
        _show(made, record.actions)
        for seat, spec in enumerate(specs):
            console.out.print(f"{made.info.player_name(seat)} ({spec.name}): {record.returns[seat]:g}", markup=False)
        if record.forfeit is not None:
            fault = record.forfeit
            console.out.print(f"forfeited by seat {fault.seat}: {fault.kind}: {fault.detail}", markup=False)


def _specs(texts: list[str], game: Game) -> list[AgentSpec]:
    if len(texts) > game.info.num_players:
        raise UsageError(f"{game.info.id} seats {game.info.num_players}, but {len(texts)} agents were given.")
    texts = texts + ["random"] * (game.info.num_players - len(texts))
    return [agent_factory.resolve(parse(text), game) for text in texts]


def _agent(spec: AgentSpec, game: Game, runtime: Runtime) -> Agent:
    if spec.kind == "human":
        return HumanAgent(lambda text: Prompt.ask(text.rstrip("> ")), console.out, spec.name, spec.view)
    return agent_factory.build(spec, game, runtime)


def _show(game: Game, actions: tuple[tuple[int, str], ...]) -> None:
    state = game.initial_state()
    for player, action in actions:
        if player != CHANCE:
            console.out.print(f"{game.info.player_name(player)}: {action}", markup=False)
        state = game.apply_action(state, action)
    if isinstance(game, RendersText):
        console.out.print(game.render(state), markup=False)
