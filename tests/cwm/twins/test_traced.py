"""What a twin's worker answers: anything at all, of which only the form that was asked for is taken."""

import tracemalloc

import pytest

from cwm.sandbox.wire.api import Outcome, ProgramSource, Reply
from cwm.twins.text.language import TwinTextError
from cwm.twins.text.reader import read
from cwm.twins.text.words import TOKEN
from cwm.twins.traced import OTHER_FORM, TwinProblemError, TwinWorker

TABLES = {"actions": ["go"], "chance": []}
TRACE = {"layout": [["count", "int8", [2]]], "init": "a", "step": "b", "look": "c"}


class Told(TwinWorker):
    """A worker that answers what it is given to answer."""

    def __init__(self, **answers):
        super().__init__("", ProgramSource("", None, {"num_players": 1}), None)
        self.answers = {"tables": TABLES, "trace": TRACE} | answers

    def _asked(self, function, argument, arrays=False):
        return Reply(Outcome.OK, self.answers[function])


def test_an_answer_in_the_form_that_was_asked_for_is_taken():
    traced = Told().traced(3)
    assert traced.form.layout == TRACE["layout"]
    assert traced.texts == {"init": "a", "step": "b", "look": "c"}


@pytest.mark.parametrize(
    "answers",
    [
        {"tables": TRACE},
        {"trace": TABLES},
        {"tables": 1},
        {"tables": {"problem": ["no text"]}},
        {"tables": {"actions": [], "chance": []}},
        {"tables": {"actions": ["go", "go"], "chance": []}},
        {"tables": {"actions": ["go"], "chance": [1]}},
        {"tables": {"actions": [str(number) for number in range(10_001)], "chance": []}},
        {"trace": TRACE | {"init": 1}},
        {"trace": TRACE | {"layout": []}},
        {"trace": TRACE | {"layout": [["count", "int8", [0]]]}},
        {"trace": TRACE | {"layout": [["count", "int8", [-1]]]}},
        {"trace": TRACE | {"layout": [["count", "int8", [True]]]}},
        {"trace": TRACE | {"layout": [["count", ["int8"], [1]]]}},
        {"trace": TRACE | {"layout": [["count", "uint32", [1]]]}},
        {"trace": TRACE | {"layout": [["count", "int8", [10**6, 10**6]]]}},
        {"trace": TRACE | {"layout": [[f"{number:03}", "int8", [1]] for number in range(65)]}},
        {"trace": TRACE | {"layout": [["b", "int8", [1]], ["a", "int8", [1]]]}},
    ],
)
def test_an_answer_of_another_form_is_refused(answers):
    with pytest.raises(TwinProblemError, match=OTHER_FORM):
        Told(**answers).traced(3)


def test_a_text_that_is_too_long_does_not_leave_for_the_process_that_reads_it():
    with pytest.raises(TwinProblemError, match="more than 8,000,000 characters"):
        Told(trace=TRACE | {"step": "x" * 8_000_001}).traced(3)


TEXT = '"builtin.module"() ({{\n"func.func"() <{{sym_name = "main"}}> ({{\n{0}\n}}) : () -> ()\n}}) : () -> ()\n'


@pytest.mark.parametrize("count", ["1.5", "-1", "", "9" * 5000, "0x10"])
def test_a_result_with_another_count_than_a_number_is_refused(count):
    with pytest.raises(TwinTextError, match="not accepted"):
        read(TEXT.format(f'%0:{count} = "stablehlo.iota"() : () -> tensor<4xi32>'))


def test_a_number_with_very_many_digits_is_refused():
    with pytest.raises(TwinTextError, match="not accepted"):
        read(TEXT.format(f'%0 = "stablehlo.iota"() <{{d = {"9" * 5000} : i64}}> : () -> tensor<4xi32>'))


def test_words_of_any_length_are_read_in_one_pass():
    # By going back and forth, these would take minutes.
    assert TOKEN.match("tensor<" + "1" * 100_000 + " ")["word"] == "tensor"
    assert TOKEN.match('"' + "a" * 1_000_000) is None
    tracemalloc.start()
    found = TOKEN.match('"' + "\\a" * 1_000_000 + '"')
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found["string"].endswith('a"')
    assert peak < 40_000_000
