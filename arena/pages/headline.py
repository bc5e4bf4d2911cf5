"""What a report says first: one sentence, three numbers, and a chart beside the published figures."""

from collections.abc import Sequence
from dataclasses import dataclass

from arena.figures import formatting
from arena.figures.dots import Dot, DotPlot
from arena.matches.ratings import AgentResult, LineupResult, Standings
from arena.pages import published
from arena.papers.yokai.published import figures
from arena.papers.yokai.published.figures import PublishedRow
from arena.pipeline.matches import MODEL_AGENT
from arena.report.data import Accuracy, ReportData
from arena.report.page import NOTES, SCALE_OF_R, cooperative, ranked


@dataclass(frozen=True)
class Figure:
    """A big number and what it counts."""

    value: str
    words: str


@dataclass(frozen=True)
class Headline:
    """The first screen.

    Attributes:
        sentence: what the run came to.
        figures: three numbers.
        plots: ours beside the published figures, [] where no table was played or nothing is published.
    """

    sentence: str
    figures: tuple[Figure, ...]
    plots: tuple[DotPlot, ...]


def of(data: ReportData) -> Headline:
    """Returns what a report says first."""
    table = next((arena.table for arena in data.arenas if _model(arena.table)), None)
    right, tested = _tested(data)
    played, score = ("", Figure(formatting.NONE, "no matches were played")) if table is None else _played(data, table)
    sentence = f"{tested}; {played}." if played else f"{tested}."
    return Headline(sentence, (right, score, _asked(data)), () if table is None else _plots(data, table))


def unseen(rows: Sequence[Accuracy]) -> tuple[int, int, str]:
    """Returns how many tests there were of games that the model was not made from, how many were right, and of what."""
    tests = [row for row in rows if row.split != "train" and not row.is_field and row.total]
    kinds = [row for row in tests if row.kind == "transition"] or tests
    what = "transitions" if kinds and kinds[0].kind == "transition" else "tests"
    return sum(row.total for row in kinds), sum(row.passed for row in kinds), what


def _tested(data: ReportData) -> tuple[Figure, str]:
    total, right, what = unseen(data.accuracy)
    if not total:
        return Figure(formatting.NONE, "not tested on unseen games"), "The model was not tested on unseen games"
    wrong = total - right
    said = "never wrong" if not wrong else "wrong once" if wrong == 1 else f"wrong {wrong:,} times"
    figure = Figure(formatting.accuracy(right / total), f"right of {total:,} unseen {what}")
    return figure, f"On {total:,} unseen {what} the model is {said}"


def _asked(data: ReportData) -> Figure:
    calls = sum(row.calls for row in data.usage) or len(data.calls)
    tokens = sum(row.output_tokens for row in data.usage)
    models = ", ".join(sorted({call.model for call in data.calls}))
    about = "~" if any(row.estimated for row in data.usage) else ""
    words = f"call{'' if calls == 1 else 's'} to {models or 'a language model'}, {about}{tokens:,} output tokens"
    return Figure(formatting.whole(calls), words)


def _model(table: Standings) -> AgentResult | None:
    return next((agent for agent in table.agents if agent.agent == MODEL_AGENT), None)


def _played(data: ReportData, table: Standings) -> tuple[str, Figure]:
    """Returns what the planner on the model came to, in words and as a number."""
    model = _model(table)
    if model is not None and cooperative(table):
        if model.self_play is None:
            return "", Figure(formatting.NONE, "R with itself was not played")
        best = _best(figures.rows(data.game))
        beside = f" ({best})" if best else ""
        value = model.self_play.score
        words = f"R with itself, {formatting.estimate(value)}{'; ' + best if best else ''}"
        return f"with itself its planner scores {value.mean:.2f}{beside}", Figure(f"{value.mean:.2f}", words)
    return _against(table)


def _best(rows: Sequence[PublishedRow]) -> str:
    alone = [row for row in rows if row.self_play is not None]
    if not alone:
        return ""
    best = max(alone, key=lambda row: row.self_play[0] if row.self_play else 0.0)
    help_ = ", with memory help" if best.memory else ""
    return f"best published{help_}: {formatting.share(best.self_play[0] if best.self_play else None, 1)}"


def _against(table: Standings) -> tuple[str, Figure]:
    others = [(_other(result), result) for result in table.lineups if _other(result)]
    wins = table.utility == "win_loss_draw"
    told: list[str] = []
    first = Figure(formatting.NONE, "no match against another agent")
    # Random comes first: who cannot beat it plays no better than chance.
    for agent, result in sorted(others, key=lambda item: item[0] != "random"):
        name = published.opponent(agent)
        own = next(side for side in result.sides if side.agent == MODEL_AGENT)
        value = own.win if wins else own.payoff
        shown = f"{value.mean:.0%}" if wins else f"{value.mean:.2f}"
        told.append(f"{shown} against {name}" if told or not wins else f"{shown} of its games against {name}")
        if len(told) == 1:
            what = "share of wins" if wins else "return a game"
            first = Figure(shown, f"{what} against {name}, {formatting.estimate(value)}")
    if not told:
        return "", first
    verb = "wins" if wins else "returns are"
    return f"its planner{'' if wins else chr(8217) + 's'} {verb} {', '.join(told)}", first


def _other(result: LineupResult) -> str:
    """Returns who met the planner on the model, "" if it did not play or met itself alone."""
    if MODEL_AGENT not in result.lineup:
        return ""
    return next((name for name in result.lineup if name != MODEL_AGENT), "")


def _plots(data: ReportData, table: Standings) -> tuple[DotPlot, ...]:
    if not cooperative(table):
        deck = next((value for name, value in data.config if name.rpartition(".")[2] == "deck"), "open")
        return published.plots(data.game, table, deck)
    rows = figures.rows(data.game)
    if not rows:
        return ()
    alone, others = [], []
    for result in table.lineups:
        if result.cooperation is not None and len(set(result.lineup)) == 1:
            alone.append(Dot.of(f"{_called(result.lineup[0])} with itself", result.cooperation.score))
        elif result.cooperation is not None:
            names = sorted(set(result.lineup), key=lambda name: name != MODEL_AGENT)
            others.append(Dot.of(" with ".join(map(_called, names)), result.cooperation.score))
    alone += [Dot.published(row.agent, row.self_play, NOTES[row.memory]) for row in rows if row.self_play is not None]
    others += [Dot.published(row.agent, row.cross_play, NOTES[row.memory]) for row in rows]
    return tuple(
        DotPlot.of(title, ranked(dots), *SCALE_OF_R)
        for title, dots in (
            ("Self-play: R of an agent with itself", alone),
            ("Cross-play: R of an agent with others", others),
        )
        if dots
    )


def _called(agent: str) -> str:
    return "planner on the model" if agent == MODEL_AGENT else agent
