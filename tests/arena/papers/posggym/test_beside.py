"""POSGGym's published figures as they were read, and matrices of ours beside them."""

import math
from dataclasses import replace
from pathlib import Path

import pytest

from arena.papers.posggym.published.cells import ENVIRONMENTS, RETURNS, SECONDS
from arena.papers.posggym.tables import beside, drawn
from arena.posg.matrix import Matrix, MatrixCell
from arena.posg.matrix_methods import MoveBudget
from arena.posg.matrix_plan import CellPlace
from arena.usage import UsageError


def cell(
    method: str, planned: str | None, met: str, returns: list[float], budget: MoveBudget | None = None
) -> MatrixCell:
    inside = None if planned is None else planned == met
    place = CellPlace(method, method.split(" ")[0], planned, met, budget, inside)
    return MatrixCell(place, dict(enumerate(returns)), dict.fromkeys(range(len(returns)), 10), 0, 0, None)


def matrix_of(game: str, cells: list[MatrixCell], seat: int = 0) -> Matrix:
    return Matrix(game, seat, (0.0, 1.0), 2, 0, tuple(cells))


def test_published_means_over_the_environments_follow_from_those_by_environment() -> None:
    for method, seconds in (("RL-BR", None), *(("Combined", seconds) for seconds in SECONDS)):
        rows = {row.environment: row for row in RETURNS if (row.method, row.seconds) == (method, seconds)}
        for end in ("inside", "outside"):
            shares = [
                (getattr(rows[one.name], end) - one.bounds[0]) / (one.bounds[1] - one.bounds[0]) for one in ENVIRONMENTS
            ]
            assert math.fsum(shares) / len(shares) == pytest.approx(getattr(rows[""], end), abs=0.0015)


def test_matrices_of_ours_stand_below_the_papers_rows_by_game_and_agent() -> None:
    hundred = MoveBudget(simulations=100)
    ours = matrix_of(
        "pursuit-evasion",
        [
            cell("RL-BR", "P0", "P0", [0.5, 0.5]),
            cell("RL-BR", "P0", "P1", [0.0, 0.5]),
            cell("POMCP", None, "P0", [0.25, 0.25], hundred),
            cell("IPOMCP belief=adapted", "P0", "P0", [1.0, 1.0], hundred),
        ],
        seat=1,
    )
    sheet = beside.returns_sheet([ours])
    rows = [row for row in sheet.rows if row[2].startswith("ours") and row[0] == "PursuitEvasion-v1_i0"]
    assert rows == [
        ("PursuitEvasion-v1_i0", "POMCP", "ours", "100 sims", "–", "0.25 ± 0.00 (n 2)", "–"),
        ("PursuitEvasion-v1_i0", "INTMCP", "ours", "–", "not played", "not played", "–"),
        (
            "PursuitEvasion-v1_i0",
            "IPOMCP",
            "ours, belief=adapted",
            "100 sims",
            "1.00 ± 0.00 (n 2)",
            "not played",
            "10.0",
        ),
        ("PursuitEvasion-v1_i0", "POTMMCP", "ours", "–", "not played", "not played", "–"),
        ("PursuitEvasion-v1_i0", "Combined", "ours", "–", "not played", "not played", "–"),
        ("PursuitEvasion-v1_i0", "RL-BR", "ours", "–", "0.50 ± 0.00 (n 2)", "0.25 [0.00, 1.00] (n 2)", "10.0"),
    ]
    other = [row for row in sheet.rows if row[0] == "PursuitEvasion-v1_i1" and row[2].startswith("ours")]
    assert {row[4] for row in other} == {"not played"}
    assert ("Driving-v1", "Combined", "paper", "1 s (262 sims)", "0.943", "0.798", "–") in sheet.rows
    assert sheet.note.endswith("Ours in PursuitEvasion-v1_i0: populations P0, P1, 2 episodes a cell.")


def test_an_overall_mean_of_ours_needs_all_six_environments_and_their_published_bounds() -> None:
    cells = [cell("RL-BR", "P0", "P0", [0.5, 0.5]), cell("RL-BR", "P0", "P1", [0.0, 0.0])]
    every = [matrix_of(one.game, cells, one.seat) for one in ENVIRONMENTS]
    rows = [row for row in beside.overall_sheet(every).rows if row[:2] == ("RL-BR", "ours")]
    # Half is 0.5 of [0, 1] in three environments and 0.75 of [-1, 1] in three, nothing is 0 and 0.5.
    assert rows == [("RL-BR", "ours", "–", "0.625", "0.250", "0.375")]
    part = beside.overall_sheet(every[1:])
    assert [row[3] for row in part.rows if row[:2] == ("RL-BR", "ours")] == ["not played"]
    assert "matrices of 5 of them are here" in part.note


