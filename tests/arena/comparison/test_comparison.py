import json
import shutil

import pytest

from arena.checkpoints.places import SHIPPED
from arena.comparison import comparison, contenders
from arena.comparison.comparison import ComparisonConfig
from arena.comparison.contenders import FURTHER, TITLES
from arena.matches import cross_play, recorded_games, replay
from arena.matches.cross_play import CrossPlayConfig
from arena.report import comparison as comparison_report
from arena.usage import UsageError
from games import registry
from games.api import GameError


def compared(game, wanted, games=2, **options):
    players = tuple(contenders.contenders(game, wanted, simulations=5, **options))
    return comparison.run(ComparisonConfig(game, players, games), None)


def test_every_kind_is_named_and_those_that_cannot_play_say_why():
    found = {one.name: one for one in contenders.contenders("yokai-8c-2p", [], 7)}
    assert list(found) == [name for name in TITLES if name not in FURTHER or name in found]
    absent = {name: one.absent for name, one in found.items() if name not in contenders.LEARNED and one.absent}
    assert absent == {"cwm": "not recorded", "cwm-prior": "not recorded", "llm": "not played"}
    assert {one.view for one in found.values() if one.absent} == {None}
    assert found["gt"].spec.planner["simulations"] == 7
    assert (found["gt"].spec.kind, found["gt"].spec.planner["leaf"]) == ("ismcts", "value")


def test_a_game_of_perfect_information_is_planned_by_mcts_and_has_no_partners():
    found = {one.name: one for one in contenders.contenders("tic_tac_toe", ["gt", "heuristic", "op"], 5)}
    assert found["gt"].spec.kind == "mcts"
    assert (found["heuristic"].absent, found["op"].absent) == ("not written", "not trained")


def test_games_of_simultaneous_moves_are_planned_by_pomcp_on_true_rules_and_on_recorded_programs():
    for game in ("button-game", "driving"):
        found = {one.name: one for one in contenders.contenders(game, ["gt", "cwm", "cwm-prior", "gt-prior"], 5)}
        for name in ("gt", "cwm"):
            assert [found[name].spec.planner[key] for key in ("method", "simulations")] == ["pomcp", 5]
            assert found[name].title.endswith("(pomcp, 5 simulations)")
        assert (found["cwm-prior"].absent, found["gt-prior"].absent) == ("not recorded", "not written")
    assert compared("button-game", ["gt", "random"], games=1).missing == {}


def test_a_game_with_bots_is_compared_with_them_and_with_its_own_prior():
    found = {one.name: one for one in contenders.contenders("hanabi-2p", [], 7)}
    bots = ["blind", "simple", "value", "iggi", "piers", "flawed"]
    assert list(found)[: 1 + len(bots)] == ["random", *bots]
    assert "heuristic" not in found
    assert found["value"].spec.model == "value"
    assert found["blind"].title == "bot: plays a random card, whatever it is"
    assert (found["gt-prior"].spec.planner["simulations"], found["gt-prior"].spec.planner["prior"]) == (7, "policy")
    assert (found["prior"].spec.planner["simulations"], found["prior"].spec.planner["belief_temper"]) == (1, 0.0)
    assert "hat" in {one.name for one in contenders.contenders("hanabi-3p", [], 7)}
    asked = contenders.contenders("yokai-8c-2p", ["end-at-once", "gt-prior", "prior"], 7)
    assert [one.name for one in asked] == ["gt-prior", "prior", "end-at-once"]
    with pytest.raises(UsageError, match="no kind of player 'hat'"):
        contenders.contenders("hanabi-2p", ["hat"], 7)


def test_a_planner_of_one_simulation_takes_the_likeliest_move_of_its_prior():
    game = registry.make("hanabi-mini-2p")
    (prior,) = contenders.contenders("hanabi-mini-2p", ["prior"], 5)
    decisions = 0
    for record in cross_play.run(CrossPlayConfig("hanabi-mini-2p", (prior.spec,), 2), None).records:
        for state, player, action in replay.states(game, record):
            if player < 0:
                continue
            legal = game.legal_actions(state)
            chances = game.policy(state, legal, player)
            assert chances[legal.index(action)] == max(chances)
            decisions += 1
    assert decisions > 20


def test_comparison_of_hanabi_tells_points_and_strict():
    found = compared("hanabi-tiny-2p", ["simple", "flawed"])
    assert found.to_json()["teams"]["names"] == ("points", "strict")
    titles = [table.title for table in comparison_report.tables(found)]
    assert titles[-2:] == [
        "Scores of teams (mean ± standard error over deals)",
        "A game in the mean (± standard error over deals)",
    ]
    assert "IQM of points" in comparison_report.markdown(found)
    assert "IQM of points" in comparison_report.render(found)
    assert "teams" not in compared("kuhn_poker", ["random"]).to_json()


def test_a_game_whose_model_ppo_was_trained_on_is_compared_with_its_agents(tmp_path):
    found = compared("leduc_poker", ["random", "ppo"])
    assert {result.lineup: result.games for result in found.lineups()} == {
        ("random", "random"): 2,
        ("ppo", "ppo"): 2,
        ("ppo", "random"): 2,
    }
    assert found.config.contenders[1].spec.model == "recorded"
    shutil.copytree(SHIPPED / "leduc_poker" / "ppo", tmp_path / "ppo")
    own = contenders.contenders("leduc_poker", ["ppo"], 5, policies=tmp_path)[0]
    assert own.spec.model_hash == found.config.contenders[1].spec.model_hash
    shutil.rmtree(tmp_path / "ppo" / "seat1")
    assert contenders.contenders("leduc_poker", ["ppo"], 5, policies=tmp_path)[0].absent == "not trained"


