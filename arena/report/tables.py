"""The report's tables for the terminal."""

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from arena.figures import formatting, metrics
from arena.figures.sheet import Sheet
from arena.matches.ratings import AgentResult, Standings
from arena.papers.yokai.published import figures as paper_figures
from arena.papers.yokai.published.results import SHOWN_SOURCE
from arena.report import bounded
from arena.report.data import Accuracy, ArenaView, ReportData, UsageRow
from arena.report.page import cooperative
from cwm.suite.evaluation import FINAL_SCORES


def accuracy_table(rows: Sequence[Accuracy]) -> Sheet:
    """Returns accuracy by split and kind of test."""
    numbers = ["tests", "right", "wrong", "errors", "timeouts", "not run", "accuracy"]
    table = Sheet("Accuracy", ["games", "kind of test"], numbers)
    for row in rows:
        counts = (row.total, row.passed, row.failed, row.errors, row.timeouts, row.not_run)
        table.add(row.split, row.kind, *map(formatting.whole, counts), formatting.accuracy(row.rate))
    return table


def headline(rows: Sequence[Accuracy]) -> list[Accuracy]:
    """Returns the rows by kind and those of the final scores; the other fields of transitions are for the page."""
    return [row for row in rows if not row.is_field or row.kind == Accuracy.field_of(FINAL_SCORES)]


def usage_table(rows: Sequence[UsageRow]) -> Sheet:
    """Returns calls, tokens and money by purpose."""
    table = Sheet("Language model", ["purpose"], ["calls", "input tokens", "output tokens", "cost"])
    for row in rows:
        mark = "~" if row.estimated else ""
        tokens = (f"{mark}{formatting.whole(count)}" for count in (row.input_tokens, row.output_tokens))
        table.add(row.purpose, formatting.whole(row.calls), *tokens, formatting.money(row.cost))
    return table


def standings_table(standings: Standings, title: str = "Arena", note: str = "") -> Sheet:
    """Returns the results of every lineup, with 95 % intervals."""
    if cooperative(standings):
        return _cooperative_table(standings, title, note)
    numbers = ["games", "deals", "win", "draw", "loss", "return"]
    heading = f"{title} ({formatting.INTERVAL})"
    table = Sheet(heading, ["lineup", "agent"], numbers, names=agent_names(standings), note=note)
    for result in standings.lineups:
        for side in result.sides:
            # Who meets itself alone wins as often as it loses: the two numbers would tell nothing.
            alone = len(set(result.lineup)) == 1
            shown = (None if alone else side.win, side.draw, None if alone else side.loss)
            figures = (*map(formatting.interval, shown), formatting.interval(side.payoff))
            counts = map(formatting.whole, (side.games, result.deals))
            table.add(" + ".join(result.lineup), side.agent, *counts, *figures)
    return table


def further_tables(standings: Standings) -> list[Sheet]:
    """Returns the table of what the game itself counts, such as points that a lost game keeps; none where it has none.

    Forfeited games have no outcome and are not in it.
    """
    names = standings.further()
    if not names:
        return []
    heading = f"Figures of the game, forfeited games left out ({formatting.INTERVAL})"
    table = Sheet(heading, ["lineup"], names, names=agent_names(standings))
    for result in standings.lineups:
        table.add(" + ".join(result.lineup), *(formatting.interval(result.further.get(name)) for name in names))
    return [table]


def agents_table(standings: Standings) -> Sheet:
    """Returns one row an agent: results over all lineups, forfeits by kind, fallbacks, time a move.

    Where a language model gave answers that could not be played, a column counts them by kind, mended ones too.
    """
    together = cooperative(standings)
    results = ["R with itself", "R with others"] if together else ["return against others", "win"]
    bad = ["bad answers"] if any(agent.bad_answers for agent in standings.agents) else []
    numbers = [*results, "forfeits", *bad, "fallbacks", "moves", "time a move"]
    table = Sheet(f"Agents ({formatting.INTERVAL})", ["agent"], numbers, names=agent_names(standings))
    for agent in standings.agents:
        figures = _together(agent) if together else _against(agent)
        kinds = (agent.forfeits, *((agent.bad_answers,) if bad else ()), agent.fallbacks)
        counts = (*map(formatting.counts, kinds), formatting.whole(agent.moves))
        table.add(agent.agent, *figures, *counts, formatting.seconds(agent.seconds))
    return table


