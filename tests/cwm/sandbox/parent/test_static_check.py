"""The static check: one sentence a problem, with the line."""

import pytest

from cwm.interface.program import INFERENCE_FUNCTION, TRANSITION_FUNCTIONS, VALUE_FUNCTION
from cwm.sandbox.parent.static_check import ALLOWED_MODULES, check, parameters


@pytest.mark.parametrize(
    ("name", "required"),
    [("tic_tac_toe", TRANSITION_FUNCTIONS), ("high_card", (*TRANSITION_FUNCTIONS, INFERENCE_FUNCTION))],
)
def test_right_programs_pass(toy, name, required):
    assert check(toy(name).source, required) == []


def test_every_function_of_the_interface_has_parameters():
    assert parameters("apply_action") == ("state", "action")
    assert parameters(INFERENCE_FUNCTION) == ("obs_action_history", "player_id")
    assert parameters(VALUE_FUNCTION) == ("state", "player_id")


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ("", "the function value_function(state, player_id) is missing"),
        ("def value_function(state):\n    return 1.0\n", "line 1: value_function must take 2 positional arguments"),
        ("def value_function(a, b, c):\n    return 1.0\n", "line 1: value_function must take 2 positional arguments"),
        ("def value_function(a, b, *, c):\n    return 1.0\n", "line 1: value_function must take 2 positional"),
        ("def value_function(a, b):\n    pass\n", "line 1: value_function is only a placeholder"),
        ("def value_function(a, b):\n    '''Doc.'''\n    ...\n", "line 1: value_function is only a placeholder"),
        ("def value_function(a, b):\n    raise NotImplementedError('later')\n", "value_function is only a placeholder"),
        ("async def value_function(a, b):\n    return 1\n", "must be a plain function, not async"),
        ("x = 1\ndef f(:\n", "line 2: syntax error"),
        ("x = 1\0", "line 1: syntax error: source code string cannot contain null bytes"),
        ("#" * 300_000, "the program has 300,000 bytes; at most 200,000 are taken"),
    ],
)
def test_a_missing_or_wrong_function_is_named(source, problem):
    (found, *_) = check(source, (VALUE_FUNCTION,))
    assert problem in found


@pytest.mark.parametrize(
    "source",
    [
        "def value_function(state, player_id, extra=1, *rest):\n    return 1.0\n",
        "def value_function(*args):\n    return 1.0\n",
        "value_function = lambda state, player: 1.0\n",
        "if True:\n    def value_function(s, p): return 0.0\n",
        "from __future__ import annotations\nfrom collections.abc import Set\ndef value_function(s, p): return 0.0\n",
    ],
)
def test_other_ways_to_define_a_function_pass(source):
    assert check(source, (VALUE_FUNCTION,)) == []


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("x = error.__traceback__", "line 1: error.__traceback__ is not available"),
        ("x = frame.f_back.f_locals", "line 1: frame.f_back.f_locals is not available"),
        ("import numpy as np", "line 1: the module 'numpy' is not available; available are bisect, collections"),
        ("import os.path", "line 1: the module 'os.path' is not available"),
        ("from sys import modules", "line 1: the module 'sys' is not available"),
        ("from . import x", "line 1: the module '.' is not available"),
        ("from random import _os", "line 1: random._os is private"),
        ("import random; random._os.system('true')", "line 1: random._os is not available"),
        ("import random as r; r._os.system('true')", "line 1: r._os is not available"),
        ("exec('x = 1')", "line 1: exec() is not available"),
        ("open('file')", "line 1: open() is not available"),
        ("__import__('os')", "line 1: __import__() is not available"),
        ("().__class__.__bases__", "line 1: ().__class__.__bases__ is not available"),
    ],
)
def test_what_a_program_may_not_use_is_named(line, problem):
    (found, *_) = check(line, ())
    assert found.startswith(problem)


def test_every_problem_is_reported_at_once():
    assert len(check("import os\nimport sys\n", TRANSITION_FUNCTIONS)) == 2 + len(TRANSITION_FUNCTIONS)


def test_every_allowed_module_can_be_imported_in_a_worker(sandbox, one_function):
    names = sorted(ALLOWED_MODULES)
    body = f"import sys\nloaded = [n for n in {names!r} if n in sys.modules]\nreturn loaded"
    with sandbox.start(one_function(body)) as worker:
        assert worker.call("f", [0], seed=0).value == names
