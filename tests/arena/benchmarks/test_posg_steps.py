"""Steps a second of batched games of simultaneous moves."""

import pytest

from arena.benchmarks import posg_steps


@pytest.mark.slow
def test_a_game_is_timed_under_a_name_that_says_what_was_measured():
    found = list(posg_steps.run(2, ["cooperative-reaching"], steps=4))
    assert [item.name.split("/")[:2] for item in found] == [["posg-steps", "cooperative-reaching"]]
    assert found[0].value > 0
