"""Tables of self-play and cross-play for the terminal."""

from collections.abc import Mapping, Sequence

from arena.comparison import belief_probe
from arena.comparison.belief_probe import Probe
from arena.comparison.partner_fit import STANDARD, PartnerFit, SettingScore
from arena.comparison.team_figures import TeamFigures, TeamScore
from arena.figures import bootstrap, formatting, metrics
from arena.figures.intervals import Estimate
from arena.figures.sheet import Sheet
from arena.matches.cross_play import CrossPlay, for_others_like_them, over_agents
from arena.report import bounded
from arena.report.arena_view import payoffs
from arena.report.tables import agent_names, further_tables, matrix_table


def lineup_tables(found: CrossPlay) -> list[Sheet]:
    """Returns the figures of every lineup with standard errors, and for two players the matrix.

    A game that is not cooperative has the matrix alone: what is paid there depends on the seat.
    """
    tables = []
    names = agent_names(found.table)
    for title, alone in (("Self-play", True), ("Cross-play", False)):
        lineups = found.lineups(alone)
        if not any(result.cooperation for result in lineups):
            continue
        table = Sheet(f"{title} (mean ± standard error)", ["lineup"], ["games", "deals", *metrics.NAMES], names=names)
        for result in lineups:
            cells = metrics.cells(result.cooperation, formatting.with_error)
            counts = map(formatting.whole, (result.games, result.deals))
            table.add(" + ".join(result.lineup), *counts, *cells)
        tables.append(table)
    tables += further_tables(found.table)
    if found.table.matrix:
        ends = payoffs(found.table.game)
        tables.append(matrix_table(bounded.table(found.table, ends)))
        tables[-1].note = bounded.note(found.table, ends)
    return tables


def summary_table(found: CrossPlay) -> Sheet:
    """Returns self-play beside cross-play, the gap, and the time a move.

    With deals as the unit the agents count as fixed: their errors say how sure the figure of *these* agents is. Below
    stand the errors with a lineup as the unit, with an agent as the unit, whose lineups share it, and with both agents
    and deals, which holds for other agents like these on other deals.
    """
    score, gap = for_others_like_them(found)
    agents = over_agents(found)
    together = "" if agents is None else f"deals × {agents.n} agents"
    title = "All lineups (mean ± standard error over the units beside it)"
    table = Sheet(title, ["", "units"], [*metrics.NAMES, "time a move"])
    for name, side in (("self-play", found.self_play), ("cross-play", found.cross_play)):
        if side is not None:
            figures = metrics.cells(side, formatting.with_error)
            table.add(name, f"{side.score.n} deals", *figures, formatting.seconds(found.seconds))
    for name, value, unit in (
        ("gap, deal by deal", found.gap, "deals"),
        ("cross-play, over lineups", found.over_lineups, "lineups"),
        ("cross-play, over agents", agents, "agents"),
        ("cross-play, over agents and deals", score, together),
        ("gap, over agents and deals", gap, together),
    ):
        if value is not None:
            table.add(name, f"{value.n} {unit}", formatting.with_error(value), *[""] * len(metrics.NAMES))
    return table


def team_tables(found: TeamFigures) -> list[Sheet]:
    """Returns scores of lineups and of all together, what happened in their games, and shares of the way to a better
    partner."""
    agents = list(dict.fromkeys(name for result in found.lineups for name in result.lineup))
    heads = [head for name in found.names for head in (name, f"IQM of {name}")]
    scores = Sheet("Scores of teams (mean ± standard error over deals)", ["lineup"], ["games", "forfeits", *heads])
    scores.names = agents
    for result in found.lineups:
        cells = _score_row(found.names, result.scores)
        scores.add(" + ".join(result.lineup), *map(formatting.whole, (result.games, result.forfeits)), *cells)
    for title, side in (("all self-play", found.self_play), ("all cross-play", found.cross_play)):
        if side:
            scores.add(title, "", "", *_score_row(found.names, side))
    if found.gap:
        scores.add("gap, deal by deal", "", "", *(c for name in found.names for c in (_cell(found.gap[name]), "")))
    scores.note = (
        "IQM: interquartile mean over the deals of every lineup [95 % interval, bootstrap within lineups]. Forfeited "
        f"games count 0 in {found.names[-1]} and are left out of the rest."
    )
    names = list(dict.fromkeys(name for result in found.lineups for name in result.course))
    course = Sheet("A game in the mean (± standard error over deals)", ["lineup"], names, names=agents)
    for result in found.lineups:
        course.add(" + ".join(result.lineup), *(_cell(result.course.get(name)) for name in names))
    return [scores, *([course] if names else []), *([_share_table(found, agents)] if found.shares else [])]


