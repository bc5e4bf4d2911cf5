import pytest

from arena.benchmarks import evaluator_speed


@pytest.mark.slow
def test_the_matrix_takes_as_long_as_the_rate_says(monkeypatch):
    monkeypatch.setattr(evaluator_speed, "SETTINGS", (("yokai-8c-2p", "reduced"),))
    games, matrix, first = evaluator_speed.run(games=2)
    assert games.name == "xp/8c-2p/reduced/cpu/2/games"
    assert games.value > 0
    assert matrix.value * 60 * games.value == pytest.approx(12 * 12 * 5000)
    assert first.value > 0
