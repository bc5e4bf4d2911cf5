"""Programs are taken from closed fenced blocks alone."""

from cwm.interface.answers import Block, blocks, defines, programs

REQUIRED = ("f", "g")
WHOLE = "def f():\n    return 1\n\n\ndef g():\n    return 2\n"


def fenced(text: str, language: str = "python") -> str:
    return f"```{language}\n{text}```\n"


def test_whole_programs_win_over_snippets_in_the_reasoning() -> None:
    answer = "First I thought of\n" + fenced("def f(): ...\n") + "but then:\n" + fenced(WHOLE)
    assert programs(answer, REQUIRED, 3) == [WHOLE]


def test_last_programs_count_when_there_are_more_than_asked_for() -> None:
    versions = [WHOLE + f"# {number}\n" for number in range(3)]
    assert programs("".join(map(fenced, versions)), REQUIRED, 2) == versions[1:]


def test_same_program_twice_in_one_answer_is_one_program() -> None:
    assert programs(fenced(WHOLE) * 2, REQUIRED, 2) == [WHOLE]


def test_last_block_is_returned_when_no_block_is_whole() -> None:
    assert programs(fenced("x = 1\n") + fenced("def f(): ...\n"), REQUIRED, 2) == ["def f(): ...\n"]


def test_block_that_was_never_closed_is_no_program() -> None:
    assert programs("```python\n" + WHOLE, REQUIRED, 1) == []


def test_prose_and_blocks_of_other_languages_are_no_programs() -> None:
    assert programs(WHOLE + fenced('{"a": 1}\n', "json"), REQUIRED, 1) == []


def test_function_inside_a_class_does_not_make_a_program_whole() -> None:
    assert not defines("class A:\n    def f(self): ...\n", "f")
    assert defines("f = lambda: 1\n", "f")
    assert not defines("def ff(): ...\n", "f")


def test_tildes_and_longer_fences_hold_what_shorter_fences_would_end() -> None:
    assert blocks("~~~python\na\n```\nb\n~~~\n") == [Block("python", "a\n```\nb\n", True)]
    assert blocks("````\n```\n````\n") == [Block("", "```\n", True)]


def test_windows_line_ends_are_read() -> None:
    assert blocks("```python\r\nx = 1\r\n```\r\n") == [Block("python", "x = 1\n", True)]
