"""The partners benchmark's records: R by setting and partner, and what the others' choice gives one held out."""

from collections.abc import Callable

import pytest

from arena.agents.partner import partners as shipped
from arena.benchmarks import partners
from arena.matches.match import GameRecord

PLAIN, *OTHERS = partners.SETTINGS
READING = (1.0, 0.05)


def constant(**by_partner: dict[tuple[float, float], float]) -> partners.Scores:
    """Returns scores of two deals around a mean, by partner and setting; what is not named scores 0."""
    return {
        (setting, partner): {1: means.get(setting, 0.0) + 1, 2: means.get(setting, 0.0) - 1}
        for partner, means in by_partner.items()
        for setting in partners.SETTINGS
    }


def test_seatings_of_a_deal_count_as_one_and_losses_as_zero(record: Callable[..., GameRecord]) -> None:
    won = {"won": True, "ended_early": True, "score": 9.0}
    lost = {"won": False, "ended_early": True, "score": 0.0}
    own = "β=1 ε=0.05"
    games = [
        record("mine stranger", [9.0, 9.0], 5, outcome=won),
        record("stranger mine", [-4.0, -4.0], 5, outcome=lost),
        record("mine stranger", [9.0, 9.0], 6, outcome=won),
    ]
    for game in games:
        object.__setattr__(game, "seats", tuple(own if name == "mine" else name for name in game.seats))
    assert partners.scores(games, ["stranger"]) == {(READING, "stranger"): {5: 4.5, 6: 9.0}}


def test_held_out_partner_is_judged_with_the_setting_of_the_others() -> None:
    found = constant(kind={PLAIN: 4.0, READING: 8.0}, usual={PLAIN: 4.0, READING: 7.0}, odd={PLAIN: 3.0, READING: 1.0})
    held = {item.partner: item for item in partners.held_out(found)}
    assert {name: item.setting for name, item in held.items()} == dict.fromkeys(("kind", "usual", "odd"), READING)
    assert (held["odd"].score.mean, held["odd"].gain.mean) == (1.0, -2.0)
    assert (held["kind"].score.mean, held["kind"].gain.mean) == (8.0, 4.0)


def test_a_partner_does_not_choose_its_own_setting() -> None:
    found = constant(one={PLAIN: 4.0, READING: 9.0}, two={PLAIN: 4.0, (0.5, 0.2): 5.0})
    held = {item.partner: item.setting for item in partners.held_out(found)}
    assert held == {"one": (0.5, 0.2), "two": READING}


def test_records_name_partner_setting_and_difference() -> None:
    records = {item.name: item for item in partners.figures(constant(one={READING: 2.0}, two={PLAIN: 1.0}))}
    reading = records["partners/one/β=1 ε=0.05"]
    assert (reading.value, reading.baseline) == (2.0, 0.0)
    assert reading.note == "R 2.00 ± 1.00, less the plain belief's 2.00 ± 0.00, 2 deals in both seats"
    assert len(records) == 2 * len(partners.SETTINGS) + 2


def test_every_partner_that_ships_is_met() -> None:
    assert {"heuristic", "end-at-once", "never-end", "hint-liar"} <= set(shipped(partners.GAME))


@pytest.mark.parametrize("setting", OTHERS)
def test_settings_differ_from_the_plain_belief(setting: tuple[float, float]) -> None:
    assert setting[0] > 0 == PLAIN[0]
