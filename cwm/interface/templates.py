"""Loads the prompt templates: files `*.j2` of the package `prompts`, in the checkout and in a wheel alike.

A folder of an edition holds templates that are worded otherwise there; what it lacks is taken from `prompts` itself.
"""

import importlib.resources
from functools import cache
from typing import Any, Literal, TypeAlias

import jinja2

PACKAGE = "prompts"

Edition: TypeAlias = Literal["book", "specification"]
"""Which text a game is told by: a rule book for people, or the specification of the implementation."""


class TemplateMissingError(ValueError):
    """No prompt template has that name."""


def names() -> list[str]:
    """Returns the names of all templates, without the suffix, sorted."""
    files = importlib.resources.files(PACKAGE).iterdir()
    return sorted(file.name.removesuffix(".j2") for file in files if file.name.endswith(".j2"))


def source(name: str, edition: Edition = "book") -> str:
    """Returns a template's own text.

    Args:
        name: file name without `.j2`.
        edition: in whose wording.

    Raises:
        TemplateMissingError: there is no such template.
    """
    folder = importlib.resources.files(PACKAGE)
    file = folder / edition / f"{name}.j2"
    file = file if file.is_file() else folder / f"{name}.j2"
    if not file.is_file():
        raise TemplateMissingError(f"there is no prompt template {name!r}; there are {', '.join(names())}")
    return file.read_text(encoding="utf-8")


def render(name: str, edition: Edition = "specification", **values: Any) -> str:
    """Returns the template `name` filled in; a value that the template needs and does not get is an error.

    Args:
        name: file name without `.j2`.
        edition: in whose wording.
        **values: what the template calls for.

    Raises:
        TemplateMissingError: there is no such template.
        jinja2.UndefinedError: a value is missing.
    """
    if name not in names():
        raise TemplateMissingError(f"there is no prompt template {name!r}; there are {', '.join(names())}")
    return _environment(edition).get_template(f"{name}.j2").render(**values)


@cache
def _environment(edition: Edition) -> jinja2.Environment:
    def load(file_name: str) -> str:
        return source(file_name.removesuffix(".j2"), edition)

    return jinja2.Environment(
        loader=jinja2.FunctionLoader(load),
        undefined=jinja2.StrictUndefined,
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
