import numpy as np
import pytest

from arena.papers.yokai.play.probe_figures import CROSS_PLAY, ORACLE, SELF_PLAY, Counts, method_probes


def counts(cards: list[list[float]], right: list[list[float]]) -> Counts:
    return Counts(np.array(cards), np.array(right), np.array(cards))


def test_accuracy_is_a_share_of_cards_and_its_error_is_over_seeds() -> None:
    one = counts([[0, 8], [2, 6]], [[0, 4], [2, 3]])
    other = counts([[0, 8], [4, 4]], [[0, 6], [2, 1]])
    found = method_probes("sp", [one, other], [one + other])
    assert found.seeds == 2
    own = found.lines["all cards"][SELF_PLAY]
    assert [own[step].mean for step in (0, 1)] == [pytest.approx((4 / 8 + 6 / 8) / 2), (5 / 8 + 3 / 8) / 2]
    assert own[0].standard_error == pytest.approx(0.125)
    assert found.lines["observed"][SELF_PLAY].keys() == {1}
    assert found.lines["observed"][SELF_PLAY][1].mean == pytest.approx((1 + 1 / 2) / 2)
    assert found.lines["not observed"][CROSS_PLAY][1].mean == pytest.approx(4 / 10)
    assert found.lines["not observed"][ORACLE][0].mean == 1


def test_one_policy_has_no_cross_play() -> None:
    found = method_probes("sp", [counts([[1, 1]], [[1, 0]])], [])
    assert found.lines["all cards"][CROSS_PLAY] == {}
