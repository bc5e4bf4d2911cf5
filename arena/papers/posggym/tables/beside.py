"""The paper's tables and figures as sheets: what is published, and matrices of ours in rows below."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from arena.checkpoints import populations
from arena.figures.intervals import Estimate, mean_estimate
from arena.figures.sheet import Sheet
from arena.papers.posggym.published import cells
from arena.papers.posggym.published.cells import ENVIRONMENTS, RETURNS, ExperimentEnvironment, PublishedReturn
from arena.posg import published as payoffs
from arena.posg.matrix import Matrix
from arena.posg.matrix_figures import NOBODY, NOT_PLAYED, InAndOut, averages, normalised, spent, told
from arena.usage import UsageError
from games.posg import registry
from search.posg.config import PosgPlannerConfig

METHODS: Final = ("POMCP", "INTMCP", "IPOMCP", "POTMMCP", "Combined", "RL-BR")
"""In the order in which they are shown."""
BLIND: Final = ("POMCP", "INTMCP")
"""Those that plan for no population, and have figures out of distribution alone."""
NOT_PUBLIC: Final = "not public"
PAPER: Final = "paper"
OURS: Final = "ours"
FINISHED: Final = 1.0 - 1e-6
"""A vehicle that has arrived was paid this at least in all; one that crashed less than nothing."""
HOW: Final = (
    "Paper: means of its raw results, ± half of the 95 % interval where that is known. Ours: ± half of the 95 % "
    "interval over n episodes."
)
BUDGETS: Final = (
    "The paper's budgets are seconds on its authors' machine, in brackets the simulations that it did in these, as far "
    "as that is known; ours are what the row says, so compare by simulations."
)
POLICIES: Final = (
    "RL-BR and what leads Combined are policies of our own training, with smaller networks and fewer steps."
)


def returns_sheet(found: Sequence[Matrix]) -> Sheet:
    """Returns Figures 11, 17 and 22: returns by environment, method and budget."""
    sheet = Sheet(
        "Mean return by environment (Figures 11, 17 and 22)",
        ["environment", "method", "whose", "budget"],
        ["in", "out", "moves, in"],
    )
    notes = [HOW, BUDGETS, POLICIES]
    for environment in ENVIRONMENTS:
        own = _of(environment, found)
        for method in METHODS:
            _add_method(sheet, environment, method, own)
        notes += [_populations(environment, matrix) for matrix in own]
    sheet.note = " ".join(notes)
    return sheet


def _add_method(sheet: Sheet, environment: ExperimentEnvironment, method: str, own: Sequence[Matrix]) -> None:
    published = _published(environment.name, method)
    for row in published:
        sheet.add(environment.name, method, PAPER, _seconds(row), *_printed(row), NOBODY)
    if not published:
        inside = NOBODY if method in BLIND else NOT_PUBLIC
        sheet.add(environment.name, method, PAPER, NOBODY, inside, NOT_PUBLIC, NOBODY)
    mine = [(matrix, one) for matrix in own for one in averages(matrix) if one.title == method]
    for matrix, one in mine:
        ends = (NOBODY if method in BLIND else told(one.inside), told(one.outside))
        sheet.add(environment.name, method, _whose(one), spent(one.budget), *ends, _moves(matrix, one))
    if not mine:
        sheet.add(environment.name, method, OURS, NOBODY, NOT_PLAYED, NOT_PLAYED, NOBODY)


def overall_sheet(found: Sequence[Matrix]) -> Sheet:
    """Returns Figures 9 and 10: normalised returns over all environments, and the gap."""
    sheet = Sheet(
        "Normalised return, mean of the six environments (Figures 9 and 10)",
        ["method", "whose", "budget"],
        ["in", "out", "gap"],
    )
    for method in METHODS:
        published = _published("", method)
        for row in published:
            gap = f"{row.inside - row.outside:.3f}"
            sheet.add(method, PAPER, _seconds(row), f"{row.inside:.3f}", f"{row.outside:.3f}", gap)
        if not published:
            sheet.add(method, PAPER, NOBODY, NOBODY if method in BLIND else NOT_PUBLIC, NOT_PUBLIC, NOBODY)
        mine = _overall(method, found)
        for budget, (inside, outside) in mine.items():
            ends = [_mean_text(inside), _mean_text(outside)]
            sheet.add(method, OURS, budget, *ends, _difference(inside, outside))
        if not mine:
            sheet.add(method, OURS, NOBODY, NOT_PLAYED, NOT_PLAYED, NOT_PLAYED)
    played = sum(bool(_of(environment, found)) for environment in ENVIRONMENTS)
    sheet.note = (
        f"Returns as shares of the way from the lowest to the highest. Ours need a method with one budget in all "
        f"{len(ENVIRONMENTS)} environments; matrices of {played} of them are here. {BUDGETS}"
    )
    return sheet


def endings_sheet(found: Sequence[Matrix]) -> Sheet:
    """Returns Table 5: how games of driving end in distribution, in percent."""
    sheet = Sheet(
        "Endings of Driving-v1 in distribution (Table 5)",
        ["method", "whose", "budget"],
        ["crashed", "success", "timeout", "n"],
    )
    driving = next(environment for environment in ENVIRONMENTS if environment.game == "driving")
    for method in METHODS[2:]:
        budget = NOBODY if method == "RL-BR" else f"{cells.SECONDS[-1]:g} s"
        sheet.add(method, PAPER, budget, *(f"{share:.2f} %" for share in cells.ENDINGS[method]), "")
        rows = _endings(method, _of(driving, found))
        for name, returns in rows.items():
            counts = endings(returns)
            sheet.add(
                method, OURS, name, *(f"{100 * count / len(returns):.2f} %" for count in counts), str(len(returns))
            )
        if not rows:
            sheet.add(method, OURS, NOBODY, *[NOT_PLAYED] * 3, "")
    sheet.note = "Ours follow from the returns: who has arrived was paid 1 in all, who crashed less than nothing. "
    sheet.note += " ".join(_populations(driving, one) for one in _of(driving, found))
    return sheet


def endings(returns: Sequence[float]) -> tuple[int, int, int]:
    """Returns how many games of driving with these returns crashed, succeeded and ran out of time."""
    crashed = sum(value < 0.0 for value in returns)
    arrived = sum(value > FINISHED for value in returns)
    return crashed, arrived, len(returns) - crashed - arrived


def environments_sheet(found: Sequence[Matrix]) -> Sheet:
    """Returns Table 4: sizes of the environments of the experiments."""
    sheet = Sheet(
        "Environments of the experiments (Table 4)",
        ["environment", "game", "agent", "reward"],
        ["states", "first belief", "actions", "ours", "observations", "P0, P1", "ship"],
    )
    for one in ENVIRONMENTS:
        actions = len(registry.make(one.game).info.actions[one.seat])
        sizes = ", ".join(str(size) for size in one.populations)
        shipped = [len(populations.expanded(one.game, [name])) for name in populations.shipped_names(one.game)]
        row = (one.name, one.game, str(one.seat), one.reward, one.states, one.starts, str(one.actions), str(actions))
        sheet.add(*row, one.observations, sizes, ", ".join(map(str, shipped)) or "none")
    sheet.note = (
        "As printed; ours are the actions and the populations that ship. Populations that do not ship are learned "
        "policies: `cwm train posg` makes such."
    )
    return sheet


def settings_sheet(found: Sequence[Matrix]) -> Sheet:
    """Returns Table 7: settings of planners, and ours."""
    sheet = Sheet("Settings of planners (Table 7)", ["setting", "is", "paper", "our default"])
    notes = []
    for name, printed, what, known in cells.SETTINGS:
        default = getattr(PosgPlannerConfig(), name)
        own = NOBODY if default is None else f"{default:.3g}" if isinstance(default, float) else str(default)
        sheet.add(name, what, printed, own)
        notes += [f"{name}: {known}"] if known else []
    sheet.note = " ".join(notes)
    return sheet


def speeds_sheet(found: Sequence[Matrix]) -> Sheet:
    """Returns Table 2: steps a second."""
    sheet = Sheet("Steps a second (Table 2)", ["environment", "game"], ["paper"])
    for game, (name, speed) in cells.SPEEDS.items():
        sheet.add(name, game, f"{speed:,.0f}")
    sheet.note = "On the authors' machine. `cwm posg speed` times ours here, and posggym's beside it where it is built."
    return sheet


def beliefs_sheet(found: Sequence[Matrix]) -> Sheet:
    """Returns what is known of Figures 12 and 13: what Combined's belief gives to the truth."""
    sheet = Sheet(
        "What Combined believes in distribution, at 0.1 s → 20 s (Figures 12 and 13)",
        ["environment"],
        ["true state", "out of distribution", "true type", "true action", "search depth at 20 s"],
    )
    for one in cells.BELIEFS:
        ends = ((one.state, 3), (one.state_out, 3), (one.type, 2), (one.action, 2))
        found_ends = (" → ".join(f"{end:.{digits}f}" for end in pair) or NOBODY for pair, digits in ends)
        sheet.add(one.environment, *found_ends, str(one.depth))
    sheet.note = (
        "Means over a game of the paper's raw results. `cwm posg beliefs` measures ours: none is kept in a matrix."
    )
    return sheet


