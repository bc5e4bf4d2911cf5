"""The interface in the prompt is the interface of the code."""

import ast
import inspect

import pytest

from cwm.interface import program
from cwm.interface import text as api_text


def test_every_declared_function_is_rendered_with_its_whole_docstring() -> None:
    text = api_text.render(api_text.functions())
    rendered = {node.name: node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)}
    declared = {
        name: function
        for protocol in (
            program.TransitionProgram,
            program.HiddenHistoryProgram,
            program.ValueProgram,
            program.PolicyProgram,
        )
        for name, function in vars(protocol).items()
        if inspect.isfunction(function) and not name.startswith("_")
    }
    assert set(rendered) == set(declared)
    for name, function in declared.items():
        assert ast.get_docstring(rendered[name]) == inspect.getdoc(function)
        assert [argument.arg for argument in rendered[name].args.args] == list(inspect.signature(function).parameters)[
            1:
        ]


def test_signature_is_rendered_as_a_module_level_function() -> None:
    lines = api_text.render(["get_rewards"]).splitlines()
    assert lines[:3] == ["Action = str", "State = dict[str, Any]", "PlayerObservation = dict[str, Any]"]
    assert lines[4] == "def get_rewards(state: State) -> list[float]:"


def test_functions_that_the_program_must_define_are_all_declared() -> None:
    names = (
        *program.TRANSITION_FUNCTIONS,
        program.INFERENCE_FUNCTION,
        program.VALUE_FUNCTION,
        program.POLICY_FUNCTION,
    )
    assert names == api_text.functions()


def test_unknown_function_is_refused_with_the_known_ones() -> None:
    with pytest.raises(api_text.UnknownFunctionError, match=r"\['jump'\].*apply_action"):
        api_text.render(["jump"])