def matrix_table(standings: Standings) -> Sheet:
    """Returns the pairing matrix of a game for two: row's agent seated with column's."""
    names = agent_names(standings)
    together = cooperative(standings)
    title = "R of the pair" if together else "Return of the row's agent"
    units = formatting.units(standings.matrix, "deals")
    table = Sheet(f"{title}, {units} a pair ({formatting.INTERVAL})", [""], names, names=names)
    for name, row in zip(names, standings.matrix, strict=True):
        table.add(name, *(formatting.interval(value) for value in row))
    return table


def agent_names(standings: Standings) -> list[str]:
    """Returns the names of all agents, in the order asked for."""
    return [agent.agent for agent in standings.agents]


def paper_table(game: str) -> Sheet | None:
    """Returns the published figures of a game, None if there are none."""
    rows = paper_figures.rows(game)
    if not rows:
        return None
    table = Sheet(
        "Published figures", ["agent", "memory help"], ["R with itself", "R with others", "SEE", "EE", "WEE", "LEN"]
    )
    table.note = SHOWN_SOURCE
    for row in rows:
        figures = (formatting.pair(row.self_play), formatting.pair(row.cross_play))
        shares = (row.cross_success_early, row.cross_early, row.cross_won_given_early)
        more = (*map(formatting.share, shares), formatting.share(row.cross_length, 1))
        table.add(row.agent, "yes" if row.memory else "no", *figures, *more)
    return table


def arena_tables(arena: ArenaView) -> list[Sheet]:
    """Returns all tables of one tournament."""
    shown = bounded.arena(arena)
    tables = [standings_table(shown.table, shown.title, shown.note), *further_tables(shown.table)]
    tables.append(agents_table(shown.table))
    if shown.table.matrix:
        tables.append(matrix_table(shown.table))
    if shown.table_without_forfeits is not None:
        title = f"{shown.title}, without forfeited games"
        tables.append(standings_table(shown.table_without_forfeits, title, shown.note))
    return tables


def report(data: ReportData) -> RenderableType:
    """Returns the whole report for the terminal: notices, summary, accuracy, usage, arenas, published figures."""
    parts: list[RenderableType] = [Text(notice, style="yellow") for notice in data.notices]
    summary = Sheet(data.title, ["", ""], [])
    for name, value in data.summary:
        summary.add(name, value)
    summary.add("sandbox level", data.sandbox)
    parts.append(summary)
    if data.accuracy:
        parts.append(accuracy_table(headline(data.accuracy)))
    if data.usage:
        parts.append(usage_table(data.usage))
    for arena in data.arenas:
        parts.extend(arena_tables(arena))
    published = paper_table(data.game)
    if published is not None and data.arenas:
        parts.append(published)
    return Group(*parts)


def _cooperative_table(standings: Standings, title: str, note: str) -> Sheet:
    heading = f"{title} ({formatting.INTERVAL})"
    table = Sheet(heading, ["lineup"], ["games", "deals", *metrics.NAMES], names=agent_names(standings), note=note)
    for result in standings.lineups:
        if result.cooperation is not None:
            figures = metrics.cells(result.cooperation, formatting.interval)
            counts = map(formatting.whole, (result.games, result.deals))
            table.add(" + ".join(result.lineup), *counts, *figures)
    return table


def _together(agent: AgentResult) -> list[str]:
    sides = (agent.self_play, agent.cross_play)
    return [formatting.interval(None if side is None else side.score) for side in sides]


def _against(agent: AgentResult) -> list[str]:
    side = agent.cross
    if side is None:
        return [formatting.NONE, formatting.NONE]
    return [formatting.interval(side.payoff), formatting.interval(side.win)]