def payoffs_sheet(found: Sequence[Matrix]) -> Sheet:
    """Returns what is known of Figure 20: what the reference policies got beside each other."""
    sheet = Sheet("Payoffs of the reference policies (Figure 20)", ["game", "policy", "return beside"])
    for game, table in payoffs.PAYOFFS.items():
        names = payoffs.NAMES[game]
        for name, row in zip(names, table, strict=True):
            sheet.add(game, name, _pairs(names, row))
    for one in cells.LEARNED_PAYOFFS:
        sheet.add(one["game"], one["row"], _pairs(one["columns"], one["values"]))
    sheet.note = (
        f"The paper's raw results, {payoffs.EPISODES} games a pair (it says 1,000). `cwm posg payoffs` plays ours and "
        "sets these beside."
    )
    return sheet


def _pairs(names: Sequence[str], values: Sequence[float | None]) -> str:
    pairs = zip(names, values, strict=True)
    return ", ".join(f"{name} {value:.2f}" for name, value in pairs if value is not None)


def learning_sheet(found: Sequence[Matrix]) -> Sheet:
    """Returns what is known of Figure 21: steps until a best response has nine tenths of its gain."""
    sheet = Sheet("Steps until RL-BR has 90 % of its gain (of Figure 21)", ["environment"], ["P0", "P1"])
    for name, steps in cells.STEPS.items():
        sheet.add(name, *(NOBODY if count is None else f"{count:g}M" for count in steps))
    sheet.note = (
        "From the paper's raw results; where one figure is known, it stands for both. Trainings of ours keep their "
        "curves in metrics.jsonl."
    )
    return sheet


