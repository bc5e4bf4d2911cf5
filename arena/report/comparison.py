"""The comparison of all kinds of players, for the terminal and as a table in Markdown."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from arena.comparison.comparison import Comparison
from arena.comparison.contenders import Contender
from arena.figures import formatting, metrics, templates
from arena.figures.dots import Dot, DotPlot
from arena.figures.intervals import Estimate
from arena.figures.sheet import Sheet
from arena.matches.ratings import AgentResult, Side
from arena.papers.yokai.published import figures
from arena.report import bounded, comparison
from arena.report.arena_view import payoffs
from arena.report.cross_play import team_tables
from arena.report.page import best_partner, cooperative, heat, plots, ranked, scale
from arena.report.tables import further_tables

NOTE = "Recorded games were played on deals of their own."
MARK = "†"
RECORDED = " (recorded)"


def tables(found: Comparison) -> list[Sheet]:
    """Returns who plays, the matrix of a game for two, and every lineup."""
    found, note = _bounded(found)
    made = [roster_table(found)]
    if found.table.matrix:
        made.append(_matrix(found))
    return [*made, lineup_table(found, note), *(_team_tables(found) or further_tables(found.table))]


def roster_table(found: Comparison) -> Sheet:
    """Returns who the players are, the view that each had, and its figures with itself and with others."""
    title = f"Players ({formatting.INTERVAL})"
    table = Sheet(title, ["", "who", "view"], [*_summary_columns(found), "time a move"])
    for contender, agent in zip(found.config.contenders, found.agents, strict=True):
        cells = summary_cells(found, agent, formatting.interval)
        table.add(*_who(contender), *cells, formatting.seconds(agent.seconds))
    return table


def lineup_table(found: Comparison, note: str = "") -> Sheet:
    """Returns the figures of every lineup that has games, with 95 % intervals; `note` is said of them."""
    together = cooperative(found.table)
    columns = metrics.NAMES if together else ("return", "win", "draw", "loss")
    heading, numbers = f"Cross-play ({formatting.INTERVAL})", ["games", "deals", *columns]
    table = Sheet(heading, ["lineup", "views"], numbers, names=_names(found))
    table.note = " ".join(filter(None, [note, NOTE if found.recorded else ""]))
    for result in found.lineups():
        name = " + ".join(result.lineup) + (RECORDED if result.lineup in found.recorded else "")
        if result.cooperation is not None:
            rows = [(name, metrics.cells(result.cooperation, formatting.interval))]
        else:
            rows = [(f"{name}: {side.agent}", side_cells(side, len(set(result.lineup)) == 1)) for side in result.sides]
        for title, cells in rows:
            counts = map(formatting.whole, (result.games, result.deals))
            table.add(title, found.views(result.lineup), *counts, *cells)
    return table


def side_cells(side: Side, alone: bool) -> list[str]:
    """Returns return, win, draw and loss; who meets itself alone wins as often as it loses, which tells nothing."""
    shown = (None if alone else side.win, side.draw, None if alone else side.loss)
    return [formatting.interval(side.payoff), *map(formatting.interval, shown)]


def matrix_cells(found: Comparison) -> list[tuple[str, list[str]]]:
    """Returns the rows of the matrix as text: the name, then `mean ± standard error` or why there is none."""
    names = [agent.agent for agent in found.table.agents]
    rows = []
    for name, row in zip(names, found.table.matrix, strict=True):
        cells = [matrix_cell(found, name, other, value) for other, value in zip(names, row, strict=True)]
        rows.append((name, cells))
    return rows


def matrix_cell(found: Comparison, row: str, column: str, value: Estimate | None) -> str:
    """Returns one cell of the matrix."""
    if value is None:
        return found.why_not((row, column))
    mark = MARK if tuple(sorted((row, column))) in found.recorded else ""
    return formatting.with_error(value, 1) + mark


def markdown(found: Comparison) -> str:
    """Returns the comparison as text for a README: the matrix of a game for two, then who the players are."""
    found, note = _bounded(found)
    names = [agent.agent for agent in found.table.agents]
    text = ""
    if found.table.matrix:
        what = "R" if cooperative(found.table) else "Return of the row's player"
        matrix = Sheet("", ["", *names], rows=[(f"**{name}**", *cells) for name, cells in matrix_cells(found)])
        text = f"{what} of each pair on {found.config.game}, mean ± standard error over deals"
        text += f" ({formatting.units(found.table.matrix, 'deals')} a pair):\n\n{matrix.markdown()}"
        text += f"\n{MARK} {NOTE}\n\n" if found.recorded else "\n"
    players = Sheet("", ["", "who", "view", *_summary_columns(found)])
    for contender, agent in zip(found.config.contenders, found.agents, strict=True):
        players.add(*_who(contender), *summary_cells(found, agent))
    scores = "" if found.teams is None else f"\n{team_tables(found.teams)[0].markdown()}"
    return text + players.markdown() + (f"\n{note}\n" if note else "") + scores


def summary_cells(
    found: Comparison, agent: AgentResult, show: Callable[[Estimate | None], str] = formatting.estimate
) -> list[str]:
    """Returns the figures of one player over all its lineups, each as `show` writes it."""
    if not cooperative(found.table):
        return [show(None if agent.cross is None else agent.cross.payoff)]
    own, others = agent.self_play, agent.cross_play
    return [
        show(None if own is None else own.score),
        show(None if others is None else others.score),
        show(None if others is None else others.success_early),
    ]


def _bounded(found: Comparison) -> tuple[Comparison, str]:
    """Returns a comparison as it is shown, and what is said of its intervals."""
    ends = payoffs(found.config.game)
    shown = tuple(bounded.agent(agent, ends) for agent in found.agents)
    return replace(found, table=bounded.table(found.table, ends), agents=shown), bounded.note(found.table, ends)


def _team_tables(found: Comparison) -> list[Sheet]:
    """Returns scores and course of games that have such figures; shares of the way would be too many."""
    return [] if found.teams is None else team_tables(replace(found.teams, shares=()))


def _names(found: Comparison) -> list[str]:
    return [agent.agent for agent in found.table.agents]


def _summary_columns(found: Comparison) -> Sequence[str]:
    return ("R with itself", "R with others", "SEE with others") if cooperative(found.table) else ("return",)


def _who(contender: Contender) -> tuple[str, str, str]:
    absent = "" if contender.absent is None else f": {contender.absent}"
    return contender.name, contender.title + absent, contender.view or formatting.NONE


def _matrix(found: Comparison) -> Sheet:
    names = [agent.agent for agent in found.table.agents]
    present = [
        index for index, name in enumerate(names) if any(name in result.lineup for result in found.table.lineups)
    ]
    title = "R of the pair" if cooperative(found.table) else "Return of the row's player"
    units = formatting.units(found.table.matrix, "deals")
    table = Sheet(
        f"{title} (mean ± standard error over {units} a pair)", [""], [names[index] for index in present], names=names
    )
    table.note = f"{MARK} {NOTE}" if found.recorded else ""
    rows = matrix_cells(found)
    for name, cells in (rows[index] for index in present):
        table.add(name, *(cells[index] for index in present))
    return table


def render(found: Comparison) -> str:
    """Returns the page; it needs no network and no script, and every value is escaped."""
    found, cut = _bounded(found)
    every = list(zip(found.config.contenders, found.agents, strict=True))
    playing = [(contender, agent) for contender, agent in every if contender.view is not None]
    met = {name for result in found.table.lineups for name in result.lineup}
    return templates.page(
        "arena.report",
        "comparison.html.j2",
        found=found,
        cut=cut,
        sentence=_sentence(found),
        together=cooperative(found.table),
        playing=playing,
        absent=[contender for contender, _ in every if contender.view is None],
        seated=[number for number, agent in enumerate(found.table.agents) if agent.agent in met],
        summary=lambda agent: comparison.summary_cells(found, agent, templates.stacked),
        cell=lambda row, column, value: comparison.matrix_cell(found, row, column, value),
        heat=lambda value: heat(found.table, value),
        scale=scale(found.table),
        best=lambda row: best_partner(found.table, row),
        plots=plots(found.table.game, found.agents) or _returns(found, [agent for _, agent in playing]),
        mark=comparison.MARK,
        note=comparison.NOTE,
        terms=metrics.TERMS,
        paper=figures.sheet(found.table.game),
        teams=_team_tables(found),
    )


def _sentence(found: Comparison) -> str:
    games = f"{found.table.games:,} games of {found.config.game}"
    if cooperative(found.table):
        scored = [(agent.cross_play.score, agent.agent) for agent in found.agents if agent.cross_play is not None]
        what = "does best with others, R"
    else:
        scored = [(agent.cross.payoff, agent.agent) for agent in found.agents if agent.cross is not None]
        what = "is paid most by the others, a return of"
    if not scored:
        return f"{games} were played."
    best, name = max(scored, key=lambda item: item[0].mean)
    return f"In {games} {name} {what} {formatting.estimate(best)}."


def _returns(found: Comparison, agents: Sequence[AgentResult]) -> list[DotPlot]:
    """Returns what each player was paid against others, on the scale of what the game can pay."""
    dots = [Dot.of(agent.agent, agent.cross.payoff) for agent in agents if agent.cross is not None]
    return [DotPlot.of("Return against the others", ranked(dots), *scale(found.table))] if dots else []
