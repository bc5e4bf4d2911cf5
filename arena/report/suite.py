"""How good a model's unit tests are, for the terminal."""

from collections.abc import Iterable
from typing import Any

from arena.evaluation.suite_quality import Aimed
from arena.figures import formatting
from arena.figures.intervals import wilson
from arena.figures.sheet import Sheet
from arena.terminal import console

SHOWN_SURVIVORS = 5
SHOWN_BRANCHES = 10


def show(suite: dict[str, Any]) -> None:
    """Prints coverage and mutation score.

    Args:
        suite: see `arena.evaluation.suite_quality.SuiteQuality.to_json`.
    """
    coverage, score = suite["coverage"], suite["mutation"]
    made = f"{suite['tests']} unit tests of {suite['games']} games"
    console.out.print(f"{made} reach {coverage['taken']} of {coverage['branches']} branches of the model")
    _show_branches(coverage["missed"])
    if suite["failed"] is not None:
        console.out.print(f"the model fails {suite['failed']} of them: a mutation score is of a model that passes all")
        return
    table = Sheet("Mutants that the unit tests catch", ["change", "function"], ["caught", "mutants", "share"])
    for name, (caught, total) in score["operators"].items():
        table.add(name, "all", *_counts(caught, total))
    for name, (caught, total) in score["functions"].items():
        table.add("all", name, *_counts(caught, total))
    console.out.print(table)
    console.out.print(_verdict(score))
    for survivor in score["survivors"][:SHOWN_SURVIVORS]:
        console.out.print(f"  line {survivor['line']}, {survivor['function']}: {survivor['operator']}", markup=False)
        for line in survivor["diff"]:
            console.out.print(f"    {line}", markup=False, highlight=False)
    _show_rest(len(score["survivors"]) - SHOWN_SURVIVORS, "survivors")


def show_aimed(found: Aimed) -> None:
    """Prints why each game was chosen, and what is still missed."""
    reached = {number for choice in found.choices for number in choice.branches}
    caught = {number for choice in found.choices for number in choice.mutants}
    for number, choice in enumerate(found.choices):
        steps = len(found.trajectories[number].steps)
        console.out.print(
            f"game {number}, {steps} steps: {len(choice.branches)} new branches, {len(choice.mutants)} mutants caught"
        )
        for place in sorted(choice.mutants):
            mutant = found.survivors[place].mutant
            console.out.print(f"  catches line {mutant.line}, {mutant.function}: {mutant.operator}", markup=False)
        _show_branches([found.branches[branch].to_json() for branch in sorted(choice.branches)], "  reaches")
    console.out.print(
        f"{found.candidates} candidates; of {len(found.missed)} missed branches {len(reached)} are reached now, of "
        f"{len(found.survivors)} surviving mutants {len(caught)} are caught"
    )


def _verdict(score: dict[str, Any]) -> str:
    if not score["mutants"]:
        return "no mutants: the program has nothing to change"
    low, high = wilson(score["caught"], score["mutants"])
    return (
        f"{score['caught']} of {score['mutants']} mutants caught ({formatting.share(score['share'], 3)}, 95 % interval "
        f"{low:.3f} to {high:.3f}), drawn from {score['places']} possible changes"
    )


def _show_branches(branches: Iterable[dict[str, Any]], verb: str = "  never") -> None:
    listed = list(branches)
    for branch in listed[:SHOWN_BRANCHES]:
        where = f"line {branch['line']}, {branch['function']}"
        console.out.print(f"{verb} {branch['kind']}: {branch['text']} ({where})", markup=False, highlight=False)
    _show_rest(len(listed) - SHOWN_BRANCHES, "branches")


def _show_rest(number: int, what: str) -> None:
    if number > 0:
        console.out.print(f"  and {number} more {what}; as JSON all are listed")


def _counts(caught: int, total: int) -> tuple[str, str, str]:
    return formatting.whole(caught), formatting.whole(total), formatting.share(caught / total, 3)
