"""Tables that are printed, stored or put on a page, of made-up games, are as the files in `tests/data/tables`.

They are written anew with `WRITE_TABLES=1` in the environment of pytest.
"""

import io
import json
import os
import random
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console, RenderableType

from arena.agents.specs import AgentSpec
from arena.benchmarks import equivalence as equivalence_benchmark
from arena.benchmarks import measurement, search_speed, strength
from arena.benchmarks.measurement import Measurement
from arena.benchmarks.search_speed import SearchSpeed
from arena.commands.train import table as table_command
from arena.comparison.belief_probe import Probe
from arena.comparison.comparison import Comparison, ComparisonConfig
from arena.comparison.contenders import Contender
from arena.comparison.equivalence import Equivalence, Margin
from arena.figures.intervals import Estimate
from arena.matches import cross_play
from arena.matches.cross_play import CrossPlayConfig
from arena.matches.match import Forfeit, GameRecord
from arena.matches.plan import TournamentConfig
from arena.matches.ratings import standings, without_forfeits
from arena.matches.tournament import TournamentResult
from arena.pages import cross_play_page, run_page
from arena.papers.cwm.published.layout import Column
from arena.papers.cwm.published.numbers import Published
from arena.papers.cwm.tables import page as paper_page
from arena.papers.cwm.tables import writing
from arena.papers.cwm.tables.cells import Cell, Measured, PaperTable, Row
from arena.papers.yokai.play.name_figures import NameFigures, PolicyNames
from arena.papers.yokai.play.probe_figures import CARDS, ColourProbes, MethodProbes
from arena.papers.yokai.published import rows as yokai_rows
from arena.papers.yokai.tables.trained import RowResult
from arena.policy_play.curve_figures import CurvePoint, LearningCurves
from arena.policy_play.method_figures import LearnedCrossPlay, between_methods, method_figures
from arena.policy_play.played_lineups import Tally, summary
from arena.report import comparison as comparison_report
from arena.report import cross_play as cross_play_report
from arena.report import curves, learned_tables, run_tables, selection, suite, tables
from arena.report.data import Accuracy, ArenaView, ReportData, UsageRow
from arena.terminal import console
from games import registry
from games.api import GameInfo

FOLDER = Path(__file__).resolve().parents[2] / "data" / "tables"
GAME = "yokai-9c-2p"
POKER = GameInfo("toy", 2, "zero_sum", -10.0, 10.0, False, True, ("x", "y"))
NAMES = ("a", "b", "c<i>")
DEALS = 5


def printed(*parts: RenderableType) -> str:
    screen = Console(file=io.StringIO(), width=200, highlight=False, markup=False, emoji=False, soft_wrap=True)
    for part in parts:
        screen.print(part)
    assert isinstance(screen.file, io.StringIO)
    return screen.file.getvalue()


def game(seats: tuple[str, ...], deal: int, returns: tuple[float, float], **more: Any) -> GameRecord:
    values: dict[str, Any] = {"outcome": None, "forfeit": None, "length": 7} | more
    return GameRecord(
        game="toy",
        deal_seed=deal,
        seats=seats,
        actions=(),
        paid=returns,
        returns=returns,
        fallbacks=({"slow": 1}, {}),
        model_errors=({}, {}),
        sandbox=None,
        seconds=((0.5,), (0.02, 0.03)),
        **values,
    )


def together() -> dict[tuple[str, ...], list[GameRecord]]:
    """Returns cooperative games of every seating."""
    rng = random.Random(7)
    found: dict[tuple[str, ...], list[GameRecord]] = {}
    for seats in product(NAMES, repeat=2):
        for deal in range(DEALS):
            won, early, score = rng.random() < 0.6, rng.random() < 0.5, rng.randrange(1, 13)
            paid = float(score if won else -3)
            facts = {"won": won, "ended_early": early, "score": score}
            one = game(seats, deal, (paid, paid), outcome=facts, length=rng.randrange(4, 30))
            found.setdefault(seats, []).append(one)
    return found


