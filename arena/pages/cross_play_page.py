"""Self-play and cross-play as one HTML page: tables, a heat map, the calibration curve, the belief over time."""

from collections.abc import Mapping, Sequence

from arena.comparison import belief_probe
from arena.comparison.belief_probe import Probe
from arena.comparison.team_figures import TeamFigures
from arena.figures import templates
from arena.figures.curve import LineChart
from arena.figures.intervals import Estimate
from arena.matches.cross_play import CrossPlay, for_others_like_them, over_agents
from arena.papers.yokai.play.name_figures import NameFigures
from arena.papers.yokai.play.probe_figures import CARDS, ColourProbes
from arena.papers.yokai.published import figures
from arena.policy_play.method_figures import LearnedCrossPlay
from arena.report import bounded
from arena.report.arena_view import payoffs
from arena.report.cross_play import team_tables
from arena.report.learned_tables import name_parts
from arena.report.page import best_partner, heat, plots, scale


def render(
    found: CrossPlay,
    probes: Sequence[Probe],
    without: Mapping[str, CrossPlay],
    learned: LearnedCrossPlay | None = None,
    colours: ColourProbes | None = None,
    names: NameFigures | None = None,
    teams: TeamFigures | None = None,
) -> str:
    """Returns the page; it needs no network and no script.

    Args:
        found: the figures.
        probes: decisions whose beliefs were read; empty if none were.
        without: figures without one part each; empty if they were not played.
        learned: of trained policies, what is said over seeds.
        colours: of trained policies, what can be read off them along a game.
        names: of trained policies, how they do with themselves under names of their own.
        teams: scores and course of the games, of a game that has such figures.
    """
    return templates.page(
        "arena.pages",
        "cross_play.html.j2",
        found=found,
        over_agents=over_agents(found),
        for_others=for_others_like_them(found),
        without=without,
        learned=learned,
        colours=[] if colours is None else _colours(colours),
        names=[] if names is None else name_parts(names),
        heat=lambda cell: heat(found.table, cell),
        scale=scale(found.table),
        best=lambda row: best_partner(found.table, row),
        plots=plots(found.table.game, bounded.table(found.table, payoffs(found.table.game)).agents),
        paper=figures.sheet(found.table.game),
        teams=[] if teams is None else team_tables(teams),
        beliefs=[*_calibration(probes), *_truth(probes)],
    )


def _calibration(probes: Sequence[Probe]) -> list[LineChart]:
    lines = {}
    for name, ended in (("at every turn", False), ("where the agent ended the game", True)):
        bins = belief_probe.calibration(probes, ended)
        if bins:
            lines[name] = [(item.believed, item.real) for item in bins]
    title = "Share of positions that were won, by the probability that the agent gave to it"
    believed = "believed probability of a win, if the game ended now"
    return [LineChart.of(title, lines, believed, "share that was won", diagonal=True)] if lines else []


def _truth(probes: Sequence[Probe]) -> list[LineChart]:
    lines = {
        name: [(float(number), value) for number, value in line.items()]
        for name, alone in (("self-play", True), ("cross-play", False))
        if (line := belief_probe.over_time(probes, alone))
    }
    longest = max((number for line in lines.values() for number, _ in line), default=1.0)
    title = "Probability that the belief gives to what is true and not known"
    return [LineChart.of(title, lines, "players' actions", "probability", widest=max(1.0, longest))] if lines else []


def _colours(found: ColourProbes) -> list[LineChart]:
    """Returns a chart of each method and kind of cards."""
    charts = []
    for item in found.methods:
        for cards in CARDS:
            lines = {name: line for name, line in item.lines[cards].items() if line}
            widest = max(1, *(step for line in lines.values() for step in line)) if lines else 1
            guess = Estimate(found.chance, None, None, None, found.held_out)
            series = {
                name: [(float(step), value) for step, value in line.items()]
                for name, line in (lines | {"chance": {0: guess, widest: guess}}).items()
            }
            title = f"{item.method}: share of colours that linear probes name rightly, {cards}"
            charts.append(LineChart.of(title, series, "players' actions", "share", widest=float(widest)))
    return charts
