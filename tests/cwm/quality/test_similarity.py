"""The longest shared run of tokens, against exact values and a quadratic oracle."""

import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cwm.quality import similarity
from cwm.quality.similarity import Source, longest_shared_run

ROOT = Path(__file__).parents[3]
ADD = "def add(a, b):\n    return a + b\n"


def test_identical_programs_share_every_token() -> None:
    run = longest_shared_run(ADD, [("x.py", ADD)])
    assert (run.length, run.program_tokens, run.file, run.file_line, run.program_line) == (12, 12, "x.py", 1, 1)
    assert run.text == "def add ( a , b ) : return a + b"


def test_comments_line_breaks_and_indentation_do_not_count() -> None:
    spread = "# first\ndef add(\n    a,  # left\n    b):\n\n        return a + b  # sum\n"
    assert longest_shared_run(spread, [("x.py", ADD)]).length == 12


def test_a_shared_run_inside_other_code_is_found_with_its_lines() -> None:
    program = "import random\n\n\ndef other():\n    x = foo(1, 2)\n    return x\n"
    ours = "y = 3\nx = foo(1, 2)\nprint(x)\n"
    run = longest_shared_run(program, [("empty.py", ""), ("ours.py", ours)])
    assert (run.length, run.file, run.file_line, run.program_line) == (8, "ours.py", 2, 5)
    assert run.text == "x = foo ( 1 , 2 )"


def test_a_run_never_crosses_from_one_file_into_the_next() -> None:
    assert longest_shared_run("a = b + c", [("one.py", "a = b"), ("two.py", "+ c")]).length == 3


OURS = """
def step(state, move):
    board = state["board"] + [move]
    return {"board": board, "last": move, "done": False}
"""


@pytest.mark.parametrize(
    ("prompt", "length"),
    [
        ("It's a game of two.", 32),
        (f"Don't write this:\n{OURS}", 0),
        # Ten tokens are a piece: eight stand before them, fourteen behind.
        ('The player\'s `board = state["board"] + [move]`', 14),
        ('The player\'s `board = state["board"] + [move`', 32),
    ],
)
def test_pieces_that_the_prompt_holds_end_a_run(prompt: str, length: int) -> None:
    assert Source([("ours.py", OURS)]).longest_run_outside(OURS, prompt).length == length


def test_a_run_outside_the_prompt_is_told_with_its_lines() -> None:
    run = Source([("other.py", "a = 1"), ("ours.py", OURS)]).longest_run_outside(
        OURS, 'board = state["board"] + [move]'
    )
    assert (run.file, run.file_line, run.program_line, run.program_tokens) == ("ours.py", 4, 4, 32)
    assert run.text == 'return { "board" : board , "last" : move , "done" : False }'


def test_nothing_shared_has_length_zero() -> None:
    assert longest_shared_run("a", [("one.py", "b")]) == similarity.SharedRun(0, 1)


def test_broken_program_is_compared_as_far_as_it_can_be_read() -> None:
    assert longest_shared_run("x = foo(1, 2\n", [("one.py", "x = foo(1, 2)")]).length == 7


PIECES = """def f(a: "x", *b, **c) -> None:  # a comment with 'a quote
    a **= b // 2 ** c; a //= 3 << 1 >> 2; a <<= 1; a >>= 1; a != b <= c >= a == b
    if (n := 0x_Ff + 0b_1 + 0o17 + 1_000.5e-3j + .5 + 1.) and a@b: a @= b; a |= b ^ c & ~a
    return f'{a!r:>{b}} it\\'s', rb"\\"", u'', "#", \\
        '''one ' and '' in
three''', R\"\"\"a \\\"\"\" b\"\"\", ..., a[...].é, a if b else-c
""".replace('\\"', '"')


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="Python's own tokens are taken")
def test_files_are_divided_as_python_divides_them() -> None:
    sources = [PIECES, *(path.read_text(encoding="utf-8") for path in sorted(ROOT.glob("cwm/quality/*.py")))]
    for source in sources:
        own = similarity.tokens(source)
        assert list(similarity._texts(source)) == [token.text for token in own]
        assert [similarity._line_of(source, number) for number in range(0, len(own), 7)] == [t.line for t in own[::7]]


def test_source_files_are_sorted_and_named_from_the_root(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "two.py").write_text("2\n")
    (tmp_path / "a.py").write_text("1\n")
    assert similarity.source_files([tmp_path], tmp_path) == [("a.py", "1\n"), ("b/two.py", "2\n")]


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.sampled_from("abc"), max_size=25),
    st.lists(st.lists(st.sampled_from("abc"), max_size=25), min_size=1, max_size=3),
)
def test_length_equals_that_of_comparing_all_pairs_of_positions(left: list[str], files: list[list[str]]) -> None:
    def common(i: int, right: list[str], j: int) -> int:
        length = 0
        while i + length < len(left) and j + length < len(right) and left[i + length] == right[j + length]:
            length += 1
        return length

    best = [max((common(i, f, j) for i in range(len(left)) for j in range(len(f))), default=0) for f in files]
    run = longest_shared_run("\n".join(left), [(str(number), "\n".join(file)) for number, file in enumerate(files)])
    assert run.length == max(best)
    assert run.file == (str(best.index(run.length)) if run.length else "")
    assert len(run.text.split()) == run.length


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.sampled_from("abc"), max_size=40), st.lists(st.lists(st.sampled_from("abc"), max_size=30), max_size=3)
)
def test_files_that_are_indexed_share_what_they_share_one_by_one(program: list[str], files: list[list[str]]) -> None:
    named = [(f"{number}.py", " ".join(words)) for number, words in enumerate(files)]
    found, expected = Source(named).longest_run(" ".join(program)), longest_shared_run(" ".join(program), named)
    assert found.length == expected.length
    if found.length:
        text = dict(named)[found.file]
        assert found.text in text
        assert found.text in " ".join(program)
