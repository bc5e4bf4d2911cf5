"""Every printed cell, computed once more from the run records by other means: SQL, JSON, and formulas by hand."""

import csv
import json
import math
import re
import sqlite3
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

GAMES = {"Tic-tac-toe": "tic_tac_toe", "Leduc poker": "leduc_poker"}
SEATS = {"first": 0, "second": 1}
NAMES = {"llm": "llm", "true": "true game", "random": "random", "planner": "cwm"}
WORDS = {"language model": "llm", "planner on the true game": "true", "random": "random"}
STUDENT = {
    2: 12.706204736,
    3: 4.302652730,
    4: 3.182446305,
    5: 2.776445105,
    6: 2.570581836,
    7: 2.446911851,
    8: 2.364624252,
    9: 2.306004135,
    10: 2.262157163,
}
"""95 % quantiles of Student's t by number of values, from a printed table."""


def cells(folder: Path) -> list[dict[str, str]]:
    found = []
    for path in sorted((folder / "tables").glob("*.csv")):
        with path.open(encoding="utf-8") as file:
            found += list(csv.DictReader(file))
    return found


def rows(path: Path, query: str, *values: object) -> list[Any]:
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as database:
        return database.execute(query, values).fetchall()


VARIANTS = {
    **dict.fromkeys(("table-2", "table-12", "table-16", "figure-4", "figure-8"), "closed"),
    **dict.fromkeys(("table-6", "table-10", "table-15", "figure-7"), "state"),
    "table-5": "conversation",
}
"""How the syntheses behind a table were done, where it is not tree search in the open deck."""


SHIPPED = Path(__file__).resolve().parents[5] / "cwm" / "recordings"


def shipped(place: Path, seat: int) -> list[dict[str, Any]]:
    """Returns the recorded games in which a language model sits opposite a planner at `seat`."""
    path = SHIPPED / "players" / f"{place.parent.name}.jsonl"
    if place.name != "tree-s0" or not path.exists():
        return []
    games = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [game for game in games if list(game["accounts"]) == [str(1 - seat)] and game["seats"][seat][:3] == "cwm"]


def matches(place: Path, seat: int, opponent: str) -> list[dict[str, Any]]:
    if opponent == "llm":
        return shipped(place, seat)
    stored = rows(place / "matches" / "games.sqlite", "SELECT record FROM games")
    seats = ["cwm", NAMES[opponent]] if seat == 0 else [NAMES[opponent], "cwm"]
    return [game for game in (json.loads(text) for (text,) in stored) if game["seats"] == seats]


def ended(game: dict[str, Any], seat: int) -> str:
    ours, theirs = game["returns"][seat], game["returns"][1 - seat]
    return {True: "win", False: "draw" if ours == theirs else "loss"}[ours > theirs]


def wilson(good: float, n: int) -> tuple[float, float]:
    z = 1.959963984540054
    middle = (good + z * z / 2) / (n + z * z)
    half = z / (n + z * z) * math.sqrt(good * (n - good) / n + z * z / 4)
    return max(0.0, middle - half), min(1.0, middle + half)


def student(values: list[float]) -> tuple[float, float, float]:
    mean = sum(values) / len(values)
    spread = math.sqrt(sum((value - mean) ** 2 for value in values) / (len(values) - 1))
    half = STUDENT[len(values)] * spread / math.sqrt(len(values))
    return mean, mean - half, mean + half


def train_counts(place: Path, kind: str) -> Counter[str]:
    made = json.loads((place / "result.json").read_text(encoding="utf-8"))["synthesis"]
    query = "SELECT report FROM test_results WHERE program = ? AND suite = ?"
    ((report,),) = rows(place / "journal.sqlite", query, made["best"], made["suite"])
    results = [item for item in json.loads(report)["results"] if item["kind"] == kind]
    return Counter(item["status"] for item in results)


def counts(place: Path, kind: str, split: str) -> Counter[str]:
    if split == "train":
        return train_counts(place, kind)
    (folder,) = [path for path in place.glob(f"{split}*") if path.is_dir()]
    ((figures,),) = rows(folder / "journal.sqlite", "SELECT payload FROM evaluations WHERE key = 'figures'")
    tally = json.loads(figures)["kinds"][kind]
    wrong = sum(tally[name] for name in ("wrong", "errors", "timeouts", "not_run"))
    return Counter({"pass": tally["passed"], "fail": wrong})


def accuracy(place: Path, key: str) -> dict[str, float]:
    kind, split = key.split(".")
    found = counts(place, kind, split)
    total = found.total()
    low, high = wilson(found["pass"], total)
    return {"value": found["pass"] / total, "low": low, "high": high, "n": total}


def calls(place: Path) -> float:
    purposes = "('transition', 'transition+inference', 'transition+state inference', 'closed deck')"
    query = f"SELECT COUNT(*) FROM completions WHERE status = 'answered' AND purpose IN {purposes}"
    return float(rows(place / "journal.sqlite", query)[0][0])


