"""Beliefs along games, as a table and as a page of charts."""

from collections.abc import Mapping, Sequence
from typing import Final

from arena.figures import formatting, templates
from arena.figures.curve import LineChart
from arena.figures.intervals import Estimate, mean_estimate
from arena.figures.sheet import Sheet
from arena.posg.beliefs import BelievedGame, by_step, over_a_game

TITLES: Final[Mapping[str, str]] = {
    "state": "true state",
    "parts": "true parts",
    "whole": "all parts true",
    "type": "true type",
    "action": "true action",
}
"""Of figures, by field of `Believed`."""


def by_agent(games: Sequence[BelievedGame]) -> dict[str, list[BelievedGame]]:
    """Returns the games of each planner, in order."""
    found: dict[str, list[BelievedGame]] = {}
    for game in games:
        found.setdefault(game.agent, []).append(game)
    return found


def sheet(game_id: str, games: Sequence[BelievedGame]) -> Sheet:
    """Returns a row for each planner: means over a game, with standard errors over games."""
    grouped, rows = by_agent(games), []
    figures = [name for name in TITLES if over_a_game(games, name) is not None]
    for agent, played in grouped.items():
        cells: list[Estimate | None] = [over_a_game(played, name) for name in figures]
        cells += [mean_estimate([game.returned for game in played]), over_a_game(played, "contradicting")]
        shown = [formatting.with_error(cell) for cell in cells]
        lost = sum(game.fallbacks for game in played)
        rows.append((agent, len(played), *shown, lost))
    headings = ["games", *(TITLES[name] for name in figures), "return", "contradicting", "fallbacks"]
    title = f"{game_id}: probability that the belief of agent 0 gives to the truth, mean over a game"
    return Sheet(title, ["agent"], headings, rows, names=list(grouped), note="mean ± standard error over games")


def render(game_id: str, games: Sequence[BelievedGame]) -> str:
    """Returns the page; it needs no network and no script."""
    grouped = by_agent(games)
    charts = []
    for name, title in TITLES.items():
        lines = {agent: by_step(played, name) for agent, played in grouped.items()}
        drawn = {agent: [(float(step), value) for step, value in line] for agent, line in lines.items() if line}
        if drawn:
            widest = max(1.0, *(step for line in drawn.values() for step, _ in line))
            charts.append(LineChart.of(title, drawn, "step", "probability", widest=widest))
    return templates.page(
        "arena.posg",
        "beliefs.html.j2",
        game=game_id,
        episodes=max(map(len, grouped.values())),
        charts_of=charts,
        table=sheet(game_id, games),
    )
