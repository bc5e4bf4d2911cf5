import dataclasses
import io
import json
import re
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from rich.console import Console

from arena.figures import formatting
from arena.figures.intervals import Estimate
from arena.matches.match import Forfeit, GameRecord
from arena.matches.ratings import standings, without_forfeits
from arena.pages.run_page import render, write
from arena.pages.tree_layout import layout
from arena.papers.yokai.published import figures
from arena.report import tables
from arena.report.data import (
    Accuracy,
    ArenaView,
    CallView,
    CandidateView,
    FailedTest,
    ProgramView,
    Replay,
    ReportData,
    SimilarityRow,
    UsageRow,
)
from arena.report.page import best_partner, heat, scale
from cwm.suite.evaluation import ResultCounts
from games.api import GameInfo

Builder = Callable[..., GameRecord]
EVIL = "</pre></details><script>alert('x')</script><img src=http://example.org/a.png onerror=alert(1)>\"'"
POKER = GameInfo("toy", 2, "zero_sum", -10.0, 10.0, False, True, ("x", "y"))
TOGETHER = GameInfo("yokai-9c-2p", 2, "identical", -7.0, 20.0, False, True, ("x", "y"))


class Page(HTMLParser):
    """Collects what a browser would act on, and fails on elements that are not closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.links: list[str] = []
        self.ids: list[str] = []
        self.open: list[str] = []
        self.text = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        found = dict(attrs)
        assert not [name for name in found if name.startswith("on")]
        self.links.extend(str(found[name]) for name in ("href", "src") if name in found)
        self.ids.extend(str(found["id"]) for name in ("id",) if name in found)
        if tag not in ("meta", "br", "circle", "path"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in ("circle", "path"):
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.fixture
def poker(record: Builder) -> ArenaView:
    games = [record("a b", [4.0, -4.0], 1), record("b a", [1.0, -1.0], 1), record("a b", [1.0, -1.0], 2)]
    games.append(record("b a", [-10.0, 10.0], 2, forfeit=Forfeit(0, "timeout", "60 s")))
    return ArenaView(
        "Poker",
        standings(games, POKER, ["a", "b"]),
        standings(without_forfeits(games), POKER, ["a", "b"]),
        (("deals", "2"),),
        {"pipe": 3},
    )


@pytest.fixture
def yokai(record: Builder) -> ArenaView:
    facts = {"won": True, "ended_early": False, "score": 12.0}
    return ArenaView("Yōkai", standings([record("a a", [12.0, 12.0], 1, outcome=facts)], TOGETHER, ["a"]))


@pytest.fixture
def data(poker: ArenaView, yokai: ArenaView) -> ReportData:
    return ReportData(
        title=f"Run {EVIL}",
        game="yokai-9c-2p",
        created="2026-01-01 12:00",
        sandbox="process",
        summary=(("transition accuracy", EVIL),),
        notices=(f"level process {EVIL}",),
        config=(("seed", "0"), (EVIL, EVIL)),
        accuracy=(
            Accuracy("train", "transition", 100),
            Accuracy("test", "transition", 99_999, 1),
            Accuracy("x", "y", 0),
        ),
        candidates=(
            CandidateView(0, None, 1, "tested", 0.5, {"transition": 0.5, EVIL: 1.0}, (), (_failed(),), 7, False, EVIL),
            CandidateView(1, 0, 2, "passed", 1.0, {"transition": 1.0}, (EVIL,), chosen=True, source="x = 1"),
        ),
        calls=(CallView(1, "transition", EVIL, "ok", (("user", EVIL),), EVIL, 12_345, 678, 0.5, 3.0),),
        usage=(UsageRow("transition", 1, 12_345, 678, 0.5), UsageRow("value", 1, 5, 5, None, True)),
        arenas=(poker, yokai),
        replays=(Replay(EVIL, EVIL),),
        programs=(ProgramView("model", EVIL, "abc", 12, 3000, "games/x.py", EVIL),),
        similarity=(SimilarityRow("fedcba9876543210", "model", True, 17, 3000, "games/y.py, line 3", EVIL),),
    )


def _failed() -> FailedTest:
    return FailedTest("t1", "transition", EVIL, EVIL, EVIL, EVIL)


def test_markup_in_any_value_stays_text(data: ReportData) -> None:
    page = Page(render(data))
    assert "script" not in page.tags
    assert "img" not in page.tags
    assert page.text.count("<script>alert('x')</script>") >= 15


def test_page_is_whole_and_needs_nothing_else(data: ReportData) -> None:
    text = render(data)
    page = Page(text)
    assert page.open == []
    assert all(link.startswith("#") for link in page.links)
    assert {link[1:] for link in page.links} <= set(page.ids)
    assert len(set(page.ids)) == len(page.ids)
    assert "default-src 'none'" in text
    assert not re.search(r"url\(|@import|<link", text.replace(EVIL, ""))


def test_page_shows_the_figures(data: ReportData) -> None:
    text = Page(render(data)).text
    for expected in ("0.9999", "12,345", "$0.5000", "timeout 1", "12.00", "4.8 ± 0.1", "5.7 ± 0.5", "12 of 3,000"):
        assert expected in text
    assert "3 games could not be played through a fault of ours" in text
    assert "1 of 7 failed tests" in text
    assert "fedcba987654, chosen" in text


def test_empty_report_has_every_section() -> None:
    page = Page(render(ReportData("empty", "my_game", "now", "strong")))
    assert {"summary", "accuracy", "synthesis", "calls", "arena", "games", "programs", "settings"} <= set(page.ids)
    assert "Published figures" not in page.text


def test_page_is_written_whole(tmp_path: Path, data: ReportData) -> None:
    write(data, tmp_path / "deep" / "report.html")
    assert (tmp_path / "deep" / "report.html").read_text(encoding="utf-8") == render(data)
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["report.html"]


def test_report_data_is_json(data: ReportData) -> None:
    assert json.loads(json.dumps(data.to_json()))["calls"][0]["input_tokens"] == 12_345


def test_terminal_shows_the_same_tables(data: ReportData) -> None:
    screen = Console(file=io.StringIO(), width=240)
    screen.print(tables.report(dataclasses.replace(data, title="[bold]Run[/bold]")))
    assert isinstance(screen.file, io.StringIO)
    text = screen.file.getvalue()
    for expected in (
        "[bold]Run[/bold]",
        "0.9999",
        "12,345",
        "timeout 1",
        "Published figures",
        "without forfeited games",
    ):
        assert expected in text


def test_accuracy_below_one_is_never_shown_as_one() -> None:
    assert formatting.accuracy(0.999999) == "0.9999"
    assert formatting.accuracy(1.0) == "1.0000"
    assert formatting.accuracy(None) == "–"


def test_wrong_answers_errors_timeouts_and_tests_left_out_stand_apart(data: ReportData) -> None:
    tally = ResultCounts(passed=60, wrong=21, errors=11, timeouts=5, not_run=3, ours=7)
    row = Accuracy.of("test", "transition", tally.to_json())
    assert (row.passed, row.failed, row.errors, row.timeouts, row.not_run, row.total) == (60, 21, 11, 5, 3, 100)
    assert (row.rate, row.rate_of_answers) == (tally.accuracy, tally.accuracy_of_answers) == (0.6, 60 / 81)
    screen = Console(file=io.StringIO(), width=120)
    screen.print(tables.accuracy_table([row]))
    assert isinstance(screen.file, io.StringIO)
    lines = [re.findall(r"[\w.]+(?: run)?", line) for line in screen.file.getvalue().splitlines()]
    assert lines[2][-7:] == ["tests", "right", "wrong", "errors", "timeouts", "not run", "accuracy"]
    assert lines[4][-7:] == ["100", "60", "21", "11", "5", "3", "0.6000"]
    text = " ".join(Page(render(dataclasses.replace(data, accuracy=(row,)))).text.split())
    assert "errorstimeoutsnot runaccuracyof answers" in text
    assert "0.7407" in text


def test_estimate_is_shown_with_what_is_known() -> None:
    assert formatting.estimate(Estimate(1.0, 0.5, 0.0, 2.0, 4)) == "1.00 [0.00, 2.00]"
    assert formatting.estimate(Estimate(1.0, None, None, None, 1)) == "1.00"
    assert formatting.with_error(Estimate(1.0, 0.5, 0.0, 2.0, 4)) == "1.00 ± 0.50"
    assert formatting.estimate(None) == "–"


def test_tree_places_children_right_of_their_parents_and_nobody_twice() -> None:
    parents = [None, None, 0, 0, 2, 1]
    picture = layout([CandidateView(i, parent, None, "tested", 0.5) for i, parent in enumerate(parents)])
    places = {node.candidate.id: (node.x, node.y) for node in picture.nodes}
    assert len(set(places.values())) == 6
    for child, parent in enumerate(parents):
        if parent is not None:
            assert places[child][0] > places[parent][0]
    assert all(x < picture.width and y < picture.height for x, y in places.values())


def test_tree_of_a_long_chain_is_drawn() -> None:
    chain = [CandidateView(i, i - 1 if i else None, None, "tested", 0.5) for i in range(3000)]
    assert len(layout(chain).nodes) == 3000


def test_colours_of_a_matrix_have_a_fixed_scale(yokai: ArenaView, poker: ArenaView) -> None:
    cell = Estimate(5.0, None, None, None, 1)
    assert scale(yokai.table) == (0.0, 10.0)
    assert [heat(yokai.table, replace(cell, mean=mean)) for mean in (-1.0, 0.0, 8.2, 12.0)] == [0.0, 0.0, 0.82, 1.0]
    # Nobody knows what this made-up game can pay: what was paid is the scale.
    assert scale(poker.table) == (-3.5, 3.5)
    known = replace(poker.table, game="leduc_poker")
    assert (scale(known), heat(known, replace(cell, mean=0.0))) == ((-13.0, 13.0), 0.5)


def test_the_best_partner_of_an_agent_is_another_one(poker: ArenaView, yokai: ArenaView) -> None:
    assert [best_partner(poker.table, row) for row in (0, 1)] == [1, 0]
    assert best_partner(yokai.table, 0) is None


def test_published_figures_hold_the_headline() -> None:
    rows = figures.rows("yokai-9c-2p")
    assert [row.cross_play for row in rows if row.agent == "people"] == [(5.7, 0.5)]
    assert max(row.cross_play[0] for row in rows if row.memory) == 4.8
    assert max(row.cross_play[0] for row in rows if not row.memory and row.agent != "people") == 0.3
    assert [row.self_play for row in rows if row.agent == "Self-Play IPPO (SP)"] == [(7.5, 0.3)]
    assert figures.rows("leduc_poker") == []


def test_bad_answers_have_a_column_only_where_there_are_any(data: ReportData, record: Builder) -> None:
    assert "bad answers" not in Page(render(data)).text
    bad = {"0": {"bad": {"illegal": 2, "empty": 1}}}
    games = [
        dataclasses.replace(record("a b", [1.0, -1.0], 1), accounts=bad),
        dataclasses.replace(record("b a", [1.0, -1.0], 1), accounts={"1": {"bad": {"illegal": 1}}}),
    ]
    table = standings(games, POKER, ["a", "b"])
    assert [agent.bad_answers for agent in table.agents] == [{"empty": 1, "illegal": 3}, {}]
    page = Page(render(dataclasses.replace(data, arenas=(ArenaView("Poker", table),))))
    assert "bad answers" in page.text
    assert formatting.counts({"empty": 1, "illegal": 3}) in page.text
