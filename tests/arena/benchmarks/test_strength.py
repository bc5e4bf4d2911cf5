"""The strength benchmark's records: figures, settings, and what was published beside them."""

import io
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from rich.console import Console

from arena.agents.specs import AgentSpec
from arena.benchmarks import strength
from arena.benchmarks.measurement import Measurement, table
from arena.matches.match import GameRecord
from arena.matches.plan import TournamentConfig
from arena.matches.ratings import standings
from arena.matches.tournament import TournamentResult
from arena.report.tables import paper_table
from cwm.sandbox.parent import levels
from games import registry

Builder = Callable[..., GameRecord]
AGENT = AgentSpec("cwm", "cwm", planner=dict(strength.PLANNER), model_hash="0123456789abcdef")


def figures(records: list[GameRecord]) -> dict[str, Measurement]:
    """Returns the records of some games, by figure."""
    agent = replace(AGENT, planner=AGENT.planner_config(perfect_information=False).to_json())
    config = TournamentConfig(strength.GAME, (agent,), len(records), strength.SEED, "self")
    shown = standings(records, registry.make(strength.GAME).info, ["cwm"])
    result = TournamentResult(config, tuple(records), len(records), {}, shown, None)
    return {item.name.removeprefix("strength/yokai-9c-2p/"): item for item in strength.figures(config, result)}


def game(record: Builder, deal: int, won: bool, early: bool) -> GameRecord:
    paid = 9.0 if won else -4.0
    facts: dict[str, Any] = {"won": won, "ended_early": early, "score": 9.0}
    return record("cwm cwm", [paid, paid], deal, outcome=facts, length=20)


def test_every_figure_is_there_and_its_note_names_every_setting(record: Builder) -> None:
    found = figures([game(record, 1, True, True), game(record, 2, False, True), game(record, 3, False, False)])
    assert list(found) == ["R", "return", "won", "SEE", "EE", "WEE", "LEN", "move"]
    assert {name: item.value for name, item in found.items()} == pytest.approx(
        {"R": 3.0, "return": 1 / 3, "won": 1 / 3, "SEE": 1 / 3, "EE": 2 / 3, "WEE": 0.5, "LEN": 20.0, "move": 0.5}
    )
    for part in (
        "3 games",
        "seed 2026",
        "no memory help",
        "algorithm ismcts",
        "simulations 3000",
        "exploration 0.3",
        "leaf value",
        "widening_coefficient 3.0",
        "widening_exponent 0.5",
        "widening_minimum 6",
        "belief_size 500",
        "resample_tries 10",
        f"level {levels.default()}",
        "model 0123456789ab",
    ):
        assert all(part in item.note for item in found.values()), part


def test_share_of_wins_among_early_ends_is_null_where_nobody_ended_early(record: Builder) -> None:
    found = figures([game(record, 1, True, False), game(record, 2, False, False)])
    assert json.loads(json.dumps(found["WEE"].to_json()))["value"] is None
    assert found["WEE"].note.startswith("nobody ended early")
    assert found["EE"].value == 0.0
    screen = Console(file=io.StringIO(), width=400)
    screen.print(table([found["WEE"]]))
    assert isinstance(screen.file, io.StringIO)
    assert "–" in screen.file.getvalue()


def test_people_and_published_agents_stand_beside_ours() -> None:
    found = {item.name.removeprefix("strength/yokai-9c-2p/published/"): item for item in strength.published()}
    people = found["people, no memory help/R with others"]
    assert (people.value, people.note.split(", ")[0]) == (5.7, "standard error 0.5")
    assert found["people, no memory help/R with itself"].value is None
    assert found["Other-Play (OP), with memory help/R with others"].value == 4.8
    assert found["Other-Play (OP), with memory help/WEE"].value == 0.83
    screen = Console(file=io.StringIO(), width=200)
    shown = paper_table(strength.GAME)
    assert shown is not None
    screen.print(shown)
    assert isinstance(screen.file, io.StringIO)
    (row,) = (line for line in screen.file.getvalue().splitlines() if line.startswith("│ people"))
    assert [cell.strip() for cell in row.strip("│ ").split("│")] == [
        "people",
        "no",
        "–",
        "5.7 ± 0.5",
        "0.65",
        "0.65",
        "1.00",
        "–",
    ]
