"""Payoff tables: exact ones are exact, finished pairs are kept, bad wishes are refused in one sentence."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from arena.posg.payoffs import payoff_table
from arena.posg.published import NAMES, PAYOFFS, published
from arena.usage import UsageError
from games.posg import registry
from games.posg.api import PosgError


def test_whoever_follows_one_that_knows_its_goal_gets_its_value() -> None:
    table = {
        (payoff.row, payoff.column): payoff
        for payoff in payoff_table("cooperative-reaching", episodes=12, names=("H3", "H6", "H11"))
    }
    assert len(table) == 9
    assert [table[pair].mean for pair in (("H3", "H11"), ("H11", "H6"), ("H11", "H11"), ("H3", "H6"))] == [
        1,
        0.75,
        0,
        0,
    ]
    assert (table["H3", "H11"].low, table["H3", "H11"].high, table["H3", "H11"].published) == (1.0, 1.0, 1.0)


def test_finished_pairs_are_not_played_again(tmp_path: Path) -> None:
    out, told = tmp_path / "kept.json", []
    first = payoff_table("predator-prey", episodes=2, names=("H1", "random"), out=out)
    kept = json.loads(out.read_text())
    kept["pairs"]["H1 H1"]["mean"] = 0.125
    del kept["pairs"]["random H1"]
    out.write_text(json.dumps(kept))
    again = payoff_table(
        "predator-prey", episodes=2, names=("H1", "random"), out=out, on_pair=lambda done, total: told.append(total)
    )
    assert again[0].mean == 0.125
    assert again[1:] == first[1:]
    assert set(told) == {4}


def test_pairs_are_told_apart_though_names_of_folders_have_spaces(
    trained: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names, out = tuple(str(trained(Path(name))) for name in ("x", "x x")), tmp_path / "kept.json"
    pairs = [(row, column) for row in names for column in names]
    table = payoff_table("cooperative-reaching", episodes=2, names=names, out=out)
    assert [(payoff.row, payoff.column) for payoff in table] == pairs
    kept = json.loads(out.read_text())["pairs"]
    assert (len(kept), "x x" in kept) == (4, True)
    # What was kept by names alone is found by what it says.
    piece = kept['["x x", "x x"]'] | {"mean": 0.5}
    out.write_text(json.dumps(json.loads(out.read_text()) | {"pairs": {"x x x x": piece}}))
    assert payoff_table("cooperative-reaching", episodes=2, names=names, out=out)[3].mean == 0.5


def test_other_settings_and_other_files_are_refused(tmp_path: Path) -> None:
    out = tmp_path / "kept.json"
    payoff_table("predator-prey", episodes=2, names=("H1",), out=out)
    with pytest.raises(UsageError, match="give another file to the option `out`, or the same settings"):
        payoff_table("predator-prey", episodes=3, names=("H1",), out=out)
    out.write_text("[]")
    with pytest.raises(UsageError, match="keeps no payoffs"):
        payoff_table("predator-prey", episodes=2, names=("H1",), out=out)


def test_trained_policies_are_played_and_kept_by_their_content(trained: Callable[..., Path], tmp_path: Path) -> None:
    folder, out = trained(tmp_path / "br-s0"), tmp_path / "kept.json"
    table = payoff_table("cooperative-reaching", episodes=3, names=(str(folder), "random"), out=out)
    assert [(payoff.row, payoff.column, payoff.published) for payoff in table][1] == (str(folder), "random", None)
    assert json.loads(out.read_text())["settings"]["trained"].keys() == {str(folder)}
    trained(folder, seed=1)
    with pytest.raises(UsageError, match="give another file to the option `out`, or the same settings"):
        payoff_table("cooperative-reaching", episodes=3, names=(str(folder), "random"), out=out)


def test_unknown_policies_and_games_without_any_are_refused() -> None:
    with pytest.raises(UsageError, match="policies H1, H2, H3, H4, H5, random, not H9"):
        payoff_table("foraging", names=("H9",))
    with pytest.raises(PosgError, match="mabc ships no policies; these games do: cooperative-reaching, driving"):
        payoff_table("mabc")


def test_published_tables_are_square_and_name_policies_that_ship() -> None:
    for game_id, names in NAMES.items():
        assert {len(row) for row in (PAYOFFS[game_id], *PAYOFFS[game_id])} == {len(names)}
        assert set(registry.policies(game_id, registry.make(game_id))) >= set(names)
    assert (published("driving", "A100", "A0"), published("foraging", "H1", "H2")) == (0.85, None)
    assert published("tiger-2a", "H1", "H1") is None


@pytest.mark.slow
@pytest.mark.parametrize("game_id", ["cooperative-reaching", "foraging", "predator-prey"])
def test_payoffs_are_those_that_were_published(game_id: str) -> None:
    """Published ones rest on 100 games a pair, so a tenth of the pairs may be further off than that allows."""
    table = [payoff for payoff in payoff_table(game_id, episodes=400) if payoff.published is not None]
    far = [payoff for payoff in table if abs(payoff.mean - (payoff.published or 0.0)) > 0.1]
    assert len(far) <= len(table) // 10
