"""Temper and mix by what partners did: a known pair found again, held-out lineups, and what a model foretells."""

import json
import math
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from arena.agents.specs import parse
from arena.comparison import partner_fit
from arena.comparison.partner_fit import STANDARD, PartnerChoice, best, chosen_without, fit, scored
from arena.machine.runtime import Runtime
from arena.matches.match import GameRecord
from cwm.model.bundle import ModelBundle, describe
from games import registry
from games.api import state_to_json
from search.likelihood import log_forecast

CENTRE = """
def policy_prior(state, legal_actions, player_id):
    weights = [3.0 if action[1:] == "(1,1)" else 1.0 for action in legal_actions]
    return [weight / sum(weights) for weight in weights]
"""


def simulated(setting: tuple[float, float], count: int, reader: str = "a", mover: str = "b") -> list[PartnerChoice]:
    """Partners who choose as their readers' policy says, tempered and mixed."""
    rng = random.Random(f"{setting}/{reader}/{mover}")
    made = []
    for number in range(count):
        weights = [rng.random() ** 3 for _ in range(2 + number % 5)]
        chances = tuple(weight / sum(weights) for weight in weights)
        real = [math.exp(log_forecast(chances, taken, *setting)) for taken in range(len(chances))]
        taken = rng.choices(range(len(chances)), real)[0]
        made.append(PartnerChoice(reader, mover, number // 10, chances, taken))
    return made


@pytest.mark.parametrize("setting", [(0.5, 0.05), (1.0, 0.2), (2.0, 0.05), (4.0, 0.01)])
def test_the_pair_that_simulated_partners_have_is_found_again(setting: tuple[float, float]) -> None:
    assert best(scored(simulated(setting, 4000))) == setting


def test_scores_are_means_over_deals_in_nats() -> None:
    items = [PartnerChoice("a", "b", deal, (0.5, 0.5), 0) for deal in (1, 1, 1)]
    items.append(PartnerChoice("a", "b", 2, (0.9, 0.1), 0))
    found = fit(scored(items))
    assert found is not None
    (standard,) = [item for item in found.scores if item.setting == STANDARD]
    first, second = math.log(0.5), math.log(0.95 * 0.9 + 0.025)
    assert standard.score.mean == pytest.approx((first + second) / 2)
    assert standard.score.standard_error == pytest.approx(abs(first - second) / 2)
    assert (standard.score.n, standard.choices, standard.gain.mean) == (2, 4, 0.0)
    assert found.scores[0].setting == found.chosen == (4.0, 0.01)


def test_a_lineup_is_judged_by_games_in_which_neither_of_its_agents_sat() -> None:
    sharp = simulated((4.0, 0.01), 300, "a", "b") + simulated((4.0, 0.01), 300, "a", "c")
    dull = simulated((0.5, 0.2), 300, "c", "d")
    found = scored(sharp + dull)
    assert chosen_without(found, ("a", "b")) == best(scored(dull))
    fitted = fit(found)
    assert fitted is not None
    judged = {item.lineup: item.judged for item in fitted.held_out}
    # All games without a and c are none.
    assert set(judged) == {("a", "b"), ("c", "d")}
    assert judged["a", "b"].setting == best(scored(dull))
    assert judged["a", "b"].gain.mean < 0
    assert judged["c", "d"].setting == best(scored(simulated((4.0, 0.01), 300, "a", "b")))


def test_what_agents_do_beside_themselves_counts_only_where_there_is_nothing_else() -> None:
    alone = simulated((4.0, 0.01), 300, "c", "c")
    assert chosen_without(scored(alone), ("a", "b")) == best(scored(alone))
    strangers = simulated((0.5, 0.2), 300, "c", "d")
    assert chosen_without(scored(alone + strangers), ("a", "b")) == best(scored(strangers))


def test_nothing_to_read_is_nothing_to_fit() -> None:
    assert fit([]) is None


def test_a_model_foretells_what_its_partner_did_and_nothing_of_its_own(
    tmp_path: Path, right_program: str, record: Callable[..., GameRecord]
) -> None:
    game = registry.make("tic_tac_toe")
    start = state_to_json(game, game.initial_state())
    ModelBundle(right_program, None, start, describe(game.info), "r", prior_source=CENTRE).save(tmp_path)
    specs = {"mine": parse(f"cwm:{tmp_path},name=mine"), "other": parse("random:name=other")}
    actions = ((0, "x(0,0)"), (1, "o(1,1)"), (0, "x(0,1)"), (1, "o(2,2)"))
    played = replace(record("mine other", [0.0, 0.0], 7), actions=actions)
    first, second = partner_fit.choices([played], specs, Runtime())
    assert first == PartnerChoice("mine", "other", 7, (*[0.1] * 3, 0.3, *[0.1] * 4), 3)
    assert second.chances == pytest.approx((1 / 6,) * 6)
    assert second.taken == 5
    lost = replace(played, forfeit="anything")
    assert list(partner_fit.choices([lost], specs, Runtime())) == []


def test_the_fit_as_json_is_plain() -> None:
    found = fit(scored(simulated((2.0, 0.05), 100)))
    assert found is not None
    told: dict[str, Any] = json.loads(json.dumps(found.to_json()))
    assert told["fit"]["chosen"] == list(found.chosen)
    assert told["calibration_fitted"] == []
