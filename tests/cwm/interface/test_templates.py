"""The prompt templates: complete, strict, and free of any game's name."""

import re

import jinja2
import pytest

from cwm.interface import templates
from games import registry
from games.posg.registry import ids as simultaneous_ids


def words(text: str) -> str:
    return " ".join(re.findall(r"[a-z0-9]+", text.lower()))


def test_no_template_holds_the_name_of_a_registered_game() -> None:
    names = {words(name) for game in registry.ids() for name in (game, game.split("-")[0])}
    names -= {words(game.split("-")[0]) for game in simultaneous_ids()}  # such as `two`
    names |= {words(game) for game in simultaneous_ids()}
    names |= {"yokai", "poker", "chess", "tic tac toe", "hanabi"}
    for template in templates.names():
        text = f" {words(templates.source(template))} "
        assert [name for name in names if f" {name} " in text] == [], template


def test_templates_are_found_in_the_package() -> None:
    assert {"synthesis", "refinement", "follow_up", "no_program", "value"} <= set(templates.names())


def test_value_that_a_template_needs_and_does_not_get_is_an_error() -> None:
    with pytest.raises(jinja2.UndefinedError, match="functions"):
        templates.render("no_program", num_programs=1)


def test_unknown_template_is_refused_with_the_known_ones() -> None:
    with pytest.raises(templates.TemplateMissingError, match=r"'jump'; there are .*synthesis"):
        templates.render("jump")


def test_rules_with_braces_are_put_in_as_they_are() -> None:
    text = templates.render("_game", rules="a {{ b }} <c> {% d %}", names=None, player_names=("x", "y"))
    assert "a {{ b }} <c> {% d %}" in text
    assert "- player 1 is called `y`" in text
