"""The paper's tables and the numbers of its figures, filled from what is stored."""

from collections.abc import Sequence

from arena.papers.cwm.published import numbers
from arena.papers.cwm.published.games import BY_ID, WITH_VALUE_FUNCTION, Variant
from arena.papers.cwm.published.layout import (
    AGAINST_PLANNER,
    FIGURE_BY_NUMBER,
    OPPONENT_WORDS,
    TABLE_BY_NUMBER,
    TABLES,
    Column,
    FigureLayout,
    Opponent,
    TableLayout,
)
from arena.papers.cwm.published.numbers import POINT_LOST, UNREADABLE, Published
from arena.papers.cwm.tables import accuracy, learned, syntheses
from arena.papers.cwm.tables.cells import Cell, Measured, PaperTable, Row
from arena.papers.cwm.tables.measuring import Played, Stored
from arena.papers.cwm.tables.places import Place
from arena.papers.cwm.tables.settings import PaperSelection, read_scale
from arena.training_on_models.settings import PAPER_STEPS

SEATS = ("first", "second")
UNREADABLE_NOTE = (
    f"{UNREADABLE}: our copy of the paper does not show the number; {POINT_LOST}: the copy has lost the decimal point, "
    "and the row's own arithmetic confirms the number."
)
PICTURES_NOTE = "The paper's curves are pictures, which our copy does not hold."
ONLINE_NOTE = (
    "Train: the unit tests that the program was refined on; online: the states of our matches with any opponent, the "
    "paper's those with the language model."
)
SPECIFIED_NOTE = (
    "Not the paper's task: the recorded models were told each game by a specification, mostly two to four times as "
    "long as the paper's text, which names every field and says what a player can infer, in the closed deck the hidden "
    "state too, and bargaining by all its deals; and another language model wrote them."
)
BOOK_NOTE = (
    "Told by our own rule books, at most as long as the paper's texts, with the names in the records beside them; what "
    "a player can infer is not told. Another language model than the paper's wrote the models."
)
LEARNED_NOTE = "Ours come with agents that are trained on the model: `cwm paper --learned STEPS` trains them."
KINDS = ("transition", "inference")
SPLITS = ("train", "test")


def build(stored: Stored, selection: PaperSelection) -> list[PaperTable]:
    """Returns the selected tables, then the figures, with the rows of the games asked for; none without such rows."""
    found = [table(stored, TABLE_BY_NUMBER[number]) for number in selection.tables]
    found += [figure(stored, FIGURE_BY_NUMBER[number]) for number in selection.figures]
    return [sheet for sheet in found if sheet.rows]


def table(stored: Stored, layout: TableLayout) -> PaperTable:
    """Returns one table."""
    rows = [_row(stored, layout, game, seat) for game, seat in layout.rows() if game in stored.asked.games]
    labels = ("game", "goes") if layout.seated else ("game",)
    notes = [UNREADABLE_NOTE] if any(_marked(cell.published) for row in rows for cell in row.cells) else []
    if layout.kind == "accuracy":
        notes += [ONLINE_NOTE, _how_told(stored, layout)]
    if layout.learned:
        notes += _about_training(stored, layout.variant, layout.games)
    elif layout.seated:
        notes += _about_matches(stored, layout.variant, layout.games)
    notes += _scales(stored, layout.variant, layout.games) if layout.kind != "details" else [DETAILS_NOTE]
    return PaperTable(
        f"table-{layout.number}",
        f"Table {layout.number}: {layout.title}",
        labels,
        layout.columns,
        tuple(rows),
        tuple(notes),
    )


DETAILS_NOTE = (
    "Actions of ours: different ones that were legal in the recorded games, so at least so many. Our observations are "
    "JSON, and their size that of the vectors that a schema inferred from the recorded games gives; the paper's sizes "
    "are OpenSpiel's tensors."
)


def _marked(cell: Published | None) -> bool:
    return cell is not None and cell.state in ("unreadable", "confirmed")


def _row(stored: Stored, layout: TableLayout, game: str, seat: int | None) -> Row:
    cells = [
        Cell(column, _ours(stored, layout, game, seat, column), numbers.cell(layout.number, game, seat, column.key))
        for column in layout.columns
    ]
    name = BY_ID[game].name
    return Row((name,) if seat is None else (name, SEATS[seat]), tuple(cells))


