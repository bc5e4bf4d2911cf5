"""The comparison of all kinds of players as one HTML page: who they are, a heat map, every lineup with intervals."""

from arena.comparison import Comparison
from arena.page_templates import page_environment
from arena.report import comparison_tables, formatting, paper_figures
from arena.report.page import cooperative, heat


def render(found: Comparison) -> str:
    """Returns the page; it needs no network and no script, and every value is escaped."""
    environment = page_environment("arena.report")
    environment.filters.update(estimate=formatting.estimate, whole=formatting.whole, pair=formatting.pair)
    return environment.get_template("comparison.html.j2").render(
        found=found,
        together=cooperative(found.table),
        players=list(zip(found.config.contenders, found.agents, strict=True)),
        summary=lambda agent: comparison_tables.summary_cells(found, agent),
        cell=lambda row, column, value: comparison_tables.matrix_cell(found, row, column, value),
        heat=lambda value: heat(found.table, value),
        mark=comparison_tables.MARK,
        note=comparison_tables.NOTE,
        paper=paper_figures.rows(found.table.game),
        paper_source=paper_figures.YOKAI_SOURCE,
    )
