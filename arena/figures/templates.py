"""How pages are made from templates: every value is escaped, and one that is missing is an error."""

from functools import cache
from typing import Any, Final

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from arena.figures import formatting, metrics
from arena.figures.intervals import Estimate

_OWN: Final = "arena.figures"


def stacked(value: Estimate | None, digits: int = 2) -> Markup:
    """Returns what `formatting.estimate` does, the interval set apart, which stands below the mean in a table."""
    mean, bracket, ends = formatting.estimate(value, digits).partition(" [")
    return Markup('{} <span class="ci">[{}</span>').format(mean, ends) if bracket else Markup.escape(mean)


_FILTERS: Final = {
    "estimate": formatting.estimate,
    "stacked": stacked,
    "with_error": formatting.with_error,
    "pair": formatting.pair,
    "share": formatting.share,
    "accuracy": formatting.accuracy,
    "whole": formatting.whole,
    "money": formatting.money,
    "seconds": formatting.seconds,
    "counts": formatting.counts,
    "estimates": lambda figures: metrics.cells(figures, stacked),
    "with_errors": lambda figures: metrics.cells(figures, formatting.with_error),
}
"""What writes numbers; the last two write all figures of a cooperative game, one for each of `metrics`."""


def page(package: str, template: str, **values: Any) -> str:
    """Returns a page from a template that lies in a package, e.g. `arena.report`; those of this one may be imported."""
    return _environment(package).get_template(template).render(values, metrics=metrics.NAMES)


@cache
def _environment(package: str) -> Environment:
    """Returns what reads the templates of a package: it keeps them compiled, which takes longer than rendering them."""
    environment = Environment(
        loader=ChoiceLoader([PackageLoader(name, ".") for name in (package, _OWN)]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(_FILTERS)
    return environment
