"""How pages are made from templates: every value is escaped, and one that is missing is an error."""

from jinja2 import Environment, PackageLoader, StrictUndefined


def page_environment(package: str) -> Environment:
    """Returns the environment of the templates that lie in a package, e.g. `arena.report`, without filters of ours."""
    return Environment(
        loader=PackageLoader(package, "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
