"""`cwm posg beliefs`: what planners believe along games, beside the truth."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from arena.agents.specs import parse
from arena.posg import beliefs_page
from arena.posg.beliefs import by_step, measure
from arena.terminal import console
from arena.terminal.bar import counted_bar
from arena.terminal.options import AsJson, Seed
from cwm.storage.files import write_whole


def command(
    game: Annotated[str, typer.Argument(help="Id of a game of simultaneous moves, e.g. foraging.")],
    agents: Annotated[list[str], typer.Option("--agent", help="A planner, e.g. posg:ipomcp,types=H1+H2; repeatable.")],
    episodes: Annotated[int, typer.Option("--episodes", min=1, help="Games a planner.")] = 20,
    others: Annotated[
        str, typer.Option("--others", help="Policies of the others, joined by +; none for the planner's own types.")
    ] = "",
    steps: Annotated[int | None, typer.Option("--steps", min=1, help="First steps of a game; default: all.")] = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="File that keeps finished games; run again, the rest is played.")
    ] = None,
    page: Annotated[Path | None, typer.Option("--page", help="File for a page with charts by step.")] = None,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """How much of a planner's belief is true along games: state, hidden parts, type and next action of the others."""
    specs = [parse(text) for text in agents]
    names = [name.strip() for name in others.split("+") if name.strip()]
    with counted_bar("playing games") as told:
        games = measure(game, specs, episodes=episodes, others=names, steps=steps, seed=seed, out=out, on_game=told)
    if page is not None:
        write_whole(page, beliefs_page.render(game, games).encode())
        console.notices.print(f"wrote {page}")
    if as_json:
        grouped = beliefs_page.by_agent(games)
        console.print_json(
            {
                "games": [asdict(one) for one in games],
                "by_step": {
                    agent: {
                        name: [{"step": step, **asdict(value)} for step, value in by_step(played, name)]
                        for name in beliefs_page.TITLES
                    }
                    for agent, played in grouped.items()
                },
            }
        )
        return
    console.out.print(beliefs_page.sheet(game, games))
