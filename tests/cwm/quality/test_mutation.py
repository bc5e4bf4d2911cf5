"""Mutants: which changes are made, and that each is one."""

import ast
from pathlib import Path

import pytest

from cwm.quality import mutation
from cwm.quality.mutation_edits import MODULE, OPERATORS, Edit, edits

PROGRAMS = sorted((Path(__file__).parents[2] / "data" / "programs").glob("*.py"))


def changed(source: str) -> dict[str, set[str]]:
    """Returns the programs that every operator makes of one."""
    found: dict[str, set[str]] = {}
    for edit in edits(source):
        found.setdefault(edit.operator, set()).add(edit.applied(source.encode()).decode())
    return found


@pytest.mark.parametrize(
    ("source", "operator", "expected"),
    [
        ("a < b <= c", "comparison swapped", {"a <= b <= c", "a < b < c"}),
        ("a not  in b", "comparison swapped", {"a in b"}),
        ("a is (b)", "comparison swapped", {"a is not (b)"}),
        ("(a + 'x', a - b)", "arithmetic swapped", {"(a + 'x', a + b)"}),
        ("(a + b) * c", "arithmetic swapped", {"(a + b) + c", "((a - b)) * c"}),
        ("c - a * b", "arithmetic swapped", {"c + a * b", "c - (a + b)"}),
        ("a and b and c", "and/or swapped", {"a or b or c"}),
        ("not (a and b)", "and/or swapped", {"not ((a or b))"}),
        (
            "f(3, True, 0.5, 'x')",
            "constant changed",
            {f"f({v}, 'x')" for v in ("4, True, 0.5", "2, True, 0.5")}
            | {"f(3, False, 0.5, 'x')", "f(3, True, 1.5, 'x')"},
        ),
        ("x = a ** 0", "constant changed", {"x = a ** 1", "x = a ** (-1)"}),
        ("if a: b()", "condition negated", {"if (not a): b()"}),
        ("if a == b: c()", "condition negated", {"if a != b: c()"}),
        ("while not a: b()", "condition negated", {"while (a): b()"}),
        ("[a for a in b if a or c]", "condition negated", {"[a for a in b if (not (a or c))]"}),
        ("if a: b()\nelse: c()", "branches swapped", {"if (not a): b()\nelse: c()"}),
        ("if a:\n  b()\nelif c:\n  d()", "branches swapped", {"if a:\n  d()\nelif c:\n  b()"}),
        ("x = a if b else c", "branches swapped", {"x = a if (not b) else c"}),
        ("x[i] = x[1:n]", "index shifted", {"x[i + 1] = x[1:n]", "x[i] = x[1:n + 1]"}),
        ("range(a - b)", "index shifted", {"range((a - b) + 1)"}),
        ("x.append(y)", "statement deleted", {"pass"}),
        ("é = 'ß'; x += é", "statement deleted", {"é = 'ß'; pass"}),
    ],
)
def test_an_operator_makes_these_programs_and_no_other(source: str, operator: str, expected: set[str]) -> None:
    assert changed(source)[operator] == expected


def test_returned_values_are_emptied_negated_or_dropped() -> None:
    lines = ["return [a]", "return {a: 1}", "return a < b", "return f(a)", "return 1", "return"]
    source = "def f(a, b):\n" + "".join(f" if a: {line}\n" for line in lines)
    made = {
        edit.applied(source.encode()).decode().split("\n")[edit.line - 1].strip()
        for edit in edits(source)
        if edit.operator == "return value changed"
    }
    assert made == {"if a: return []", "if a: return {}", "if a: return a >= b", "if a: return None"}


def test_texts_docstrings_annotations_and_decorators_are_left_alone() -> None:
    source = (
        '"""Three 3."""\nState = dict[str, int]\n\n@cache(3)\ndef f(a: list[3], b="x[3]") -> tuple[3]:\n'
        '    """Adds 3."""\n    c: list[3]\n    return f"{a[3]}"\n'
    )
    assert [(edit.operator, edit.line) for edit in edits(source)] == [("return value changed", 8)]


def test_a_binding_is_deleted_only_where_another_one_is_left() -> None:
    source = "def f(a):\n    b = g()\n    c = g()\n    c = h()\n    a = h()\n"
    assert [edit.line for edit in edits(source) if edit.operator == "statement deleted"] == [3, 4, 5]


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_every_change_parses_and_changes_the_line_that_it_names(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    lines = source.split("\n")
    for edit in edits(source):
        text = edit.applied(source.encode()).decode()
        ast.parse(text)
        assert edit.operator in OPERATORS
        assert text.split("\n")[edit.line - 1] != lines[edit.line - 1] or edit.operator == "branches swapped"


def test_functions_are_named_by_where_they_stand() -> None:
    source = "x = 1\nclass A:\n    def f(self):\n        def g():\n            return 2\n        return g\n"
    assert {edit.function for edit in edits(source)} == {MODULE, "A.f", "A.f.g"}


def test_mutants_that_compile_to_the_same_code_are_drawn_once() -> None:
    # Negating `==` and swapping it are one change; the branch that is never taken compiles to nothing.
    drawn = mutation.draw("def f(a):\n    if a == b: g()\n    if 0: h(5)\n", 100, 0)
    assert [mutant.diff for mutant in drawn.mutants if mutant.line == 2] == [
        ("-    if a == b: g()", "+    if a != b: g()"),
        ("-    if a == b: g()", "+    if a == b: pass"),
    ]
    assert not [mutant for mutant in drawn.mutants if "h(6)" in mutant.source]
    assert drawn.places > len(drawn.mutants)


def test_the_seed_alone_decides_which_mutants_are_drawn() -> None:
    source = PROGRAMS[0].read_text(encoding="utf-8")
    first, again, other = (mutation.draw(source, 10, seed) for seed in (1, 1, 2))
    assert first == again
    assert len(first.mutants) == 10
    assert first != other
    assert [mutant.line for mutant in first.mutants] == sorted(mutant.line for mutant in first.mutants)


def test_windows_line_ends_change_nothing_but_themselves() -> None:
    source = "def f(a):\n    return a + 1\n"
    assert mutation.draw(source.replace("\n", "\r\n"), 9, 0) == mutation.draw(source, 9, 0)


def test_an_edit_replaces_bytes_not_characters() -> None:
    assert Edit("constant changed", MODULE, 1, 5, 6, "4").applied("'é'+3".encode()) == "'é'+4".encode()