def poker() -> ArenaView:
    games = [game(seats, deal, (4.0 - deal, deal - 4.0)) for seats in (("a", "b"), ("b", "a")) for deal in range(4)]
    games.append(game(("b", "a"), 9, (-10.0, 10.0), forfeit=Forfeit(0, "timeout", "60 s")))
    games.append(replace(games[0], deal_seed=8, accounts={"0": {"bad": {"illegal": 2}}}))
    finished = standings(without_forfeits(games), POKER, ["a", "b"])
    return ArenaView("Poker", standings(games, POKER, ["a", "b"]), finished, (("deals", "4"),), {"pipe": 3})


def yokai() -> ArenaView:
    every = [one for games in together().values() for one in games]
    return ArenaView("Yōkai", standings(every, registry.make(GAME).info, NAMES))


def tally(records: list[GameRecord]) -> Tally:
    won, early = (np.array([float((r.outcome or {})[name]) for r in records]) for name in ("won", "ended_early"))
    return Tally(
        score=np.array([r.won_score for r in records]),
        returns=np.array([r.returns[0] for r in records]),
        won=won,
        early=early,
        success_early=won * early,
        length=np.array([float(r.length) for r in records]),
        moves=np.full(len(records), 6.0),
        border=np.arange(len(records), dtype=float),
    )


def learned() -> LearnedCrossPlay:
    played = {seats: tally(records) for seats, records in together().items()}
    methods = {"sp": NAMES[:2], "op": NAMES[2:]}
    return LearnedCrossPlay(
        found=summary(played, registry.make(GAME).info, NAMES),
        seatings={" + ".join(seats): float(found["score"].mean()) for seats, found in played.items()},
        methods=method_figures(played, methods),
        between=between_methods(played, methods),
        policies={},
        settings={"games": 1200, "seed": 0, "greedy": False},
    )


def estimate(mean: float, error: float | None = 0.1) -> Estimate:
    return Estimate(mean, error, None if error is None else mean - 0.2, None if error is None else mean + 0.2, 9)


def compared(of: ArenaView, recorded: frozenset[tuple[str, ...]]) -> Comparison:
    players = (
        *(Contender(agent.agent, f"player {agent.agent}", None, "default", None) for agent in of.table.agents),
        Contender("llm", "language model", None, None, "not played"),
    )
    nobody = replace(of.table.agents[0], agent="llm", cross=None, self_play=None, cross_play=None, seconds=None)
    matrix = (*((*row, None) for row in of.table.matrix), (None,) * (len(of.table.agents) + 1))
    table = replace(of.table, agents=(*of.table.agents, nobody), matrix=matrix)
    return Comparison(ComparisonConfig(of.table.game, players, 5), table, table.agents, recorded, {}, 9)


SUITE: dict[str, Any] = {
    "tests": 9,
    "games": 5,
    "failed": None,
    "coverage": {"taken": 3, "branches": 4, "missed": []},
    "mutation": {
        "mutants": 2,
        "caught": 1,
        "share": 0.5,
        "places": 7,
        "operators": {"swap": [1, 2]},
        "functions": {"rewards": [1, 2]},
        "survivors": [],
    },
}
CHOICE: dict[str, Any] = {
    "game": "toy",
    "method": "rejection",
    "reason": "1 < 2: both are kept",
    "chosen": "m0",
    "kept": ["m0", "m1"],
    "candidates": [
        {"name": "m0", "seed": 0, "calls": 3, "training_accuracy": 1.0, "model": "abcdef" * 8},
        {"name": "m1", "seed": 1, "calls": 1234, "training_accuracy": 0.99999, "model": "012345" * 8},
        {"name": "m2", "seed": 2, "calls": None, "training_accuracy": None, "model": None},
    ],
    "rejection": {
        "standings": [
            {"name": "m0", "payoff": 0.25, "standard_error": 0.05, "seats": 1000, "failures": {}},
            {
                "name": "m1",
                "payoff": 0.125,
                "standard_error": None,
                "seats": 1000,
                "failures": {"illegal": 2, "died": 1},
            },
        ],
        "hosts": ["m0"],
        "matches": 2500,
        "config": {"repetitions": 2, "simulations": 1000, "seed": 4, "tolerance": 0.05},
        "observed": [-1.0, 1.0],
        "tolerated": 0.1,
    },
}


