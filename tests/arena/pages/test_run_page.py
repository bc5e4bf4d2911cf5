import base64
import hashlib
import re
from collections.abc import Callable
from dataclasses import replace
from html import unescape

from arena.exports import film_sources, watching
from arena.matches.match import GameRecord
from arena.matches.ratings import standings
from arena.pages import headline, run_page
from arena.report.data import Accuracy, ArenaView, CallView, CandidateView, FailedTest, ReportData, UsageRow
from games.api import GameInfo

Builder = Callable[..., GameRecord]
TOGETHER = GameInfo("yokai-9c-2p", 2, "identical", -7.0, 20.0, False, True, ("x", "y"))
THREE_IN_A_ROW = GameInfo("tic_tac_toe", 2, "win_loss_draw", -1.0, 1.0, True, False, ("x", "y"))
EXACT = (
    Accuracy("train", "transition", 100),
    Accuracy("test", "transition", 14_000),
    Accuracy("test", Accuracy.field_of("turn"), 14_000),
    Accuracy("online", "transition", 656),
)


def data(**values: object) -> ReportData:
    filled = ReportData("Run", "yokai-9c-2p", "now", "strong", accuracy=EXACT)
    return replace(filled, usage=(UsageRow("transition", 2, 5, 31_000),), **values)  # type: ignore[arg-type]


def yokai(record: Builder) -> ArenaView:
    won = {"won": True, "ended_early": False, "score": 8.75}
    games = [record("cwm cwm", [8.75, 8.75], deal, outcome=won) for deal in (1, 2)]
    games.append(record("cwm random", [8.75, 8.75], 1, outcome=won | {"score": 1.0}))
    return ArenaView("Matches", standings(games, TOGETHER, ["cwm", "random"]))


def test_the_first_sentence_holds_accuracy_and_score_beside_the_best_published(record: Builder) -> None:
    head = headline.of(data(arenas=(yokai(record),)))
    assert head.sentence == (
        "On 14,656 unseen transitions the model is never wrong; with itself its planner scores 8.75 (best published, "
        "with memory help: 7.5)."
    )
    assert [figure.value for figure in head.figures] == ["1.0000", "8.75", "2"]
    alone, others = head.plots
    assert (
        alone.dots[0].label,
        others.dots[0].label,
    ) == ("planner on the model with itself", "planner on the model with random")
    assert "people" in {dot.label for dot in others.dots} - {dot.label for dot in alone.dots}
    assert (alone.low, alone.high) == (0.0, 10.0)


def test_wrong_answers_are_counted_in_the_first_sentence_and_never_rounded_away() -> None:
    rows = (Accuracy("test", "transition", 99_999, 1), Accuracy("planner", "transition", 5, 0, 1))
    head = headline.of(data(accuracy=rows))
    assert head.sentence == "On 100,006 unseen transitions the model is wrong 2 times."
    assert head.figures[0].value == "0.9999"
    assert headline.of(data(accuracy=())).sentence == "The model was not tested on unseen games."


def test_a_game_of_the_other_paper_stands_beside_what_can_be_read_of_it(record: Builder) -> None:
    games = [record("cwm random", [1.0, -1.0], deal) for deal in (1, 2, 3, 4)]
    arena = ArenaView("Matches", standings(games, THREE_IN_A_ROW, ["cwm", "random"]))
    head = headline.of(data(game="tic_tac_toe", arenas=(arena,)))
    assert head.sentence.endswith("its planner wins 100% of its games against random.")
    (plot,) = head.plots
    assert [(dot.kind, dot.mean) for dot in plot.dots] == [("ours", 1.0), ("published", 0.97), ("published", 0.75)]


def test_accuracy_is_one_bar_a_split_and_lists_what_is_not_one() -> None:
    bars = run_page.accuracy_bars((*EXACT, Accuracy("test", "inference", 5, 5)))
    assert [(bar.split, bar.right, bar.total) for bar in bars] == [
        ("train", 100, 100),
        ("test", 14_005, 14_010),
        ("online", 656, 656),
    ]
    page = run_page.render(data())
    assert "Every kind of test is right every time." in page
    assert "What is not 1.0" not in page
    assert "What is not 1.0" in run_page.render(data(accuracy=(*EXACT, Accuracy("test", "inference", 5, 5))))


def test_the_curve_climbs_to_the_best_so_far_and_never_falls() -> None:
    rates = [(1, 0.5), (2, 0.9), (3, 0.7), (4, 1.0)]
    found = run_page.curve_of([CandidateView(call, None, call, "tested", rate) for call, rate in rates])
    assert found is not None
    heights = [float(point.split(",")[1]) for point in found.line.split()]
    assert heights == sorted(heights, reverse=True)
    assert [call for call, _ in found.ticks] == [0, 1, 2, 3, 4]
    assert [value for value, _ in found.levels] == [0.4, 0.6, 0.8, 1.0]
    assert [round(point.y) for point in found.points] == [83, 17, 50, 0]
    assert run_page.curve_of([CandidateView(0, None, None, "tested", 1.0)]) is None


def test_a_refined_candidate_shows_what_changed_and_a_failed_test_what_differs() -> None:
    failed = FailedTest("t1", "transition", "turn", "{'turn': 1}", "{'turn': 2}", "")
    first = CandidateView(0, None, 1, "tested", 0.5, failing=(failed,), failing_total=1, source="x = 1\ny = 2")
    page = run_page.render(data(candidates=(first, CandidateView(1, 0, 2, "passed", 1.0, source="x = 1\ny = 3"))))
    assert "What changed since candidate 0: 1 lines in, 1 out" in page
    assert "{&#39;turn&#39;: <mark>1</mark>}" in page
    assert "{&#39;turn&#39;: <mark>2</mark>}" in page


def test_a_page_with_games_runs_its_own_script_alone(record: Builder) -> None:
    game, played = film_sources.load("yokai-9c-2p", 0, 3)
    watched = watching.of(game, [replace(played, seats=("<script>alert(1)</script>", "b"))])
    evil = CallView(1, "x", "m", "ok", (("user", "<script>alert(2)</script>"),), "<script>alert(3)</script>")
    page = run_page.render(data(calls=(evil,), arenas=(yokai(record),)), watched)
    scripts = re.findall(r"<script([^>]*)>(.*?)</script>", page, re.DOTALL)
    assert [attributes.strip() for attributes, _ in scripts] == ['type="application/json" id="watch-data"', ""]
    digest = base64.b64encode(hashlib.sha256(scripts[1][1].encode()).digest()).decode()
    assert f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'" in unescape(page)
    assert not re.search(r"url\(|@import|<link", page)


def test_the_story_is_told_in_order() -> None:
    page = run_page.render(data())
    places = [
        page.index(f'id="{name}"')
        for name in (
            "summary",
            "game",
            "seen",
            "synthesis",
            "calls",
            "accuracy",
            "arena",
            "games",
            "programs",
            "settings",
        )
    ]
    assert places == sorted(places)