def _ours(stored: Stored, layout: TableLayout, game: str, seat: int | None, column: Column) -> Measured:
    if layout.kind == "details":
        return stored.detail(game, column.key)
    if layout.kind == "accuracy":
        kind, _, split = column.key.partition(".")
        if kind == "calls":
            return stored.calls(game, layout.variant)
        return stored.accuracy(game, layout.variant, kind, split)
    assert seat is not None  # the other kinds have seats
    return stored.result(layout, game, seat, column.key)


def _about_matches(stored: Stored, variant: Variant, games: Sequence[str]) -> list[str]:
    """Returns which language models played, and which syntheses were kept from playing."""
    asked = [game for game in games if game in stored.asked.games]
    models = sorted({name for game in asked for name in stored.language_models(game, variant)})
    recorded = ", in recorded games with settings of their own" if stored.asked.llm is None else ""
    notes = [f"Our language model at the table: {', '.join(models)}{recorded}."] if models else []
    for game in asked:
        seeds = syntheses.rejected(stored.root, game, variant)
        if seeds:
            made = f"{BY_ID[game].name}: of {len(stored.places(game, variant))} syntheses"
            notes.append(f"{made} those with the seeds {', '.join(map(str, seeds))} are rejected and do not play.")
    return notes


def _how_told(stored: Stored, layout: TableLayout) -> str:
    """Returns by what the models of a table were told their games, of old rebuildings too."""
    games = [game for game in layout.games if game in stored.asked.games]
    places = [place for game in games for place in stored.places(game, layout.variant)]
    return SPECIFIED_NOTE if any(syntheses.by_specification(place.folder) for place in places) else BOOK_NOTE


def _about_training(stored: Stored, variant: Variant, games: Sequence[str]) -> list[str]:
    """Returns for how long the agents were trained that the table is about."""
    asked = [game for game in games if game in stored.asked.games]
    found = [(BY_ID[game].name, learned.words(place)) for game in asked for place in stored.places(game, variant)]
    told = [f"{name}: {words} (the paper's for {PAPER_STEPS:,}, best of 5)." for name, words in found if words]
    return told or [LEARNED_NOTE]


def _scales(stored: Stored, variant: Variant, games: Sequence[str]) -> list[str]:
    """Returns how much was played and tested, one sentence for the games that share it."""
    by_scale: dict[str, list[str]] = {}
    for game in games:
        if game not in stored.asked.games:
            continue
        scale, made = read_scale(stored.root, game), len(stored.places(game, variant))
        words = "nothing was played or tested" if scale is None else scale.words
        syntheses = "no synthesis" if made == 0 else "one synthesis" if made == 1 else f"{made} syntheses"
        by_scale.setdefault(f"{syntheses}; {words}", []).append(BY_ID[game].name)
    return [f"{', '.join(names)}: {words}." for words, names in by_scale.items()]


def figure(stored: Stored, layout: FigureLayout) -> PaperTable:
    """Returns the numbers of one figure."""
    games = [game for game in layout.games if game in stored.asked.games]
    makers = {"curves": _curves, "results": _results, "ablation": _ablation}
    label_names, columns, rows, notes = makers[layout.kind](stored, layout, games)
    return PaperTable(
        f"figure-{layout.number}",
        f"Figure {layout.number}: {layout.title}",
        label_names,
        columns,
        tuple(rows),
        (*notes, *_scales(stored, layout.variant, games)),
    )


_Made = tuple[tuple[str, ...], tuple[Column, ...], list[Row], list[str]]


def _curves(stored: Stored, layout: FigureLayout, games: list[str]) -> _Made:
    kinds = (
        ("inference",) if layout.variant == "closed" else KINDS if BY_ID[layout.games[0]].hidden else ("transition",)
    )
    columns = tuple(Column(f"{kind} accuracy", split, f"{kind}.{split}", 4) for kind in kinds for split in SPLITS)
    rows = []
    for game in games:
        places = stored.places(game, layout.variant)
        if not places:
            missing = Measured(stored.missing(game, layout.variant))
            rows.append(Row((BY_ID[game].name, "–", "–"), tuple(Cell(column, missing, None) for column in columns)))
        for place in places:
            for call, entry in enumerate(accuracy.programs_by_call(place.folder), start=1):
                digest = None if entry is None else str(entry["hash"])
                cells = [Cell(column, _at_call(stored, place, digest, column), None) for column in columns]
                rows.append(Row((BY_ID[game].name, str(place.seed), str(call)), tuple(cells)))
    return ("game", "synthesis", "calls"), columns, rows, [PICTURES_NOTE]