def report_data() -> ReportData:
    return ReportData(
        title="Run",
        game=GAME,
        created="2026-01-01 12:00",
        sandbox="process",
        summary=(("transition accuracy", "1.0000"),),
        notices=("level process",),
        accuracy=(Accuracy("train", "transition", 100), Accuracy("test", "inference", 99_999, 1)),
        usage=(UsageRow("transition", 1, 12_345, 678, 0.5), UsageRow("value", 1, 5, 5, None, True)),
        arenas=(poker(), yokai()),
    )


def reports() -> dict[str, str]:
    data = report_data()
    records = [one for games in together().values() for one in games]
    specs = tuple(AgentSpec("random", name) for name in NAMES)
    played = cross_play.summary(CrossPlayConfig(GAME, specs), records, {}, len(records))
    probes = [Probe("a", alone, 1, number, 0.5, 0.7, True, False, 1.0) for alone in (True, False) for number in (0, 4)]
    without = {"full": played, "plain": played}
    stored = {f"run-{name}.json": json.dumps(rows, indent=1) + "\n" for name, rows in run_tables.tables(data).items()}
    pages = [cross_play_report.summary_table(played), *cross_play_report.belief_tables(probes)]
    both = {
        "together": compared(yokai(), frozenset({("a", "b")})),
        "against": compared(poker(), frozenset()),
    }
    return {
        "report.txt": printed(tables.report(data)),
        "report.html": run_page.render(data),
        "standings.json": json.dumps([view.table.to_json() for view in data.arenas], indent=1) + "\n",
        "cross-play.txt": printed(
            *cross_play_report.lineup_tables(played), *pages, cross_play_report.ablation_table(without)
        ),
        "cross-play.html": cross_play_page.render(played, probes, without),
        **{f"comparison-{name}.txt": printed(*comparison_report.tables(found)) for name, found in both.items()},
        **{f"comparison-{name}.md": comparison_report.markdown(found) for name, found in both.items()},
        **{f"comparison-{name}.html": comparison_report.render(found) for name, found in both.items()},
        "selection.txt": printed(selection.table(CHOICE)),
        "selection.html": selection.render(CHOICE, selection.rows(CHOICE)),
        **stored,
    }


