import re

import pytest
from markupsafe import Markup

from arena.figures import colouring, differences, dots
from arena.figures.curve import LineChart
from arena.figures.dots import Dot, DotPlot
from arena.figures.intervals import Estimate

PROGRAM = 'def f(x):  # <b>\n    """Two\n    lines."""\n    return len(x) + 0x1F if x else "<i>"\n'


def read(lines: list[Markup]) -> list[str]:
    return [str(Markup(re.sub("</?span[^>]*>", "", line)).unescape()) for line in lines]


def test_a_coloured_program_has_its_own_lines_and_no_markup_of_its_own() -> None:
    lines = colouring.lines(PROGRAM)
    assert read(lines) == PROGRAM.split("\n")
    text = "\n".join(lines)
    assert '<span class="tc"># &lt;b&gt;</span>' in text
    assert '<span class="tk">def</span> <span class="tf">f</span>' in text
    assert '<span class="ts">    lines.&#34;&#34;&#34;</span>' in text
    assert '<span class="tb">len</span>' in text
    assert '<span class="tn">0x1F</span>' in text


@pytest.mark.parametrize("text", ["", "</pre><script>'", 'x = """', "def f(:\n\t x\n  y", "\x00\r\f", "if x:\n  a\n b"])
def test_a_text_that_is_no_python_is_shown_as_it_is(text: str) -> None:
    assert read(colouring.lines(text)) == text.split("\n")


def test_changed_lines_have_the_numbers_of_both_programs() -> None:
    old = "\n".join(f"line {number}" for number in range(20))
    found = differences.changed_lines(old, old.replace("line 10", "line ten\nline more"))
    assert [(line.kind, line.old, line.new, line.text) for line in found if line.kind != "same"] == [
        ("gap", None, None, ""),
        ("out", 11, None, "line 10"),
        ("in", None, 11, "line ten"),
        ("in", None, 12, "line more"),
    ]
    around = [(line.old, line.new) for line in found if line.kind == "same"]
    assert around == [(8, 8), (9, 9), (10, 10), (12, 13), (13, 14), (14, 15)]
    assert differences.changed_lines(old, old) == []


def test_words_that_differ_are_marked_and_markup_stays_text() -> None:
    expected, got = differences.marked("{'a': 1, 'b': <2>}", "{'a': 3, 'b': <2>}")
    assert expected == "{&#39;a&#39;: <mark>1</mark>, &#39;b&#39;: &lt;2&gt;}"
    assert got == "{&#39;a&#39;: <mark>3</mark>, &#39;b&#39;: &lt;2&gt;}"
    assert differences.marked("<a>", "<a>") == ("&lt;a&gt;", "&lt;a&gt;")


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0.0, 10.0, (0.0, 2.0, 4.0, 6.0, 8.0, 10.0)),
        (0.0, 1.0, (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)),
        (-0.65, 1.09, (-1.0, -0.5, 0.0, 0.5, 1.0, 1.5)),
        (0.0, 1_500_000.0, (0.0, 250_000.0, 500_000.0, 750_000.0, 1_000_000.0, 1_250_000.0, 1_500_000.0)),
        (3.0, 3.0, (3.0, 3.2, 3.4, 3.6, 3.8, 4.0)),
    ],
)
def test_ticks_are_round_and_hold_the_whole_range(low: float, high: float, expected: tuple[float, ...]) -> None:
    assert dots.ticks(low, high) == pytest.approx(expected)


def test_a_plot_has_a_fixed_scale_that_only_a_mean_beyond_it_widens() -> None:
    dot = Dot.published("SP", (7.5, 0.5))
    plot = DotPlot.of("R", [dot, Dot("none", 0.0)], 0.0, 10.0)
    assert (plot.low, plot.high, plot.at(7.5)) == (0.0, 10.0, 75.0)
    assert plot.span(dot) == pytest.approx((65.20018, 19.59964))
    assert plot.span(plot.dots[1]) is None
    assert DotPlot.of("R", [Dot("high", 11.0)], 0.0, 10.0).high == 12.0
    assert plot.at(-5.0) == 0.0


def test_a_chart_has_round_axes_and_a_band_of_one_standard_error() -> None:
    points = [(0.0, Estimate(2.0, 1.0, None, None, 3)), (1_500_000.0, Estimate(4.0, 0.5, None, None, 3))]
    chart = LineChart.of("sp", {"self-play": points}, "steps", "R", widest=1_500_000.0, highest=5.0)
    assert [text for text, _ in chart.x_ticks] == ["0", "250k", "500k", "750k", "1M", "1.25M", "1.5M"]
    assert [text for text, _ in chart.y_ticks] == ["0", "1", "2", "3", "4", "5"]
    (line,) = chart.lines
    assert line.points == "0.0,60.0 100.0,20.0"
    assert line.band == "0.0,40.0 100.0,10.0 100.0,30.0 0.0,80.0"
    assert line.marks[1] == (100.0, 20.0, "1,500,000: 4.00 ± 0.50, n = 3")
    alone = LineChart.of("sp", {"x": [(1.0, Estimate(0.5, None, None, None, 1))]}, "steps", "share")
    assert alone.lines[0].band == ""