def test_how_games_of_driving_end_follows_from_their_returns() -> None:
    assert beside.endings([1.0, 0.9999999999, -0.75, 0.25, 0.0, -1.0]) == (2, 2, 2)
    ours = matrix_of("driving", [cell("IPOMCP", "P0", "P0", [1.0, -0.5], MoveBudget(simulations=5))])
    rows = beside.endings_sheet([ours]).rows
    assert ("IPOMCP", "ours", "5 sims", "50.00 %", "50.00 %", "0.00 %", "2") in rows
    assert ("RL-BR", "paper", "–", "4.14 %", "93.12 %", "2.74 %", "") in rows


def test_what_ships_and_what_is_ours_stands_beside_the_printed_properties() -> None:
    rows = {row[0]: row[1:] for row in beside.environments_sheet([]).rows}
    assert rows["CooperativeReaching-v1"][5:] == ("5", "5", "625", "5, 6", "5, 6")
    assert rows["PursuitEvasion-v1_i0"][:2] == ("pursuit-evasion", "1")
    settings = {row[0]: row[2:] for row in beside.settings_sheet([]).rows}
    assert (settings["mix"], settings["puct"], settings["exploration"]) == (
        ("0.25", "0.25"),
        ("1.25", "1.25"),
        ("1.41", "1.41"),
    )


def test_payoffs_and_beliefs_are_told_as_far_as_they_are_public() -> None:
    payoffs = {row[:2]: row[2] for row in beside.payoffs_sheet([]).rows}
    assert payoffs["foraging", "H3"] == "H3 0.20"  # its own is all that is known
    assert payoffs["driving", "RL5"].endswith("RL4 0.54, RL5 0.77")
    beliefs = {row[0]: row[1:3] for row in beside.beliefs_sheet([]).rows}
    assert beliefs["CooperativeReaching-v1"] == ("0.934 → 0.989", "0.750 → 0.890")
    assert beliefs["LevelBasedForaging-v3"] == ("0.001 → 0.023", "–")


def test_two_matrices_of_one_game_and_agent_are_refused() -> None:
    one, other = (matrix_of("driving", [cell("IPOMCP", "P0", "P0", [end, end])]) for end in (0.0, 1.0))
    with pytest.raises(UsageError, match="two matrices are of driving, agent 0, and a table has room for one"):
        beside.sheets([one, other], ["table-5"])
    assert len(beside.sheets([one, replace(other, seat=1)], ["table-5"])) == 1


def test_charts_set_ours_beside_the_papers_by_simulations() -> None:
    ours = matrix_of("driving", [cell("Combined", "P0", "P0", [1.0, 1.0], MoveBudget(simulations=500))])
    charts = {one.name: drawn.chart(one, [ours]) for one in ENVIRONMENTS}
    lines = {line.name: len(line.marks) for line in charts["Driving-v1"].lines}
    assert lines == {"paper, in": 3, "paper, out": 3, "ours, in": 1}
    assert [line.name for line in charts["PredatorPrey-v0"].lines] == ["paper, in", "paper, out"]
    assert "Combined in Driving-v1" in drawn.page([ours], beside.sheets([ours], ["table-5"]))


def test_the_command_prints_chosen_tables_and_writes_them_and_their_page(cwm, tmp_path: Path) -> None:
    done = cwm("paper", "--paper", "posggym", "--tables", "figure-21,table-2", "--output", str(tmp_path))
    assert "MultiAgentTiger-v0" in done.out
    assert "| CooperativeReaching-v1 | 0.8M | – |" in (tmp_path / "posggym.md").read_text()
    assert "Combined in PursuitEvasion-v1_i1" in (tmp_path / "posggym.html").read_text()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--tables", "figure-1"], "--tables names 'figure-1': of this paper, table-2, table-4,"),
        (["--run", "."], "holds no matrix: give a folder that `cwm posg matrix` kept, or one that holds such."),
        (["--deck", "hle:1"], "--deck is of --paper hanabi: leave it out."),
        (["--seed", "1"], "--paper posggym goes with --tables, --run, --output and --json alone"),
    ],
)
def test_what_cannot_be_shown_is_refused(refused, words: list[str], said: str) -> None:
    done = refused("paper", "--paper", "posggym", *words)
    assert done.code == 2
    assert said in " ".join(done.err.split())
