from dataclasses import replace
from pathlib import Path

import pytest

from arena.papers.cwm.published.layout import FIGURE_BY_NUMBER, TABLE_BY_NUMBER
from arena.papers.cwm.tables import scaling, settings, syntheses
from arena.papers.cwm.tables.places import Place
from arena.papers.cwm.tables.scaling import MANY, PROBE, RUNGS, Cost, checked, fitting
from arena.papers.cwm.tables.settings import PaperSelection, PaperWishes, Scale
from arena.usage import UsageError


def test_all_tables_of_the_paper_but_one_are_rebuilt() -> None:
    assert set(TABLE_BY_NUMBER) == {*range(1, 17), *range(18, 25)}
    assert set(FIGURE_BY_NUMBER) == {1, 2, 3, 4, 6, 7, 8, 9}


def test_games_come_in_the_papers_order() -> None:
    assert settings.chosen_games("leduc_poker, tic_tac_toe") == ("tic_tac_toe", "leduc_poker")


def test_game_that_is_not_in_the_paper_is_refused() -> None:
    with pytest.raises(UsageError, match="The option `games` names 'kuhn_poker'; the paper's games are backgammon"):
        settings.chosen_games("tic_tac_toe,kuhn_poker")


def test_table_that_is_not_rebuilt_is_refused() -> None:
    with pytest.raises(UsageError, match="--tables names '17'; those that are rebuilt are 1, 2"):
        settings.chosen_numbers("1,17", "--tables", TABLE_BY_NUMBER)


def test_none_chooses_no_table() -> None:
    assert settings.chosen_numbers("none", "--tables", TABLE_BY_NUMBER) == ()


def test_seed_that_is_no_number_is_refused() -> None:
    with pytest.raises(UsageError, match="The option `seeds` names 'x'"):
        settings.chosen_seeds("0,x")


@pytest.mark.parametrize(
    ("tables", "figures", "game", "variants"),
    [
        ((4,), (), "tic_tac_toe", ["tree"]),
        ((5, 7), (), "tic_tac_toe", ["tree", "conversation"]),
        ((2, 10), (), "leduc_poker", ["state", "closed"]),
        ((), (8,), "leduc_poker", ["closed"]),
        ((), (9,), "bargaining", ["tree", "closed"]),
        ((18, 24), (), "leduc_poker", []),
        ((3,), (), "leduc_poker", []),
    ],
)
def test_what_is_shown_decides_what_is_made(
    tables: tuple[int, ...], figures: tuple[int, ...], game: str, variants: list[str]
) -> None:
    assert PaperSelection(tables, figures).variants(game) == variants


def test_accuracy_alone_needs_no_matches() -> None:
    selection = PaperSelection((1, 4), (1,))
    assert not selection.plays("leduc_poker", "tree")
    assert selection.tests("leduc_poker", "tree")
    assert selection.draws_curve("leduc_poker", "tree")
    assert not selection.draws_curve("tic_tac_toe", "tree")


def test_what_was_asked_for_stands_where_nothing_is_given(tmp_path: Path) -> None:
    first = settings.keep(tmp_path, {"games": ("tic_tac_toe",), "seed": 3, "scale": (("deals", 2),), "minutes": None})
    assert first == PaperWishes(("tic_tac_toe",), (0, 1, 2, 3, 4), scale=(("deals", 2),), seed=3)
    assert settings.keep(tmp_path, {"games": None, "seed": None}) == first


def test_live_model_is_asked_for_one_synthesis_unless_told_otherwise(tmp_path: Path) -> None:
    assert settings.keep(tmp_path / "one", {"llm": "spool:x"}).seeds == (0,)
    assert settings.keep(tmp_path / "two", {"llm": "spool:x", "seeds": (0, 7)}).seeds == (0, 7)


def test_games_are_added_to_a_folder(tmp_path: Path) -> None:
    settings.keep(tmp_path, {"games": ("leduc_poker",)})
    assert settings.keep(tmp_path, {"games": ("tic_tac_toe",)}).games == ("tic_tac_toe",)
    assert settings.read(tmp_path).games == ("tic_tac_toe", "leduc_poker")


