"""Loads the prompt templates: files `*.j2` of the package `prompts`, in the checkout and in a wheel alike."""

import importlib.resources
from functools import cache
from typing import Any

import jinja2
from jinja2.sandbox import ImmutableSandboxedEnvironment

PACKAGE = "prompts"
SUFFIX = ".j2"
BEFORE = "_before"
"""A template of a wording, see `cwm.interface.wording`; `prompts` itself has none of this name."""


class TemplateMissingError(ValueError):
    """No prompt template has that name."""


class WordingError(ValueError):
    """Templates of a wording cannot be used; the message says why and what there is."""


def names() -> list[str]:
    """Returns the names of all templates, without the suffix, sorted."""
    files = importlib.resources.files(PACKAGE).iterdir()
    return sorted(file.name.removesuffix(SUFFIX) for file in files if file.name.endswith(SUFFIX))


def source(name: str) -> str:
    """Returns a template's own text.

    Args:
        name: file name without `.j2`.

    Raises:
        TemplateMissingError: there is no such template.
    """
    file = importlib.resources.files(PACKAGE) / (name + SUFFIX)
    if not file.is_file():
        raise TemplateMissingError(f"there is no prompt template {name!r}; there are {', '.join(names())}")
    return file.read_text(encoding="utf-8")


def render(name: str, wording: tuple[tuple[str, str], ...] = (), **values: Any) -> str:
    """Returns the template `name` filled in; a value that the template needs and does not get is an error.

    Args:
        name: file name without `.j2`.
        wording: names and texts of templates that stand in the place of those of the same name, or beside them;
            `_before` comes before every template that is asked for by name.
        **values: what the template calls for.

    Raises:
        TemplateMissingError: there is no such template.
        WordingError: a template of the wording cannot be filled in.
        jinja2.UndefinedError: a value is missing.
    """
    if name not in names() and name not in dict(wording):
        raise TemplateMissingError(f"there is no prompt template {name!r}; there are {', '.join(names())}")
    environment = _environment(wording)
    try:
        before = f"{environment.get_template(BEFORE + SUFFIX).render(**values)}\n" if BEFORE in dict(wording) else ""
        return before + environment.get_template(name + SUFFIX).render(**values)
    except (jinja2.TemplateError, TypeError, ValueError, ArithmeticError, LookupError, AttributeError) as error:
        if not wording:
            raise
        raise WordingError(f"The prompt {name} cannot be written in this wording: {error}.") from None


@cache
def _environment(wording: tuple[tuple[str, str], ...]) -> jinja2.Environment:
    own = dict(wording)

    def load(file_name: str) -> str:
        name = file_name.removesuffix(SUFFIX)
        return own[name] if name in own else source(name)

    # Templates may come with a recording that somebody else made: they reach nothing but the values they are given.
    return ImmutableSandboxedEnvironment(
        loader=jinja2.FunctionLoader(load),
        undefined=jinja2.StrictUndefined,
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