def files(folder: Path) -> dict[str, str]:
    """Returns files that are written as files alone."""

    class Record:
        """A run's folder."""

        report_path = folder / "report.html"

        def __init__(self) -> None:
            self.folder = folder

        def table_path(self, name: str) -> Path:
            return folder / name

    run_tables.write(Record(), report_data())  # type: ignore[arg-type]
    selection.write(Record(), CHOICE)  # type: ignore[arg-type]
    return {f"run-{path.name}": path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.csv"))}


def trained() -> dict[str, str]:
    found = learned()
    lines = {cards: {"self-play": {0: estimate(0.3), 4: estimate(0.5)}, "cross-play": {}} for cards in CARDS}
    colours = ColourProbes((MethodProbes("sp", 2, lines),), 1 / 3, 400, 40)
    names = NameFigures(
        (PolicyNames("a", estimate(2.0), {"all": estimate(1.0)}, {"alike": estimate(3.0, None)}),),
        ("all", "none"),
        ("alike",),
        2400,
    )
    points = tuple(CurvePoint(steps, item) for steps, item in zip((1000, 2_000_000), found.methods, strict=True))
    along = LearningCurves(GAME, {"sp": points}, {"games": 500, "seed": 0, "greedy": True})
    rows = list(yokai_rows.rows(6))
    results = [RowResult(rows[0], 9, 9, found.methods[0])] + [RowResult(row, 1234, 5000, None) for row in rows[1:]]
    return {
        "learned.json": json.dumps(found.to_json(), indent=1) + "\n",
        "learned.txt": printed(
            *learned_tables.tables(found),
            *learned_tables.probe_tables(colours),
            *learned_tables.name_tables(names),
            *learned_tables.curve_tables(along),
        ),
        "learned.html": cross_play_page.render(found.found, [], {}, found, colours, names),
        "curves.html": curves.render(along),
        "trained-table.txt": printed(table_command._table(6, rows, results)),
    }


def measured() -> dict[str, str]:
    agent = AgentSpec("cwm", "a", planner=dict(strength.PLANNER), model="m", model_hash="0123456789abcdef")
    games = together()[("a", "a")]
    table = standings(games, registry.make(GAME).info, ["a"])
    config = TournamentConfig(GAME, (agent,), DEALS, 0, "self")
    result = TournamentResult(config, tuple(games), DEALS, {}, table, None)
    figures = list(strength.figures(config, result))
    same = Equivalence(
        game="toy",
        measure="payoff",
        margin=Margin(0.2, "a fifth"),
        cwm=estimate(0.5),
        true=None,
        difference=estimate(-0.01),
        different_deals=3,
        verdict="equal",
        games=9,
        forfeits={"cwm": 1, "true": 0},
        fallbacks={},
        missing={},
        settings={"simulations": 50},
        model="m",
    )
    speed = SearchSpeed("toy", None, 1234.5, 1000.0, None, 1.2345, "OpenSpiel's own game", "50 positions")
    return {
        "strength.json": json.dumps([m.to_json() for m in (*figures, *strength.published())], indent=1) + "\n",
        "benchmarks.txt": printed(
            measurement.table([*figures, Measurement("x", None, "s"), Measurement("y", 0.5, "s", 0.25, 2.0, "n")]),
            tables.paper_table(GAME) or "",
            equivalence_benchmark.table([same, replace(same, difference=None, game="other")]),
            search_speed.table([speed]),
        ),
    }


def paper() -> dict[str, str]:
    win, calls = Column("random", "win", "random.win"), Column("", "calls", "calls", 1)
    wide = tuple(Column(who, name, f"{who}.{name}") for who in ("llm", "random") for name in ("win", "loss", "draw"))
    read, lost = Published("read", 0.97, "0.97", "0.97"), Published("unreadable", None, "", "o/5")
    half = Measured("measured", 0.5, low=0.25, high=0.75, n=4, unit="matches", sources=("x/y#z",))
    cells = (Cell(win, half, read), Cell(calls, Measured("not played"), lost))
    tall = tuple(Cell(column, half, read) for column in wide)
    sheets = [
        PaperTable(
            "table-99", "Table 99: a_b & 5 %", ("game",), (win, calls), (Row(("{Odd} game_1",), cells),), ("A note.",)
        ),
        PaperTable("table-98", "Table 98: tall", ("game", "goes"), wide, (Row(("Odd", "first"), tall),), ()),
    ]
    found = {"paper.html": paper_page.render(sheets), "paper.txt": printed(*map(writing.terminal_table, sheets))}
    for sheet in sheets:
        found[f"paper-{sheet.name}.csv"] = writing.csv_text(sheet)
        found[f"paper-{sheet.name}.tex"] = writing.latex(sheet)
        found[f"paper-{sheet.name}.txt"] = writing.plain(sheet)
    return found


def test_tables_of_reports_are_as_before(tmp_path: Path) -> None:
    compare(reports() | files(tmp_path))


def test_tables_of_trained_policies_are_as_before() -> None:
    compare(trained())


def test_tables_of_benchmarks_are_as_before() -> None:
    compare(measured())


def test_tables_of_the_paper_are_as_before() -> None:
    compare(paper())


def compare(found: dict[str, str]) -> None:
    for name, text in found.items():
        if os.environ.get("WRITE_TABLES"):
            (FOLDER / name).write_bytes(text.encode())
        assert text == (FOLDER / name).read_bytes().decode(), name


def test_tables_of_unit_tests_are_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Console(file=io.StringIO(), width=200, highlight=False, markup=False, emoji=False, soft_wrap=True)
    monkeypatch.setattr(console, "out", screen)
    suite.show(SUITE)
    assert isinstance(screen.file, io.StringIO)
    compare({"suite.txt": screen.file.getvalue()})