def test_folder_takes_no_other_seed(tmp_path: Path) -> None:
    settings.keep(tmp_path, {"seed": 1})
    with pytest.raises(UsageError, match="was begun with other settings \\(seed: 1 in the record, 2 now\\)"):
        settings.keep(tmp_path, {"seed": 2})


def test_stored_game_that_is_not_in_the_paper_is_named(tmp_path: Path) -> None:
    settings.keep(tmp_path, {"games": ("leduc_poker",)})
    path = tmp_path / settings.ASKED_FILE
    path.write_text(path.read_text(encoding="utf-8").replace("leduc_poker", "chess"), encoding="utf-8")
    with pytest.raises(UsageError, match="'chess' is no game of the paper"):
        settings.read(tmp_path)


def test_damaged_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / settings.ASKED_FILE).write_text("{", encoding="utf-8")
    with pytest.raises(UsageError, match="is damaged"):
        settings.keep(tmp_path, {})


def test_scale_is_kept_with_what_it_rests_on(tmp_path: Path) -> None:
    scale = Scale(20, 1, 5, 100, 30.0, {"seconds": 0.25})
    settings.write_scale(tmp_path, "mnk", scale)
    assert settings.read_scale(tmp_path, "mnk") == scale
    assert settings.read_scale(tmp_path, "backgammon") is None


def test_scale_says_what_it_is() -> None:
    numbers = "1,000 simulations, 10 rollouts, 100 matches a seat, 10,000 transitions"
    assert Scale(1000, 10, 100, 10_000).words == f"{numbers}, as given"
    chosen = "5 simulations, 1 rollout, 1 match a seat, 40 transitions, chosen for 2.5 minutes a game"
    assert Scale(5, 1, 1, 40, 2.5).words == chosen


@pytest.mark.parametrize(
    ("cost", "seconds", "expected"),
    [
        (Cost(0.0, 1e-9), 1.0, RUNGS[0]),
        (Cost(0.0, 0.01), 1000.0, (1000, 1, 100)),
        (Cost(0.0, 0.01), 999.0, (500, 1, 100)),
        (Cost(5.0, 0.01), 1000.0, (500, 1, 100)),
        (Cost(1e9, 0.0), 1.0, RUNGS[-1]),
    ],
)
def test_the_most_that_fits_is_played(cost: Cost, seconds: float, expected: tuple[int, int, int]) -> None:
    assert fitting(RUNGS, cost, seconds) == expected


def test_cost_tells_simulations_from_what_a_deal_takes_anyway() -> None:
    few, many = (2.0 + 0.25 * factor * PROBE.simulations for factor in (1, MANY))
    found = Cost.of(few, many)
    assert (found.deal, found.simulation) == (pytest.approx(2.0), pytest.approx(0.25))
    assert found.times(2).seconds(100, 3, 10) == pytest.approx(20 * (2.0 + 0.25 * 300))


def test_one_deal_alone_is_taken_for_simulations() -> None:
    assert Cost.of(10.0, None) == Cost(0.0, 10.0 / PROBE.simulations)


