"""That every mutant fits the code as it is; `make mutants` shows that all of them die."""

import ast
import importlib.util
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
_spec = importlib.util.spec_from_file_location("mutants_check", ROOT / "tests" / "mutants" / "check.py")
assert _spec is not None
assert _spec.loader is not None
check = importlib.util.module_from_spec(_spec)
sys.modules[_spec.name] = check
_spec.loader.exec_module(check)

MUTANTS = check.mutants()


def test_there_are_thirty_mutants_and_no_two_are_alike() -> None:
    assert len(MUTANTS) >= 30
    assert len({mutant.name for mutant in MUTANTS}) == len({(m.before, m.after) for m in MUTANTS}) == len(MUTANTS)


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.id)
def test_mutant_stands_in_one_place_is_a_program_of_its_own_and_names_tests_that_exist(mutant: check.Mutant) -> None:
    source = mutant.place(ROOT).read_text(encoding="utf-8")
    assert ast.dump(ast.parse(mutant.changed(source))) != ast.dump(ast.parse(source))
    assert mutant.tests
    assert all(tests.place(ROOT).is_file() for tests in mutant.tests)


def test_text_that_stands_nowhere_or_twice_is_refused() -> None:
    for text, places in (("no such text at all", "nowhere"), ("import", "arena/__main__.py")):
        with pytest.raises(check.MutantError, match=rf"times in the product, expected once \(.*{places}"):
            check.Mutant("wrong", "", text, "", ()).place(ROOT)
