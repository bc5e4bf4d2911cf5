"""`cwm judge`: what players said that can be known of cards, against the truth, and a language model's opinion."""

from pathlib import Path
from typing import Annotated, Any

import typer

from arena.agents.specs import parse
from arena.decisions import state_judge, state_tracking, walk
from arena.decisions.state_tracking import FOUR, Checked, Share, Tracking
from arena.decisions.tracking_causes import CAUSES
from arena.figures.formatting import NONE, share
from arena.figures.sheet import Sheet
from arena.language_players.models import PlayerModels
from arena.terminal import console
from arena.terminal.bar import counted_bar
from arena.terminal.options import NO_CAPS, AsJson, takes_caps
from arena.usage import UsageError
from cwm.llm.caps import Caps
from cwm.llm.provider_table import FORMS

FOLDER = "judge"
"""In the folder of the games: the calls of the language model that judges."""
FIGURES = {
    "exact": "exact",
    "precision": "precision",
    "recall": "recall",
    "touched": "touched",
    "not_invented": "nothing invented",
    "card_kept": "true card kept",
    "quality": "kept up",
}
NOTE = (
    "Shares of slots, with their number. exact: both sets right; touched: of those that changed since the own last "
    "turn; nothing invented: nothing possible is ruled out; true card kept: the card that lies there is not; kept up: "
    "nothing right was lost and nothing made up since the answer before. precision, recall: of values ruled out."
)


@takes_caps
def command(
    run: Annotated[
        Path,
        typer.Argument(help="Folder of `cwm arena --run`, `cwm xp --run` or `cwm play`, or of several of these."),
    ],
    llm: Annotated[
        str | None,
        typer.Option(
            "--llm", help=f"Also ask this language model, which is told the truth: {FORMS}. Kept beside the games."
        ),
    ] = None,
    agent: Annotated[
        list[str] | None, typer.Option("--agent", help="Only this agent's; may be given several times.")
    ] = None,
    caps: Caps = NO_CAPS,
    as_json: AsJson = False,
) -> None:
    """Check every deduction that a language model wrote down, slot by slot, against what hints have told."""
    if llm is None and caps != NO_CAPS:
        raise UsageError("No language model judges, and nothing is asked: leave out caps, or add --llm.")
    places, names = walk.played(run), agent or []
    walk.check_agents(places, names)
    found = [item for place in places for item in state_tracking.checked(place, names)]
    if not found:
        raise UsageError(
            f"{run} holds no deduction: play with a language model by a scaffold that asks for one, such as mycroft."
        )
    tallies = state_tracking.figures(found)
    opinion = None if llm is None else _opinion(run, llm, found, caps)
    if as_json:
        document: dict[str, Any] = {"players": [tally.to_json() for tally in tallies]}
        console.print_json(document if opinion is None else document | {"judge": {"model": llm} | opinion})
        return
    for sheet in _sheets(tallies):
        console.out.print(sheet)
    if opinion is not None:
        console.out.print(_opinion_sheet(str(llm), opinion))


def _opinion(run: Path, llm: str, found: list[Checked], caps: Caps) -> dict[str, Any]:
    spec = parse(f"llm:{llm}")
    (run / FOLDER).mkdir(exist_ok=True)
    total = sum(item.claimed is not None for item in found)
    with PlayerModels([spec], run / FOLDER, caps) as models, counted_bar("deductions") as show:
        judged = state_judge.judge(found, models.model(spec), lambda done: show(done, total))
    return state_judge.summary(judged)


def _sheets(tallies: list[Tracking]) -> list[Sheet]:
    names = [tally.who for tally in tallies]
    exact = Sheet(
        "What can be known, slot by slot",
        ["player"],
        ["decisions", "unread", *FIGURES.values()],
        note=NOTE,
        names=names,
    )
    four = Sheet("The paper's four numbers, exact", ["player"], FOUR, note="ours: see exact, touched, kept up")
    ages = sorted({age for tally in tallies for age in tally.by_age})
    oldest = state_tracking.OLDEST
    age = Sheet(
        "Recall by age of the fact, in own turns",
        ["player"],
        [f"{number} and older" if number == oldest else str(number) for number in ages],
    )
    causes = Sheet("Wrong slots by cause", ["cause", "meaning"], names, names=names)
    for tally in tallies:
        exact.add(tally.who, str(tally.decisions), str(tally.unread), *(_cell(getattr(tally, key)) for key in FIGURES))
        four.add(tally.who, *map(share, tally.four))
        age.add(tally.who, *(_cell(tally.by_age.get(number, Share())) for number in ages))
    for cause, meaning in CAUSES.items():
        causes.add(cause, meaning, *(str(tally.causes[cause]) for tally in tallies))
    return [exact, four, age, causes]


def _cell(found: Share) -> str:
    return NONE if found.value is None else f"{found.value:.3f} ({found.n})"


def _opinion_sheet(llm: str, opinion: dict[str, Any]) -> Sheet:
    unread = ", ".join(f"{count} {problem}" for problem, count in opinion["unread"].items())
    sheet = Sheet(
        f"What {llm} says, given the truth",
        ["number"],
        ["said", "exact", "correlation", "n"],
        note=f"answers that could not be read: {unread}" if unread else "",
    )
    for name, row in opinion["numbers"].items():
        sheet.add(name, share(row["said"]), share(row["exact"]), share(row["correlation"]), str(row["n"]))
    return sheet
