"""Prompts in other words: what ships, what a user gives, and what a foreign recording may hold."""

from pathlib import Path

import pytest

from arena.runs.settings import RunSettings
from arena.terminal import options
from cwm.interface import templates, wording
from cwm.interface.templates import WordingError


def folder(tmp_path: Path, **files: str) -> str:
    for name, text in files.items():
        (tmp_path / f"{name}.j2").write_text(text, encoding="utf-8")
    return str(tmp_path)


def test_every_wording_that_ships_can_be_read_and_stands_in_the_help() -> None:
    for name in wording.shipped():
        assert wording.load(name).templates
    assert f"{', '.join(wording.shipped())}, or a folder" in str(options.WordingGiven.__metadata__[0].help)


def test_sentence_comes_before_every_question() -> None:
    usual = templates.render("no_program", functions=("f",), num_programs=1)
    hurried = templates.render("no_program", wording=wording.load("hurried").texts, functions=("f",), num_programs=1)
    assert hurried == f"{wording.load('hurried').templates['_before']}\n{usual}"


def test_template_of_a_folder_stands_in_the_place_of_ours_where_others_include_it(tmp_path: Path) -> None:
    own = wording.load(folder(tmp_path, _answer="Say {{ num_programs }}."))
    assert own.name == tmp_path.name
    values = {"functions": ("f",), "num_programs": 3, "turn": 0}
    assert templates.source("no_program").count("_answer.j2") <= 1
    text = templates.render("no_program", wording=own.texts, **values)
    assert ("Say 3." in text) == ("_answer.j2" in templates.source("no_program"))


@pytest.mark.parametrize(
    ("files", "sentence"),
    [
        ({}, "holds no template"),
        ({"sythesis": "x"}, "has a template sythesis.j2, which no prompt uses; known: .*synthesis"),
        ({"synthesis": "{% if %}"}, "synthesis.j2 of the wording .* cannot be read, line 1"),
    ],
)
def test_folder_that_is_no_wording_is_refused_in_a_sentence(
    tmp_path: Path, files: dict[str, str], sentence: str
) -> None:
    with pytest.raises(WordingError, match=sentence):
        wording.load(folder(tmp_path, **files))


def test_unknown_wording_is_refused_with_those_there_are() -> None:
    with pytest.raises(WordingError, match="no wording 'slow': give one of hurried, reordered"):
        wording.load("slow")


@pytest.mark.parametrize("text", ["{{ nowhere }}", "{{ ''.__class__.__mro__ }}", "{{ functions.append(1) }}"])
def test_template_reaches_nothing_but_the_values_it_is_given(tmp_path: Path, text: str) -> None:
    own = wording.load(folder(tmp_path, no_program=text))
    with pytest.raises(WordingError, match="no_program cannot be written in this wording"):
        templates.render("no_program", wording=own.texts, functions=[], num_programs=1)


def test_settings_keep_the_templates_themselves(tmp_path: Path) -> None:
    own = wording.load(folder(tmp_path, _answer="Say it."))
    settings = RunSettings(game="tic_tac_toe", registered=True, wording=own)
    assert settings.to_json()["wording"] == {"name": tmp_path.name, "templates": {"_answer": "Say it."}}
    assert RunSettings.from_record(settings.to_json()) == settings
    assert "wording" not in RunSettings(game="tic_tac_toe", registered=True).to_json()