SHEETS: Final[Mapping[str, Callable[[Sequence[Matrix]], Sheet]]] = {
    "table-2": speeds_sheet,
    "table-4": environments_sheet,
    "table-5": endings_sheet,
    "table-7": settings_sheet,
    "figure-9": overall_sheet,
    "figure-11": returns_sheet,
    "figure-12": beliefs_sheet,
    "figure-20": payoffs_sheet,
    "figure-21": learning_sheet,
}
"""By the name that people choose them by; some hold what several figures show."""


def sheets(found: Sequence[Matrix], chosen: Sequence[str] = ()) -> list[Sheet]:
    """Returns the tables with ours below the paper's rows.

    Args:
        found: matrices of ours.
        chosen: names of tables, () for all.

    Raises:
        UsageError: two matrices are of one game and agent, whose rows would be merged.
    """
    places = [(one.game, one.seat) for one in found]
    twice = next((place for place in places if places.count(place) > 1), None)
    if twice is not None:
        raise UsageError(
            f"two matrices are of {twice[0]}, agent {twice[1]}, and a table has room for one: give a folder "
            "with one of them."
        )
    return [make(found) for name, make in SHEETS.items() if not chosen or name in chosen]


def matrices_of(environment: ExperimentEnvironment, found: Sequence[Matrix]) -> list[Matrix]:
    """Returns the matrices that were played in an environment, by the agent that the paper's planner is there."""
    return _of(environment, found)


