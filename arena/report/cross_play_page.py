"""Self-play and cross-play as one HTML page: tables, a heat map, the calibration curve, the belief over time."""

from collections.abc import Mapping, Sequence

from arena.comparison import belief_probe
from arena.comparison.belief_probe import Probe
from arena.figures import templates
from arena.figures.curve import CHART, Curve, curve
from arena.figures.intervals import Estimate
from arena.matches.cross_play import CrossPlay
from arena.papers.yokai.play.name_figures import NameFigures
from arena.papers.yokai.play.probe_figures import CARDS, ColourProbes
from arena.papers.yokai.published import figures
from arena.policy_play.method_figures import LearnedCrossPlay
from arena.report.learned_tables import name_parts
from arena.report.page import heat


def render(
    found: CrossPlay,
    probes: Sequence[Probe],
    without: Mapping[str, CrossPlay],
    learned: LearnedCrossPlay | None = None,
    colours: ColourProbes | None = None,
    names: NameFigures | None = None,
) -> str:
    """Returns the page; it needs no network and no script.

    Args:
        found: the figures.
        probes: decisions whose beliefs were read; empty if none were.
        without: figures without one part each; empty if they were not played.
        learned: of trained policies, what is said over seeds.
        colours: of trained policies, what can be read off them along a game.
        names: of trained policies, how they do with themselves under names of their own.
    """
    return templates.page(
        "arena.report",
        "cross_play.html.j2",
        found=found,
        without=without,
        learned=learned,
        colours={} if colours is None else _colours(colours),
        names=[] if names is None else name_parts(names),
        heat=lambda cell: heat(found.table, cell),
        paper=figures.sheet(found.table.game),
        calibration=_calibration(probes),
        truth=_truth(probes),
        chart=CHART,
    )


def _calibration(probes: Sequence[Probe]) -> list[Curve]:
    curves = []
    for name, ended in (("at every turn", False), ("where the agent ended the game", True)):
        bins = belief_probe.calibration(probes, ended)
        if bins:
            curves.append(curve(name, [(item.believed, item.real) for item in bins], 1.0))
    return curves


def _truth(probes: Sequence[Probe]) -> list[Curve]:
    lines = {
        name: belief_probe.over_time(probes, alone) for name, alone in (("self-play", True), ("cross-play", False))
    }
    longest = max((number for line in lines.values() for number in line), default=0)
    return [
        curve(name, [(float(number), value) for number, value in line.items()], float(max(1, longest)))
        for name, line in lines.items()
        if line
    ]


def _colours(found: ColourProbes) -> dict[str, list[Curve]]:
    """Returns the curves of each chart by its title."""
    charts = {}
    for item in found.methods:
        for cards in CARDS:
            lines = {name: line for name, line in item.lines[cards].items() if line}
            last = max((step for line in lines.values() for step in line), default=0)
            widest = float(max(1, last))
            guess = Estimate(found.chance, None, None, None, found.held_out)
            curves = [
                curve(name, [(float(step), value) for step, value in line.items()], widest)
                for name, line in (lines | {"chance": {0: guess, int(widest): guess}}).items()
            ]
            charts[f"{item.method}: share of colours that linear probes name rightly, {cards}"] = curves
    return charts