def test_simulations_cost_something_even_if_the_clock_says_otherwise() -> None:
    assert Cost.of(10.0, 8.0).simulation == pytest.approx(8.0 / (MANY * PROBE.simulations) / 4)


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Has everything take a second, and notes what is timed."""
    timed: list[str] = []

    def cost(*_: object) -> Cost:
        timed.append("matches")
        return Cost(0.0, 1.0)

    def a_transition(*_: object) -> float:
        timed.append("transitions")
        return 1.0

    def deal(place: Place, folder: Path, asked: PaperWishes, scale: Scale, on_game: object) -> float:
        timed.append(f"a deal with {scale.simulations}")
        return float(scale.simulations * scale.rollouts)

    monkeypatch.setattr(scaling, "_cost", cost)
    monkeypatch.setattr(scaling, "_deal", deal)
    monkeypatch.setattr(scaling, "_seconds_a_transition", a_transition)
    return timed


def decided(root: Path, minutes: float, **given: int) -> Scale:
    asked = PaperWishes(("mnk",), minutes=minutes, scale=tuple(sorted(given.items())))
    return scaling.decide(Place(root, "mnk", "tree", 0), asked, played=2.0, tested=1, workers=2)


def test_numbers_are_chosen_by_the_time_that_there_is(tmp_path: Path, measured: list[str]) -> None:
    # 60 minutes: 2,160 seconds for matches of a second for each simulation and deal, 1,440 for transitions. The deal
    # that is played to be sure takes 100 of them.
    found = decided(tmp_path, 60.0)
    assert (found.simulations, found.rollouts, found.deals, found.transitions) == (100, 1, 20, 1000)
    assert found.minutes == 60.0
    assert measured == ["matches", "a deal with 100", "transitions"]


@pytest.mark.parametrize(
    ("taken", "expected"),
    [
        (1.0, (100, 1, 20)),  # shorter than thought, by chance: nothing changes
        (100.0, (100, 1, 20)),
        (300.0, (50, 1, 10)),  # three times as long: 1,860 seconds are left for 3 a simulation and deal
        (1860.0, (5, 1, 1)),
    ],
)
def test_a_deal_with_the_chosen_simulations_may_show_that_they_take_longer(
    taken: float, expected: tuple[int, int, int]
) -> None:
    played: list[tuple[int, int]] = []

    def play(simulations: int, rollouts: int) -> float:
        played.append((simulations, rollouts))
        return taken

    rung, cost = checked(RUNGS, Cost(0.0, 1.0), 1.0, 2160.0, play)
    assert rung == expected
    assert played == [(100, 1)]
    assert cost.simulation == max(1.0, taken / 100)


def test_no_deal_is_played_to_be_sure_where_it_takes_too_long_or_is_known() -> None:
    def play(simulations: int, rollouts: int) -> float:
        raise AssertionError("played")

    # A deal with 100 simulations is more than a tenth of the time; so few simulations as fit were measured already.
    assert checked(RUNGS, Cost(0.0, 1.0), 0.1, 200.0, play)[0] == (100, 1, 20)
    assert checked(RUNGS, Cost(0.0, 1.0), 1.0, 60.0, play)[0] == (10, 1, 5)


def test_numbers_that_are_given_stand_and_the_others_fit_them(tmp_path: Path, measured: list[str]) -> None:
    found = decided(tmp_path, 60.0, deals=2)
    assert (found.simulations, found.rollouts, found.deals) == (1000, 1, 2)
    assert decided(tmp_path, 60.0, transitions=7).transitions == 7


def test_nothing_is_timed_where_everything_is_given(tmp_path: Path, measured: list[str]) -> None:
    found = decided(tmp_path, 60.0, **dict(scaling.paper_scale()))
    assert found == Scale(1000, 10, 100, 10_000)
    assert measured == []


def test_least_is_played_where_there_is_no_time(tmp_path: Path, measured: list[str]) -> None:
    found = decided(tmp_path, 0.0)
    assert (found.simulations, found.deals, found.transitions) == (5, 1, 100)


def test_rungs_go_down_from_the_papers_own() -> None:
    assert RUNGS[0] == (1000, 10, 100)
    work = [simulations * rollouts * deals for simulations, rollouts, deals in RUNGS]
    assert work == sorted(work, reverse=True)


def test_how_a_language_model_is_asked_is_kept_only_where_somebody_said(tmp_path: Path) -> None:
    plain = settings.keep(tmp_path / "plain", {"llm": "spool:x"})
    assert not {"temperature", "reasoning_effort", "tournament_budget"} & plain.to_json().keys()
    told = settings.keep(tmp_path / "told", {"llm": "spool:x", "temperature": 0.5, "reasoning_effort": "low"})
    assert settings.read(tmp_path / "told") == told
    made = syntheses.settings_of("tic_tac_toe", "tree", 0, told)
    assert made is not None
    assert (made.temperature, made.reasoning_effort) == (0.5, "low")
    bare = syntheses.settings_of("tic_tac_toe", "tree", 0, plain)
    assert bare == replace(made, temperature=None, reasoning_effort=None)
    with pytest.raises(UsageError, match="temperature"):
        settings.keep(tmp_path / "told", {"temperature": 0.7})