def _of(environment: ExperimentEnvironment, found: Sequence[Matrix]) -> list[Matrix]:
    return [one for one in found if (one.game, one.seat) == (environment.game, environment.seat)]


def _published(environment: str, method: str) -> list[PublishedReturn]:
    return [row for row in RETURNS if (row.environment, row.method) == (environment, method)]


def _seconds(row: PublishedReturn) -> str:
    if row.seconds is None:
        return NOBODY
    return f"{row.seconds:g} s" + (f" ({row.simulations:,} sims)" if row.simulations else "")


def _printed(row: PublishedReturn) -> list[str]:
    halves = row.halves or (None, None)
    pairs = zip((row.inside, row.outside), halves, strict=True)
    return [f"{value:.3f}" if half is None else f"{value:.3f} ± {half:.3f}" for value, half in pairs]


def _whose(row: InAndOut) -> str:
    return OURS if row.method == row.title else f"{OURS}, {row.method.removeprefix(row.title).strip()}"


def _moves(matrix: Matrix, row: InAndOut) -> str:
    """Returns how many moves games in distribution have, as Figure 16 shows."""
    own = [one for one in matrix.cells if (one.place.method, one.place.budget) == (row.method, row.budget)]
    mean = mean_estimate([count for cell in own if cell.place.inside for count in cell.moves.values()])
    return NOBODY if mean is None else f"{mean.mean:.1f}"


def _populations(environment: ExperimentEnvironment, matrix: Matrix) -> str:
    names = dict.fromkeys(name for cell in matrix.cells for name in (cell.place.planned, cell.place.met) if name)
    return f"Ours in {environment.name}: populations {', '.join(names)}, {matrix.episodes} episodes a cell."


def _overall(method: str, found: Sequence[Matrix]) -> dict[str, tuple[float | None, float | None]]:
    """Returns the normalised means in and out of distribution of a method, for budgets that all environments have."""
    by_budget: dict[str, list[tuple[float | None, float | None]]] = {}
    for environment in ENVIRONMENTS:
        rows = {
            spent(row.budget): row for one in _of(environment, found) for row in averages(one) if row.method == method
        }
        for budget, row in rows.items():
            inside, outside = (normalised(value, environment.bounds) for value in (row.inside, row.outside))
            by_budget.setdefault(budget, []).append((_mean(inside), _mean(outside)))
    whole = {budget: ends for budget, ends in by_budget.items() if len(ends) == len(ENVIRONMENTS)}
    return {budget: (_over([a for a, _ in ends]), _over([b for _, b in ends])) for budget, ends in whole.items()}


def _mean(value: Estimate | None) -> float | None:
    return None if value is None else value.mean


def _over(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return math.fsum(known) / len(known) if len(known) == len(values) else None


def _mean_text(value: float | None) -> str:
    return NOT_PLAYED if value is None else f"{value:.3f}"


def _difference(one: float | None, other: float | None) -> str:
    return NOT_PLAYED if one is None or other is None else f"{one - other:.3f}"


def _endings(method: str, found: Sequence[Matrix]) -> dict[str, list[float]]:
    """Returns the returns of a method in distribution by its budget."""
    rows: dict[str, list[float]] = {}
    for cell in (cell for one in found for cell in one.cells if cell.place.inside and cell.place.title == method):
        name = spent(cell.place.budget)
        own = name if cell.place.method == method else f"{name}, {cell.place.method}"
        rows.setdefault(own, []).extend(cell.returns.values())
    return {name: returns for name, returns in rows.items() if returns}
