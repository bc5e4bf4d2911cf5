import numpy as np

from arena.figures import formatting, metrics
from arena.figures.metrics import METRICS, NAMES, TAKEN, GameFacts

GAMES = ((8.0, 1.0, 1.0, 8.0, 20.0), (5.0, 0.0, 1.0, -2.0, 11.0), (9.0, 1.0, 0.0, 9.0, 30.0))
"""Score, won, ended early, return, length."""


def test_figures_of_games_in_arrays_are_those_of_each_game() -> None:
    together = metrics.taken(GameFacts(*np.array(GAMES).T))
    apart = [metrics.taken(GameFacts(*game)) for game in GAMES]
    assert {key: list(values) for key, values in together.items()} == {key: [g[key] for g in apart] for key in TAKEN}


def test_a_ratio_is_of_sums_and_has_no_value_where_there_is_nothing_to_divide_by() -> None:
    (ratio,) = (metric for metric in METRICS if metric.ratio is not None)
    found = ratio.estimate({}, {"success_early": [1.0, 0.0], "early": [1.0, 3.0]})
    assert found is not None
    assert (ratio.name, found.mean) == ("WEE", 0.25)
    assert ratio.estimate({}, {"success_early": [0.0], "early": [0.0]}) is None


def test_every_metric_has_a_column_and_games_that_there_are_none_of_have_dashes() -> None:
    assert NAMES == ("R", "return", "SEE", "EE", "WEE", "LEN", "won")
    assert metrics.cells(None, formatting.estimate) == [formatting.NONE] * len(METRICS)
    assert metrics.cooperation(lambda metric: None) is None
