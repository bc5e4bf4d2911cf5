"""How pages are made from templates: every value is escaped, and one that is missing is an error."""

from typing import Any, Final

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

from arena.figures import formatting, metrics

_OWN: Final = "arena.figures"
_FILTERS: Final = {
    "estimate": formatting.estimate,
    "with_error": formatting.with_error,
    "pair": formatting.pair,
    "share": formatting.share,
    "accuracy": formatting.accuracy,
    "whole": formatting.whole,
    "money": formatting.money,
    "seconds": formatting.seconds,
    "counts": formatting.counts,
    "estimates": lambda figures: metrics.cells(figures, formatting.estimate),
    "with_errors": lambda figures: metrics.cells(figures, formatting.with_error),
}
"""What writes numbers; the last two write all figures of a cooperative game, one for each of `metrics`."""


def page(package: str, template: str, **values: Any) -> str:
    """Returns a page from a template that lies in a package, e.g. `arena.report`; those of this one may be imported."""
    environment = Environment(
        loader=ChoiceLoader([PackageLoader(name, ".") for name in (package, _OWN)]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(_FILTERS)
    return environment.get_template(template).render(values, metrics=metrics.NAMES)