def result(games: list[dict[str, Any]], seat: int, figure: str, forfeits: bool) -> dict[str, Any]:
    if figure == "draws":
        return {"words": str(sum(ended(game, seat) == "draw" for game in games))}
    if figure.endswith("_forfeits"):
        ends = [game for game in games if ended(game, seat) == figure.removesuffix("_forfeits")]
        return {"words": f"{sum(game['forfeit'] is not None for game in ends)}/{len(ends)}"}
    if forfeits:
        loser = seat if figure == "us" else 1 - seat
        lost = sum(game["forfeit"] is not None and game["forfeit"]["seat"] == loser for game in games)
        low, high = wilson(lost, len(games))
        return {"value": lost / len(games), "low": low, "high": high, "n": len(games)}
    if figure in ("us", "them"):
        values = [game["returns"][seat if figure == "us" else 1 - seat] for game in games]
        mean, low, high = student(values)
        return {"value": mean, "low": low, "high": high, "n": len(values)}
    good = sum(ended(game, seat) == figure for game in games)
    low, high = wilson(good, len(games))
    return {"value": good / len(games), "low": low, "high": high, "n": len(games)}


def expected(folder: Path, cell: dict[str, str]) -> dict[str, Any] | str:
    """Returns the numbers of a cell, or the words that stand in their place."""
    labels = cell["row"].split(" / ")
    game = GAMES[labels[0]]
    kind, number = cell["sheet"].split("-")
    place = folder / game / f"{VARIANTS.get(cell['sheet'], 'tree')}-s0"
    if kind == "table" and number in ("18", "20", "22", "24"):
        return "not trained"
    if number == "3" and kind == "table":
        return detail(game, cell["column"])
    if not place.exists():
        return "not recorded"
    if kind == "figure" and number in ("1", "6", "7", "8"):
        return {"value": accuracy(place, cell["column"])["value"]}
    if kind == "figure":
        return bar(matches(place, SEATS[labels[1]], WORDS[labels[2]]), SEATS[labels[1]], cell["column"])
    if number in ("1", "2", "4", "5", "6"):
        return {"value": calls(place)} if cell["column"] == "calls" else accuracy(place, cell["column"])
    opponent, figure = cell["column"].split(".")
    games = matches(place, SEATS[labels[1]], opponent)
    return result(games, SEATS[labels[1]], figure, number in ("14", "15", "16")) if games else "not played"


def bar(games: list[dict[str, Any]], seat: int, column: str) -> dict[str, Any] | str:
    if not games:
        return "not played"
    payoffs = sorted(game["returns"][seat] for game in games)
    places = {"lowest": 0, "lower quarter": 0.25, "median": 0.5, "upper quarter": 0.75, "highest": 1}
    if column in places:
        return {"value": payoffs[round(places[column] * (len(payoffs) - 1))]}
    return result(games, seat, column, False)


def detail(game: str, column: str) -> dict[str, Any] | str:
    words = {"tic_tac_toe": ("Full", "W/L/D"), "leduc_poker": ("Partial", "Zero-sum")}[game]
    if column in ("observability", "payoff"):
        return {"words": words[column == "payoff"]}
    if column == "actions":
        return {"value": {"tic_tac_toe": 18.0, "leduc_poker": 3.0}[game]}
    # The inferred schema has tests of its own: here it is enough that it was measured on the recorded observations.
    return {} if column == "observation" else "not measured"


def test_every_printed_cell_follows_from_the_run_records(rebuilt: Path) -> None:
    checked: Counter[str] = Counter()
    for cell in cells(rebuilt):
        wanted = expected(rebuilt, cell)
        place = (cell["sheet"], cell["row"], cell["column"])
        if isinstance(wanted, str):
            assert cell["state"] == wanted, place
        else:
            assert cell["state"] == "measured", place
            assert cell["sources"], place
        for name, number in wanted.items() if isinstance(wanted, dict) else ():
            shown = cell[name] if name == "words" else float(cell[name])
            assert shown == (number if name == "words" else pytest.approx(number, abs=1e-6)), (*place, name)
        checked[cell["sheet"]] += 1
    tables = {f"table-{number}" for number in (*range(1, 9), 10, 12, 14, 15, 16, 18, 20, 22, 24)}
    assert set(checked) == tables | {f"figure-{number}" for number in (1, 2, 3, 4, 6, 7, 8)}
    assert checked["table-7"] == 24


def test_text_and_latex_show_the_numbers_of_the_csv(rebuilt: Path) -> None:
    for cell in cells(rebuilt):
        if cell["state"] != "measured" or not cell["value"]:
            continue
        text = (rebuilt / "tables" / f"{cell['sheet']}.txt").read_text(encoding="utf-8")
        latex = (rebuilt / "tables" / f"{cell['sheet']}.tex").read_text(encoding="utf-8")
        shown = {f"{float(cell['value']):.{digits}f}" for digits in range(6)} | {cell["words"].replace("≥ ", "")}
        assert any(number in text for number in shown)
        assert any(number in latex for number in shown)


def test_sources_are_there(rebuilt: Path) -> None:
    for cell in cells(rebuilt):
        for source in filter(None, cell["sources"].split("; ")):
            path = source.partition("#")[0]
            assert (rebuilt / path).exists() or path.startswith("games/") or (SHIPPED.parent / path).exists(), source


def test_the_same_command_again_runs_nothing_and_prints_the_same(rebuilt: Path, cwm: Any) -> None:
    before = (rebuilt / "tables" / "tables.json").read_bytes()
    ran = cwm("paper", "--run", rebuilt, "--json")
    assert ran.code == 0
    assert "match" not in re.sub(r"\d+ matches a seat", "", ran.err.replace("matches\n", ""))
    assert ran.json == json.loads(before)
    assert (rebuilt / "tables" / "tables.json").read_bytes() == before