def _at_call(stored: Stored, place: Place, digest: str | None, column: Column) -> Measured:
    kind, _, split = column.key.partition(".")
    if digest is None:
        return Measured("not finished")
    found = stored.trained(place, digest, kind) if split == "train" else stored.tested(place, digest, kind)
    if found is None or not found[0].scored:
        return Measured("not tested")
    tally, source = found
    return Measured("measured", tally.accuracy, n=tally.scored, unit="tests", sources=(source,))


def _results(stored: Stored, layout: FigureLayout, games: list[str]) -> _Made:
    """Returns the bars: shares of outcomes, and where the paper draws payoffs, their distribution."""
    payoffs = any(BY_ID[game].payoff == "payoffs" for game in layout.games)
    names = ("win", "draw", "loss", *(("us", "them", *QUANTILES) if payoffs else ()))
    columns = tuple(Column("", name, name) for name in names)
    rows = []
    for game in games:
        drawn = next(t for t in TABLES if t.number in layout.tables and game in t.games)
        for seat in (0, 1):
            for opponent in AGAINST_PLANNER:
                cells = tuple(_bar(stored, drawn, game, seat, opponent, column) for column in columns)
                rows.append(Row((BY_ID[game].name, SEATS[seat], OPPONENT_WORDS[opponent]), cells))
    notes = ["Lowest to highest: our agent's payoff in single matches."] if payoffs else []
    notes += [UNREADABLE_NOTE, *_about_matches(stored, layout.variant, games)]
    return ("game", "goes", "against"), columns, rows, notes


QUANTILES = {"lowest": 0.0, "lower quarter": 0.25, "median": 0.5, "upper quarter": 0.75, "highest": 1.0}


def _bar(stored: Stored, drawn: TableLayout, game: str, seat: int, opponent: Opponent, column: Column) -> Cell:
    key = f"{opponent}.{column.key}"
    paper = numbers.cell(drawn.number, game, seat, key) if key in {c.key for c in drawn.columns} else None
    if column.key in QUANTILES:
        played = stored.played(game, drawn.variant, opponent)
        return Cell(column, _quantile(played, seat, QUANTILES[column.key]), None)
    return Cell(column, stored.result(drawn, game, seat, key), paper)


def _quantile(played: Played, seat: int, share: float) -> Measured:
    payoffs = sorted(record.returns[seat] for group in played.seated(seat) for record in group)
    if not payoffs:
        return Measured("not played")
    # The payoff of one match, not one between two: payoffs are few, and between them there is nothing.
    value = payoffs[round(share * (len(payoffs) - 1))]
    return Measured("measured", value, n=len(payoffs), unit="matches", sources=played.sources_of(seat))


def _ablation(stored: Stored, layout: FigureLayout, games: list[str]) -> _Made:
    columns = tuple(
        Column(group, name, f"{key}.{name}")
        for key, group in (("without", "without value function"), ("with", "with value function"))
        for name in ("win", "draw", "loss", "us", "them")
    )
    rows = []
    for game, variant in _ablated(games):
        for seat in (0, 1):
            for opponent in AGAINST_PLANNER:
                cells = tuple(_ablated_cell(stored, game, variant, seat, opponent, column) for column in columns)
                deck = ", closed deck" if variant == "closed" else ""
                rows.append(Row((BY_ID[game].name + deck, SEATS[seat], OPPONENT_WORDS[opponent]), cells))
    note = (
        "With value function: only where one was synthesised and won the tournament on the model; the paper's bars are "
    )
    return ("game", "goes", "against"), columns, rows, [note + "those of its tables with one, and pictures without."]


def _ablated(games: list[str]) -> list[tuple[str, Variant]]:
    variants: dict[str, tuple[Variant, ...]] = {"mnk": ("tree",), "bargaining": ("tree", "closed")}
    return [(game, variant) for game in WITH_VALUE_FUNCTION if game in games for variant in variants[game]]


def _ablated_cell(stored: Stored, game: str, variant: Variant, seat: int, opponent: Opponent, column: Column) -> Cell:
    which, _, name = column.key.partition(".")
    played = (stored.with_value if which == "with" else stored.without_value)(game, variant, opponent)
    layout = next(
        t
        for t in TABLES
        if t.variant == variant and game in t.games and t.kind in ("outcomes", "payoffs") and not t.learned
    )
    key = f"{opponent}.{name}"
    known = which == "with" and key in {c.key for c in layout.columns}
    paper = numbers.cell(layout.number, game, seat, key) if known else None
    if not played.seated(seat):
        why = "not played" if stored.places(game, variant) else stored.missing(game, variant)
        return Cell(column, Measured(why), paper)
    return Cell(column, stored.figure_of(played, seat, name), paper)
