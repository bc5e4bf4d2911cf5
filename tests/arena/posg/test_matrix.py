"""The matrix: exact returns of policies that draw nothing, episodes kept and resumed, averages, bad wishes refused."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from arena.agents.specs import AgentSpec, AgentSpecError
from arena.figures.intervals import Estimate
from arena.matches import tournament
from arena.matches.plan import TournamentConfig
from arena.matches.verification import verify_games
from arena.posg import matrix, matrix_figures, matrix_page
from arena.posg.matrix import FILE, Matrix
from arena.posg.matrix_methods import MoveBudget, asked_method
from arena.posg.matrix_plan import MatrixPlan, MatrixWishes, planned
from arena.usage import UsageError

FOLLOWERS = MatrixWishes("cooperative-reaching", (asked_method("members"),), ("H11",), ("H11", "H3", "H6"), episodes=4)
"""H11 goes where the other one goes, H3 to the best goal, H6 to a lesser one; two who follow stay where they are."""


def plan_of(**wishes: object) -> MatrixPlan:
    return planned(replace(FOLLOWERS, **wishes))  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def played() -> Matrix:
    return matrix.play(planned(FOLLOWERS), None)


def test_whoever_follows_gets_the_value_of_the_others_goal_and_nothing_from_a_follower(played: Matrix) -> None:
    assert [(cell.place.met, cell.place.inside, dict(cell.returns)) for cell in played.cells] == [
        ("H11", True, dict.fromkeys(range(4), 0.0)),
        ("H3", False, dict.fromkeys(range(4), 1.0)),
        ("H6", False, dict.fromkeys(range(4), 0.75)),
    ]
    assert dict(played.cells[0].moves) == dict.fromkeys(range(4), 50)  # the game's limit of steps


def test_averages_are_of_cells_and_the_gap_is_taken_episode_by_episode(played: Matrix) -> None:
    (row,) = matrix_figures.averages(played)
    found = [row.inside, row.outside, row.gap]
    assert [value and (value.mean, value.low, value.high, value.n) for value in found] == [
        (0.0, 0.0, 0.0, 4),
        (0.875, 0.875, 0.875, 4),
        (-0.875, -0.875, -0.875, 4),
    ]
    cells, averages = matrix_figures.sheets(played)
    assert cells.rows[0][:6] == ("members", "–", "H11", "0.00 ± 0.00 (n 4)", "1.00 ± 0.00 (n 4)", "0.75 ± 0.00 (n 4)")
    assert averages.rows[0][2:5] == ("0.00 ± 0.00 (n 4)", "0.88 ± 0.00 (n 4)", "-0.88 ± 0.00 (n 4)")


def test_an_average_is_of_the_episodes_that_all_of_its_cells_have(played: Matrix) -> None:
    first, second, third = played.cells
    part = replace(played, cells=(first, replace(second, returns={0: 1.0, 3: 0.0}), third))
    (row,) = matrix_figures.averages(part)
    assert row.outside is not None
    assert (row.outside.low, row.outside.high) == (0.0, 1.0)  # two episodes tell little, and the game pays no more
    assert (row.outside.mean, row.outside.n) == (0.625, 2)  # of (1 + 0.75) / 2 and (0 + 0.75) / 2


def test_methods_are_compared_with_the_first_episode_by_episode_where_both_met_the_same(played: Matrix) -> None:
    assert matrix_figures.beyond_the_first(played) == []
    other = [
        replace(cell, place=replace(cell.place, method="other"), returns={0: 1.0, 1: 0.5, 9: 0.0})
        for cell in played.cells[:2]
    ]
    ((_, inside, outside),) = matrix_figures.beyond_the_first(replace(played, cells=(*played.cells, *other)))
    assert inside is not None
    assert (inside.mean, inside.n) == (0.75, 2)  # 1 and 0.5 where the first got nothing
    assert outside is not None
    assert (outside.mean, outside.n) == (-0.25, 2)  # 1 and 0.5 where the first got 1, with H3; other never met H6
    blind = [replace(cell, place=replace(cell.place, inside=None, planned=None)) for cell in other]
    ((_, inside, _),) = matrix_figures.beyond_the_first(replace(played, cells=(*played.cells, *blind)))
    assert inside is None


def test_returns_are_told_as_shares_of_what_the_game_can_pay() -> None:
    half = Estimate(0.5, 0.25, 0.0, 1.0, 9)
    assert matrix_figures.normalised(half, (-1.0, 1.0)) == Estimate(0.75, 0.125, 0.5, 1.0, 9)
    assert matrix_figures.normalised(None, (0.0, 1.0)) is None


def test_members_are_met_in_turn_and_every_pair_comes_up_before_one_comes_again() -> None:
    plan = plan_of(planned=("H3+H6",), met=("H8+H9+H10+H11",), episodes=8)
    games = tournament.plan(tournament.prepare(plan.cells[0].tournament))
    seats = [(game.deal, *(spec.name for spec in game.seats)) for game in games]
    assert seats == [
        (0, "H3", "H8"),
        (1, "H6", "H9"),
        (2, "H3", "H10"),
        (3, "H6", "H11"),
        (4, "H6", "H8"),
        (5, "H3", "H9"),
        (6, "H6", "H10"),
        (7, "H3", "H11"),
    ]
    alone = tournament.plan(tournament.prepare(plan_of(met=("H8+H9+H10+H11",), episodes=8).cells[0].tournament))
    assert [game.seats[1].name for game in alone] == [others for _, _, others in seats]  # of a method of one agent
    turned = plan_of(met=("H3",), seat=1).cells[0].tournament
    assert [[turned.agents[index].name for index in lineup] for lineup in turned.lineups or ()] == [["H3", "H11"]]


def test_a_tournament_whose_lineups_play_in_turn_is_stored_as_one_and_others_as_before() -> None:
    config = tournament.prepare(planned(FOLLOWERS).cells[0].tournament)
    stored = config.to_json()
    assert stored["in_turn"] is True
    assert TournamentConfig.from_json(stored).to_json() == stored
    assert "in_turn" not in replace(config, in_turn=False).to_json()


def test_planners_are_told_whom_they_plan_for_and_play_the_published_settings() -> None:
    methods = tuple(map(asked_method, ("ipomcp", "potmmcp,belief=adapted,name=ours", "pomcp")))
    plan = plan_of(methods=methods, budgets=(MoveBudget(simulations=7), MoveBudget(seconds=0.25)), met=("H11",))
    cells = [(cell.place.method, cell.place.planned, cell.tournament.agents[0].planner) for cell in plan.cells]
    assert [(method, whom, told["types"], told["belief"], told["mix"]) for method, whom, told in cells] == [
        ("IPOMCP", "H11", ["H11"], "rejection", 0.5),
        ("IPOMCP", "H11", ["H11"], "rejection", 0.5),
        ("ours", "H11", ["H11"], "adapted", 0.5),
        ("ours", "H11", ["H11"], "adapted", 0.5),
        ("POMCP", None, [], "rejection", 0.5),
        ("POMCP", None, [], "rejection", 0.5),
    ]
    assert [told.get("seconds") for _, _, told in cells[:2]] == [None, 0.25]
    assert [told["simulations"] for _, _, told in cells[:1]] == [7]
    assert cells[1][2]["particles"] == 27  # 25 and a sixteenth more, as the authors gave


def test_best_responses_are_found_in_the_folder_of_a_training(trained, tmp_path: Path) -> None:
    for seed in (0, 1):
        trained(tmp_path / "P" / f"br-s{seed}", seed=seed)
    methods = tuple(map(asked_method, ("rl-br", "combined")))
    plan = plan_of(methods=methods, met=("H11",), budgets=(MoveBudget(simulations=3),), trained={"H11": tmp_path / "P"})
    agents = [[(spec.kind, spec.name) for spec in cell.tournament.agents] for cell in plan.cells]
    assert agents == [
        [("ippo", "RL-BR 0"), ("ippo", "RL-BR 1"), ("partner", "H11")],
        [("posg", "Combined 0"), ("posg", "Combined 1"), ("partner", "H11")],
    ]
    searches = [spec.planner["search"] for spec in plan.cells[1].tournament.agents[:2]]
    assert searches == [str(tmp_path / "P" / f"br-s{seed}") for seed in (0, 1)]


def test_best_responses_to_another_population_are_refused(trained, tmp_path: Path) -> None:
    asked = {"methods": (asked_method("rl-br"),), "met": ("H11",)}
    trained(tmp_path / "br-s0", partners=["H11"])
    assert len(plan_of(**asked, trained={"H11": tmp_path}).cells) == 1
    trained(tmp_path / "br-s1", partners=["H1", "H2"])
    with pytest.raises(
        UsageError, match=r"br-s1 is a best response to H1\+H2, not to H11 \(H11\): name another folder"
    ):
        plan_of(**asked, trained={"H11": tmp_path})
    with pytest.raises(UsageError, match="nowhere holds no best response"):
        plan_of(**asked, trained={"H11": tmp_path / "nowhere"})


@pytest.mark.slow
def test_a_trained_policy_and_a_search_that_it_leads_are_played(trained, tmp_path: Path) -> None:
    trained(tmp_path / "br-s0", view="default")
    methods = tuple(map(asked_method, ("rl-br", "combined,particles=10")))
    asked = {"methods": methods, "met": ("H3",), "budgets": (MoveBudget(simulations=2),), "episodes": 2}
    found = matrix.play(plan_of(**asked, trained={"H11": tmp_path}), None)
    assert [(cell.place.method, len(cell.returns), cell.forfeits) for cell in found.cells] == [
        ("RL-BR", 2, 0),
        ("Combined particles=10", 2, 0),
    ]


def test_a_cell_keeps_its_folder_wherever_policies_lie_and_has_another_for_other_settings(trained, tmp_path) -> None:
    asked = {"methods": (asked_method("combined"),), "met": ("H11",), "budgets": (MoveBudget(simulations=3),)}
    places = [trained(tmp_path / name / "br-s0").parent for name in ("one", "two")]
    names = [plan_of(**asked, trained={"H11": place}).cells[0].folder for place in places]
    assert names[0] == names[1]
    assert names[0].startswith("combined_for-h11_met-h11_3-sims-")
    other = asked | {"methods": (asked_method("combined,puct=2,name=Combined"),)}
    assert plan_of(**other, trained={"H11": places[0]}).cells[0].folder != names[0]


def test_what_lacks_a_trained_policy_names_its_command_and_is_left_out_where_nobody_asked_for_it() -> None:
    methods = tuple(map(asked_method, ("rl-br", "members")))
    lacking = {"methods": methods, "makes": "train {game} for {population} into {folder}."}
    with pytest.raises(
        UsageError, match=r"response to H11 of cooperative-reaching: train cooperative-reaching for H11 into runs/H11\."
    ):
        plan_of(**lacking)
    plan = plan_of(**lacking, all_of_them=True)
    assert [cell.place.method for cell in plan.cells] == ["members"] * 3
    assert len(plan.lacking) == 1
    assert plan.lacking[0].startswith("RL-BR needs a trained best response to H11")


def test_an_interrupted_matrix_goes_on_and_comes_to_the_same(played: Matrix, tmp_path: Path) -> None:
    folder, plan = tmp_path / "matrix", planned(FOLLOWERS)

    def until_the_sixth(done: int, total: int) -> None:
        if done == 6:
            raise KeyboardInterrupt

    matrix.keep(folder, plan)
    with pytest.raises(KeyboardInterrupt):
        matrix.play(plan, folder, on_game=until_the_sixth)
    part = matrix.read(folder)
    assert [len(cell.returns) for cell in part.cells] == [4, 2]
    told: list[int] = []
    whole = matrix.play(plan, folder, on_game=lambda done, total: told.append(done))
    assert told == [0, 4, 7, 8, 8, 9, 10, 11, 12, 12]  # nothing of the first cell is played again
    assert [(cell.place, cell.returns) for cell in whole.cells] == [(cell.place, cell.returns) for cell in played.cells]
    assert matrix.read(folder) == whole
    checked = verify_games(folder / plan.cells[1].folder)
    assert (checked.planned, checked.unfinished, checked.problems) == (4, 0, ())


def test_a_matrix_may_get_more_cells_and_nothing_else(tmp_path: Path) -> None:
    folder = tmp_path / "matrix"
    matrix.keep(folder, plan_of(met=("H3",)))
    matrix.keep(folder, plan_of(met=("H6",)))
    assert [cell["met"] for cell in json.loads((folder / FILE).read_text())["cells"]] == ["H3", "H6"]
    with pytest.raises(UsageError, match=r"keeps another matrix \(episodes: 4 in the record, 5 now\): use another"):
        matrix.keep(folder, plan_of(episodes=5))
    (folder / FILE).write_text("{}")
    with pytest.raises(UsageError, match=r"is damaged .*; give the folder of a matrix that `cwm posg matrix` kept"):
        matrix.keep(folder, plan_of())
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "file").touch()
    with pytest.raises(UsageError, match=r"holds no matrix \(matrix.json is missing\): use an empty folder"):
        matrix.keep(tmp_path / "other", plan_of())


def test_a_policy_of_two_names_is_one_member_and_one_population(trained, tmp_path: Path) -> None:
    folder = str(trained(tmp_path / "br-s0"))
    for one, other in (("uniform", "random"), (folder, f"{tmp_path}/../{tmp_path.name}/br-s0")):
        plan = plan_of(planned=(f"{one}+{other}",), met=(other, "H3"))
        assert [len(found.members) for found in plan.populations.values()] == [1, 1, 1]
        assert [cell.place.inside for cell in plan.cells] == [True, False]


def test_agents_that_do_not_fit_bind_no_folder(tmp_path: Path) -> None:
    plan = plan_of(met=("H3",))
    games = replace(plan.cells[0].tournament, agents=(AgentSpec("partner", "H11", model="H99"),), lineups=((0, 0),))
    wrong = replace(plan, cells=(*plan.cells, replace(plan.cells[0], tournament=games)))
    with pytest.raises(AgentSpecError, match="H99"):
        matrix.keep(tmp_path / "new", wrong)
    assert not (tmp_path / "new").exists()


def test_two_methods_of_one_name_are_not_kept_in_one_folder(tmp_path: Path) -> None:
    def called_a(method: str) -> MatrixPlan:
        return plan_of(methods=(asked_method(f"{method},name=A"),), budgets=(MoveBudget(3),), met=("H3",))

    matrix.keep(tmp_path, called_a("ipomcp"))
    matrix.keep(tmp_path, called_a("ipomcp"))
    for other in ("ipomcp,puct=2", "potmmcp"):
        with pytest.raises(UsageError, match="the method A has other settings there: give it another name with name=…"):
            matrix.keep(tmp_path, called_a(other))


def test_a_planner_plays_the_same_with_the_same_simulations_and_is_charted() -> None:
    wishes = MatrixWishes(
        "button-game", (asked_method("ipomcp"),), ("uniform",), (), (MoveBudget(2), MoveBudget(4)), episodes=2
    )
    once, again = (matrix.play(planned(wishes), None) for _ in range(2))
    assert [cell.returns for cell in once.cells] == [cell.returns for cell in again.cells]
    (chart,) = matrix_page.charts(once)
    assert (chart.title, chart.across, [line.name for line in chart.lines]) == ("IPOMCP", "simulations a move", ["in"])
    page = matrix_page.render(once)
    assert "Methods and populations on button-game" in page
    assert "met uniform" in page
    told = matrix_figures.to_json(once)
    assert [cell["budget"]["simulations"] for cell in told["cells"]] == [2, 4]
    assert json.loads(json.dumps(told))["averages"][0]["outside"] is None


def test_whoever_plans_for_nobody_in_particular_is_out_of_distribution_as_in_the_paper() -> None:
    found = matrix.play(plan_of(methods=(asked_method("random"),), met=("H11",), episodes=2), None)
    (row,) = matrix_figures.averages(found)
    assert row.outside is not None
    assert (row.inside, row.outside.n, row.gap) == (None, 2, None)
    assert matrix_figures.sheets(found)[1].rows[0][2:5:2] == ("–", "–")


def test_the_command_tells_what_it_played_and_the_page_of_its_folder_all_that_is_kept(cwm, tmp_path: Path) -> None:
    words = [
        "posg",
        "matrix",
        "cooperative-reaching",
        "--planned-for",
        "H11",
        "--episodes",
        "2",
        "--run",
        str(tmp_path / "run"),
    ]
    first = cwm(*words, "--method", "members", "--met", "H3", "--json")
    assert [cell["return"]["mean"] for cell in json.loads(first.out)["cells"]] == [1.0]
    second = cwm(*words, "--method", "random", "--met", "H3", "--page", str(tmp_path / "page.html"))
    assert "│ members │" not in second.out
    assert "<td>members</td>" not in (tmp_path / "page.html").read_text()
    assert "<td>members</td>" in (tmp_path / "run" / "report.html").read_text()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--method", "ipomc"], "the method 'ipomc' is none of a matrix: it is one of pomcp, ipomcp,"),
        (
            ["--method", "ipomcp", "--sims", "3", "--met", "P7"],
            "no population or policy 'P7': populations that ship are P0",
        ),
        (["--method", "members", "--met", "+"], "the population '+' has no member"),
        (["--method", "ipomcp"], "planners need a budget for a move: give --sims or --time"),
        (["--method", "pomcp,sims=3"], "has sims=, which the matrix fills in: use --sims."),
        (["--method", "random,c=3"], "the method random plans nothing: leave out c=3."),
        (["--method", "pomcp", "--time", "0"], "--time is 0, expected a number of seconds above 0."),
        (
            ["--method", "rl-br"],
            "--population P0 --scale reduced --out runs/P0` makes it; then give --trained P0=runs/P0.",
        ),
        (["--method", "members", "--trained", "P7=x"], "--trained names 'P7', and nobody plans for that: P0, P1."),
        (["--method", "members", "--seat", "2"], "--seat is 2: agents of cooperative-reaching are 0 and 1."),
        (["--method", "members", "--method", "members"], "two methods are called 'members'"),
    ],
)
def test_bad_wishes_are_refused_in_one_sentence(refused, words: list[str], said: str) -> None:
    done = refused("posg", "matrix", "cooperative-reaching", *words)
    assert done.code == 2
    assert said in " ".join(done.err.split())
