"""The choice among several models as one HTML page: who was rejected, by how much, and why."""

from collections.abc import Mapping, Sequence
from typing import Any

from arena.page_templates import page_environment
from arena.report import formatting


def render(data: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> str:
    """Returns the page; it needs no network and no script.

    Args:
        data: the choice, as `arena.model_selection.Selection.to_json` gives it.
        rows: one a model, as `arena.selection_report.rows` gives them.
    """
    environment = page_environment("arena.report")
    environment.filters.update(whole=formatting.whole, accuracy=formatting.accuracy, pair=formatting.pair)
    return environment.get_template("selection.html.j2").render(data=data, rows=rows)
