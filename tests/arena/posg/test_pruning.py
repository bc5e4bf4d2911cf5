"""Pruning: like rows of a table of payoffs make one cluster."""

from pathlib import Path

import pytest

from arena.posg.payoffs import Payoff, payoff_table
from arena.posg.pruning import clusters, read_table
from arena.usage import UsageError


def table(rows: dict[str, list[float]]) -> list[Payoff]:
    return [
        Payoff(row, column, mean, mean, mean, 1, None)
        for row, means in rows.items()
        for column, mean in zip(rows, means, strict=True)
    ]


def test_policies_of_like_rows_are_one_cluster_and_the_first_is_kept() -> None:
    rows = {"a": [0.0, 0.0, 0.0, 0.0], "b": [0.1, 0.0, 0.0, 0.0], "c": [1.0, 0.0, 0.0, 0.0], "d": [1.25, 0.0, 0.0, 0.0]}
    # Distances are 0.1 to 1.25, so 0.215 is the farthest that counts as one.
    assert clusters(table(rows)) == [["a", "b"], ["c"], ["d"]]
    assert clusters(table(rows), share=0.2) == [["a", "b"], ["c", "d"]]
    assert clusters(table(rows), share=1.0) == [["a", "b", "c", "d"]]
    assert clusters(table({"a": [0.5]})) == [["a"]]


def test_a_table_without_all_pairs_is_refused() -> None:
    with pytest.raises(UsageError, match="the payoff of a beside b is missing: play all pairs first"):
        clusters([Payoff("a", "a", 0, 0, 0, 1, None), Payoff("b", "b", 0, 0, 0, 1, None)])


def test_what_payoffs_kept_is_read(tmp_path: Path) -> None:
    kept = payoff_table("predator-prey", episodes=2, names=("H1", "random"), out=tmp_path / "kept.json")
    assert read_table(tmp_path / "kept.json") == ("predator-prey", kept)
    (tmp_path / "kept.json").write_text("{}")
    with pytest.raises(UsageError, match=r"is damaged .*; give a file that `cwm posg payoffs` kept"):
        read_table(tmp_path / "kept.json")
