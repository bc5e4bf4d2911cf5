"""What a twin's worker answers: anything at all, of which only the form that was asked for is taken."""

import tracemalloc
from types import SimpleNamespace

import pytest

from cwm.interface import twin as interface
from cwm.interface.twin import TWIN_FUNCTIONS, TWIN_MODULES
from cwm.sandbox.parent import reference, static_check
from cwm.sandbox.wire.api import Outcome, ProgramSource, Reply
from cwm.twins import tracing
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
        {"tables": {"actions": [str(number) for number in range(16_385)], "chance": []}},
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


def test_a_name_bound_to_something_else_than_a_function_is_told_before_and_in_the_worker():
    source = "list_actions = ['a', 'b']\n"
    told = static_check.check(source, TWIN_FUNCTIONS, interface, frozenset(TWIN_MODULES))
    assert "line 1: list_actions must be a function: list_actions()" in told
    game = SimpleNamespace(functions={})
    assert tracing.tables(game, {}, None) == {"problem": "list_actions is no function"}
    assert tracing.trace(game, {}, None) == {"problem": "init is no function"}


@pytest.mark.extra("batched")
def test_the_program_by_which_faults_of_ours_are_told_is_a_right_twin_too():
    pytest.importorskip("jax")
    beside = reference.beside(ProgramSource("", None, {"num_players": 2}))
    namespace = {"INITIAL_STATE": beside.initial_state}
    exec(beside.source, namespace)
    game = SimpleNamespace(functions=namespace)
    assert tracing.tables(game, {}, None) == {"actions": ["a", "b"], "chance": []}
    asked = {"players": 2, "width": 1, "actions": 2, "chance": 0}
    told = tracing.trace(game, asked, None)
    assert told["layout"] == [["count", "int32", []]]
    layout = {"layout": told["layout"]}
    (problems, arrays) = tracing.encode(game, layout | {"states": ['{"count":3}']}, None)
    assert problems == {"problems": []}
    assert arrays["whole"].data == b"\x03\x00\x00\x00"
    decoded = tracing.decode(game, layout | {"whole": [[3]], "real": [[]]}, None)
    assert decoded == {"states": ['{"count":3,"players":2}'], "problems": []}


TEXT = '"builtin.module"() ({{\n"func.func"() <{{sym_name = "main"}}> ({{\n{0}\n}}) : () -> ()\n}}) : () -> ()\n'


@pytest.mark.parametrize("count", ["1.5", "-1", "", "9" * 5000, "0x10"])
def test_a_result_with_another_count_than_a_number_is_refused(count):
    with pytest.raises(TwinTextError, match="not accepted"):
        read(TEXT.format(f'%0:{count} = "stablehlo.iota"() : () -> tensor<4xi32>'))


def test_a_number_with_very_many_digits_is_refused():
    with pytest.raises(TwinTextError, match="not accepted"):
        read(TEXT.format(f'%0 = "stablehlo.iota"() <{{d = {"9" * 5000} : i64}}> : () -> tensor<4xi32>'))


def test_a_word_in_a_list_of_numbers_is_refused():
    with pytest.raises(TwinTextError, match="an array attribute holds 'foo'"):
        read(TEXT.format('%0 = "stablehlo.iota"() <{d = array<i64: foo>}> : () -> tensor<4xi32>'))


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
