"""`cwm games check-batched`: what it says, and how it ends."""

import pytest

from games.batched.yokai import differential
from games.yokai.game import YokaiGame


@pytest.fixture(autouse=True)
def _small_batches(monkeypatch):
    monkeypatch.setattr(differential, "BATCH", 2)


def test_games_that_agree_give_one_line_each(cwm):
    ran = cwm("games", "check-batched", "yokai-9c-2p", "--games", 2, "--seed", 1)
    assert ran.code == 0
    assert ran.out.startswith("yokai-9c-2p: 2 games, ")
    assert ran.out.endswith(": no difference\n")


def test_a_difference_gives_code_1_and_is_named(cwm, monkeypatch):
    monkeypatch.setattr(YokaiGame, "outcome", lambda self, state: dict.fromkeys(OUTCOME, -7))
    ran = cwm("games", "check-batched", "yokai-9c-2p", "--games", 2, "--json")
    assert ran.code == 1
    assert any("length is" in difference for difference in ran.json[0]["differences"])


OUTCOME = ("won", "ended_early", "score", "return", "length")


def test_an_interrupted_check_says_how_it_goes_on(cwm, monkeypatch):
    compare, compared = differential.compare_from, []

    def interrupted(*arguments):
        if len(compared) == 2:
            raise KeyboardInterrupt
        compared.append(1)
        compare(*arguments)

    monkeypatch.setattr(differential, "compare_from", interrupted)
    ran = cwm("games", "check-batched", "yokai-9c-2p", "--games", 10, "--from", 3)
    assert ran.code == 130
    assert "no difference so far; --from 6 goes on." in ran.err


def test_only_batched_games_can_be_checked(refused):
    assert "known: yokai-9c-2p" in refused("games", "check-batched", "tic_tac_toe").err


def test_nothing_left_to_compare_is_refused(refused):
    assert refused("games", "check-batched", "yokai-9c-2p", "--games", 5, "--from", 5).code == 2