def test_without_the_packages_of_learning_the_trained_kinds_say_so(monkeypatch):
    def lacks(module):
        raise GameError(module)

    monkeypatch.setattr(contenders.accelerated, "load", lacks)
    assert contenders.contenders("yokai-8c-2p", ["op"], 5)[0].absent == "needs the extra `learn`"
    assert contenders.contenders("leduc_poker", ["ppo"], 5)[0].absent == "needs the extra `learn`"


def test_an_unknown_kind_is_refused():
    with pytest.raises(UsageError, match="There is no kind of player 'ops': choose among random, heuristic, gt"):
        contenders.contenders("yokai-8c-2p", ["ops"], 5)


def test_a_folder_of_policies_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(UsageError, match=r"There is no folder .*nowhere of trained policies"):
        contenders.contenders("yokai-8c-2p", ["op"], 5, policies=tmp_path / "nowhere")


def test_all_kinds_meet_on_common_deals_as_cross_play_would_have_it(tmp_path):
    found = compared("yokai-8c-2p", ["random", "heuristic", "op"], games=4, policies=tmp_path)
    assert [result.lineup for result in found.lineups()] == [
        ("random", "random"),
        ("heuristic", "heuristic"),
        ("heuristic", "random"),
    ]
    assert {result.games for result in found.lineups()} == {4}
    specs = tuple(one.spec for one in found.config.contenders if one.spec is not None)
    plain = comparison.cross_play.run(CrossPlayConfig("yokai-8c-2p", specs, games=4), None)
    assert [row[:2] for row in found.table.matrix[:2]] == list(plain.table.matrix)
    assert found.agents[2].moves == 0
    assert found.why_not(("random", "op")) == "not trained"


def test_recorded_games_of_a_language_model_stand_in_the_table_and_in_no_other_players_mean():
    found = compared("yokai-9c-2p", ["random", "llm"])
    recorded = recorded_games.every_game("yokai-9c-2p")
    own = [record for record in recorded if set(record.seats) == {"llm"}]
    assert found.recorded == {("llm", "llm")}
    with_itself = found.lineups()[1]
    assert (with_itself.lineup, with_itself.games) == (("llm", "llm"), len(own))
    assert with_itself.cooperation.score.mean == pytest.approx(sum(r.won_score for r in own) / len(own))
    assert found.why_not(("llm", "random")) == "not played"
    assert found.agents[0].cross_play is None


def test_recorded_planner_counts_as_the_one_with_its_prior():
    prior = contenders.Contender("cwm-prior", "planner", None, None, "not asked")
    llm = contenders.contenders("yokai-9c-2p", ["llm"], 5)[0]
    found = comparison.summary(ComparisonConfig("yokai-9c-2p", (prior, llm), 2), [], {}, 0)
    assert found.recorded == {("llm", "llm"), ("cwm-prior", "llm")}
    assert {result.lineup: result.games for result in found.lineups()} == {("llm", "llm"): 4, ("cwm-prior", "llm"): 6}


def test_a_language_model_that_plays_now_replaces_its_recorded_games(tmp_path):
    script = tmp_path / "answers.json"
    script.write_text("\n".join([json.dumps('{"move": "end"}')] * 40))
    players = tuple(contenders.contenders("yokai-8c-2p", ["random", "llm"], 5, llm=f"scripted:{script}"))
    config = ComparisonConfig("yokai-8c-2p", players, 2)
    parts = config.parts()
    assert parts["programs"].lineups() == [(0, 0)]
    assert parts["language-model"].lineups() == [(1, 1), (0, 1)]
    found = comparison.run(config, None)
    assert found.recorded == frozenset()
    assert {result.lineup: result.games for result in found.lineups()} == {
        ("random", "random"): 2,
        ("llm", "llm"): 2,
        ("llm", "random"): 2,
    }
    assert found.lineups()[1].cooperation.length.mean == 1


def test_finished_games_are_kept(tmp_path):
    players = tuple(contenders.contenders("yokai-8c-2p", ["random", "heuristic"], 5))
    config = ComparisonConfig("yokai-8c-2p", players, 2)
    first = comparison.run(config, tmp_path)
    again = comparison.run(config, tmp_path)
    assert (first.played, again.played) == (6, 0)
    assert first.table.matrix == again.table.matrix


def test_page_and_text_show_every_player_with_its_view_and_every_pair():
    found = compared("yokai-9c-2p", ["random", "heuristic", "llm", "sa"])
    page, text = comparison_report.render(found), comparison_report.markdown(found)
    for part in ("not trained", "not played", "hand-written player on its own view", "8.8 ± 0.2†", "default"):
        assert part in page
        assert part in text
    assert text.splitlines()[2] == "|  | random | heuristic | llm | sa |"
    assert "background:rgba" in page


def test_a_game_that_is_not_cooperative_is_compared_by_its_returns():
    found = compared("kuhn_poker", ["random", "gt"])
    cells = dict(comparison_report.matrix_cells(found))
    assert set(cells) == {"random", "gt"}
    assert "Return of the row" in comparison_report.render(found)
    assert len(comparison_report.tables(found)) == 3
