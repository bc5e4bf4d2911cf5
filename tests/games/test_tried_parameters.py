"""Parameters of OpenSpiel's games that would end or stall the process are refused in a sentence."""

import contextlib
import re
from collections.abc import Iterator

import pyspiel
import pytest

from games import registry
from games.adapters import tried
from games.api import GameError

TEN = ["hanabi", "leduc_poker", "goofspiel", "mnk", "connect_four", "pig", "universal_poker", "havannah", "coin_game"]
TEN += ["first_sealed_auction"]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (
            "hanabi(players=6)",
            r"it ends the whole process \(Input requirements failed at hanabi_game.cc:33 .*Change one",
        ),
        ("hanabi(random_start_player=True)", "the same moves lead to different states, since chance acts inside"),
        ("connect_four(rows=0)", r"it ends the whole process \(exit status -\d+\).*Change one of .*rows"),
        ("goofspiel(num_cards=100000)", "it needs more than 4 GiB of memory"),
        ("goofspiel(num_cards=-1)", r"it cannot be begun \(vector::reserve\). Change one of .*num_cards"),
        ("universal_poker(numRanks=0)", "invalid number of ranks: 0"),
    ],
)
def test_parameters_that_would_end_the_process_are_refused_in_a_sentence(name: str, said: str) -> None:
    with pytest.raises(GameError, match=said) as raised:
        registry.make(f"open_spiel:{name}")
    assert str(raised.value).startswith(f"OpenSpiel cannot play '{name}': with these parameters ")
    assert "\n" not in str(raised.value)


def test_what_open_spiel_refuses_itself_is_told_in_its_own_words() -> None:
    assert tried.complaint("leduc_poker(players=99)") == ""
    with pytest.raises(GameError, match=r"OpenSpiel refused 'leduc_poker\(players=99\)'"):
        registry.make("open_spiel:leduc_poker(players=99)")


def test_first_moves_that_last_too_long_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tried, "TIMEOUT_S", 0.001)
    tried.complaint.cache_clear()
    assert tried.complaint("leduc_poker(players=2)") == "its first moves take longer than 0.001 seconds"
    tried.complaint.cache_clear()


def test_games_without_parameters_are_not_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("games.adapters.open_spiel.complaint", lambda name: "never asked")
    assert registry.make("open_spiel:leduc_poker").info.num_players == 2


def parameters(game: str) -> Iterator[str]:
    """Yields a game with each of its parameters as nobody would choose it."""
    (kind,) = [kind for kind in pyspiel.registered_games() if kind.short_name == game]
    for name, value in kind.parameter_specification.items():
        wrong = ["-1", "0", "1", "100"] if type(value) is int else ["True", "False", "nonsense", "-1.5"]
        yield from (f"{game}({name}={text})" for text in wrong)


@pytest.mark.slow
@pytest.mark.parametrize("game", TEN)
def test_no_parameter_of_ten_games_ends_the_process(game: str) -> None:
    refused = 0
    for name in parameters(game):
        if tried.complaint(name):
            with pytest.raises(GameError, match=re.escape(name)):
                registry.make(f"open_spiel:{name}")
            refused += 1
            continue
        with contextlib.suppress(GameError):  # in OpenSpiel's own words
            made = registry.make(f"open_spiel:{name}")
            made.legal_actions(made.initial_state())
    assert refused or game not in ("hanabi", "universal_poker")