def _share_table(found: TeamFigures, agents: Sequence[str]) -> Sheet:
    title = (
        "How far a mixed team is from the weaker one alone (0) to the stronger (1) [95 % interval, bootstrap by deal]"
    )
    table = Sheet(title, ["weaker", "stronger"], ["seats of the stronger", *found.names], names=agents)
    for item in found.shares:
        cells = (bootstrap.text(item.share[name]) for name in found.names)
        table.add(item.weak, item.strong, formatting.whole(item.seats), *cells)
    table.note = f"Weaker and stronger by {found.names[0]}; no interval where the two are not told apart."
    return table


def _score_row(names: Sequence[str], scores: Mapping[str, TeamScore]) -> list[str]:
    return [cell for name in names for cell in (_cell(scores[name].mean), bootstrap.text(scores[name].middle))]


def belief_tables(probes: Sequence[Probe]) -> list[Sheet]:
    """Returns calibration and the probability of the truth over time."""
    times = Sheet(
        "Probability that the belief gives to the truth",
        ["players' actions"],
        ["decisions", "self-play", "decisions", "cross-play"],
    )
    alone, mixed = belief_probe.over_time(probes, True), belief_probe.over_time(probes, False)
    for number in sorted({*alone, *mixed}):
        cells: list[str] = []
        for side in (alone, mixed):
            value = side.get(number)
            cells += [formatting.whole(0 if value is None else value.n), _cell(value)]
        times.add(str(number), *cells)
    return [_calibration_table("Believed and real probability of a win, if the game ended now", probes), times]


def fit_tables(found: PartnerFit) -> list[Sheet]:
    """Returns the scores by setting, the lineups as judged by what others chose, and the calibration under it."""
    standard = "less temper {:g}, mix {:g}".format(*STANDARD)
    settings = Sheet(
        "Log-likelihood of what partners did, nats a choice (mean ± standard error over deals)",
        ["temper", "mix"],
        ["choices", "deals", "log-likelihood", standard],
    )
    for item in found.scores:
        settings.add(*_score_cells(item))
    settings.note = "Likeliest: temper={:g},mix={:g} as options of an agent.".format(*found.chosen)
    tables = [settings]
    if found.held_out:
        held = Sheet(
            "Lineups, read by what the games without their agents chose",
            ["lineup", "temper", "mix"],
            ["choices", "deals", "log-likelihood", standard],
        )
        for lineup in found.held_out:
            held.add(" + ".join(lineup.lineup), *_score_cells(lineup.judged))
        held.note = f"All of them: {formatting.with_error(found.gain, 3)} nats a choice {standard}."
        tables.append(held)
    if found.probes:
        title = "The same probabilities, read by what the games without their agents chose"
        tables.append(_calibration_table(title, found.probes))
    return tables


def _score_cells(item: SettingScore) -> list[str]:
    return [
        f"{item.setting[0]:g}",
        f"{item.setting[1]:g}",
        formatting.whole(item.choices),
        formatting.whole(item.score.n),
        formatting.with_error(item.score, 3),
        formatting.with_error(item.gain, 3),
    ]


def _calibration_table(title: str, probes: Sequence[Probe]) -> Sheet:
    numbers = ["decisions", "deals", "mean belief", "real", "of these ended", "mean belief", "real"]
    table = Sheet(title, ["believed"], numbers)
    ended = {item.low: item for item in belief_probe.calibration(probes, ended=True)}
    for item in belief_probe.calibration(probes):
        last = ended.get(item.low)
        table.add(
            f"{item.low:.1f} to {item.high:.1f}",
            formatting.whole(item.count),
            formatting.whole(item.real.n),
            formatting.share(item.believed),
            formatting.with_error(item.real),
            formatting.whole(0 if last is None else last.count),
            formatting.share(None if last is None else last.believed),
            formatting.with_error(None if last is None else last.real),
        )
    error = belief_probe.calibration_error(probes)
    if error is not None:
        table.note = (
            f"Expected calibration error {formatting.estimate(error, 3)}, deals: {error.n}. Errors are over deals, "
            "since decisions on one deal are alike."
        )
    return table


def ablation_table(without: Mapping[str, CrossPlay]) -> Sheet:
    """Returns what each part is worth."""
    names = ["deals", "self-play R", "deals", "cross-play R", "cross-play SEE", "won", "time a move"]
    table = Sheet("Without parts (mean ± standard error over deals)", ["agents"], names)
    for name, found in without.items():
        own, others = found.self_play, found.cross_play
        table.add(
            name,
            formatting.NONE if own is None else formatting.whole(own.score.n),
            _cell(None if own is None else own.score),
            formatting.NONE if others is None else formatting.whole(others.score.n),
            _cell(None if others is None else others.score),
            _cell(None if others is None else others.success_early),
            _cell(None if others is None else others.won),
            formatting.seconds(found.seconds),
        )
    return table


def _cell(value: Estimate | None) -> str:
    return formatting.with_error(value)
