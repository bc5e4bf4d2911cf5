"""The likelihood bound against exact likelihoods."""

import math
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from cwm.sandbox.parent.host import Sandbox
from cwm.sandbox.wire.api import ProgramSource
from cwm.suite.likelihood import BoundOptions, LikelihoodBound, estimate
from cwm.trajectories.recorded import Trajectory, collect, record_step, view
from games import registry
from games.api import CHANCE, TERMINAL, state_to_json

PROGRAMS = Path(__file__).resolve().parents[2] / "data" / "hidden_programs"
CHOICE = "random.choice(possible(seen, player_id))"


def program_of(game: str, *replacements: tuple[str, str]) -> ProgramSource:
    reference = registry.make(game)
    text = (PROGRAMS / f"{game}.py").read_text("utf-8")
    for old, new in replacements:
        assert old in text
        text = text.replace(old, new)
    return ProgramSource(text, state_to_json(reference, reference.initial_state()), asdict(reference.info))


def kuhn(index: int, *actions: str) -> Trajectory:
    """Returns a game of Kuhn poker, which player `index % 2` looks at."""
    game = registry.make("kuhn_poker")
    state, steps = game.initial_state(), []
    for action in actions:
        steps.append(record_step(game, state, action))
        state = game.apply_action(state, action)
    return Trajectory("kuhn_poker", index, None, ("0", "1"), (*steps, record_step(game, state, None)))


def exact(trajectory: Trajectory, game: Any, ended: bool = True) -> float:
    """Returns the log-likelihood of what a player saw, by going through all histories of the true game."""
    seen = view(trajectory)
    decisions = [*seen.decisions, (seen.final_observation, None)]
    decisions = decisions if ended else decisions[: len(seen.decisions)]

    def total(state: Any, passed: int) -> float:
        mover = game.current_player(state)
        last = passed == len(decisions) - 1
        if mover == TERMINAL or (mover == seen.player and last and not ended):
            shown = game.observations(state)[seen.player]
            return float(last and (mover == TERMINAL) == ended and shown == decisions[passed][0])
        if mover == CHANCE:
            outcomes = game.chance_outcomes(state)
            return sum(odds * total(game.apply_action(state, action), passed) for action, odds in outcomes)
        legal = game.legal_actions(state)
        if mover != seen.player:
            return sum(total(game.apply_action(state, action), passed) for action in legal) / len(legal)
        observation, action = decisions[passed]
        if last or game.observations(state)[mover] != observation:
            return 0.0
        return total(game.apply_action(state, action), passed + 1)

    return math.log(total(game.initial_state(), 0))


def bound(game: str, played: list[Trajectory], *replacements: tuple[str, str], **options: Any) -> LikelihoodBound:
    return estimate(program_of(game, *replacements), played, Sandbox(), BoundOptions(**options))


@pytest.mark.parametrize(
    ("game", "best"),
    [
        # 1/3 for the own card, 1/2 for the other one, 1/2 for each decision of the other player.
        (kuhn(0, "Deal:0", "Deal:1", "Pass", "Pass"), 1 / 3 / 2 / 2),
        (kuhn(0, "Deal:2", "Deal:1", "Pass", "Bet", "Bet"), 1 / 3 / 2 / 2),
        (kuhn(1, "Deal:2", "Deal:1", "Bet", "Pass"), 1 / 3 / 2 / 2),
        (kuhn(1, "Deal:2", "Deal:1", "Pass", "Bet", "Pass"), 1 / 3 / 2 / 2 / 2),
    ],
)
def test_the_bound_of_a_game_of_kuhn_poker_is_the_known_one(game: Trajectory, best: float) -> None:
    found = bound("kuhn_poker", [game])
    assert (found.games, found.bounded, found.samples, found.valid) == (1, 1, 50, 50)
    assert found.mean == pytest.approx(math.log(best), abs=1e-12)
    # The two cards that the other player may hold are equally likely, and fifty draws show both.
    assert found.mean_distinct == pytest.approx(math.log(2 * best), abs=1e-12)
    assert found.mean_distinct == pytest.approx(exact(game, registry.make("kuhn_poker")), abs=1e-12)


def test_the_mean_is_over_the_games_and_never_above_the_exact_likelihood() -> None:
    game = registry.make("leduc_poker")
    played = collect(game, 12, 0)
    truth = [exact(trajectory, game) for trajectory in played]
    found = bound("leduc_poker", played, samples=60)
    assert (found.games, found.bounded, found.valid, found.problems) == (12, 12, 720, {})
    assert found.mean is not None
    assert found.mean_distinct == pytest.approx(sum(truth) / 12, abs=1e-9)
    assert found.mean < sum(truth) / 12
    one = bound("leduc_poker", played, samples=1)
    assert one.mean == one.mean_distinct
    assert one.mean is not None
    assert one.mean <= found.mean + 1e-12


def test_a_program_of_the_open_deck_is_asked_up_to_the_last_decision() -> None:
    game = kuhn(0, "Deal:2", "Deal:1", "Pass", "Bet", "Bet")
    program = program_of("kuhn_poker", ("player_id, last_is_terminal)", "player_id)"))
    found = estimate(program, [game], Sandbox(), deck="open")
    assert found.mean_distinct == pytest.approx(exact(game, registry.make("kuhn_poker"), ended=False), abs=1e-12)


def test_a_wrong_deal_costs_likelihood_and_an_impossible_one_is_no_bound() -> None:
    game = kuhn(0, "Deal:0", "Deal:1", "Pass", "Pass")
    loaded = bound("kuhn_poker", [game], ("1.0 / len(actions)", "0.1"))
    assert loaded.mean == pytest.approx(math.log(0.1 * 0.1 / 2), abs=1e-12)
    never = bound("kuhn_poker", [game], ("1.0 / len(actions)", "0.0"))
    assert (never.games, never.bounded, never.valid, never.mean) == (1, 0, 0, None)
    assert never.problems == {"chance_outcomes": 50}
    assert never.in_words() == "none: no sampled history recreates a game (0 of 1 games, 50 samples each)"


def test_draws_that_do_not_recreate_the_game_are_counted_and_in_no_mean() -> None:
    game = kuhn(0, "Deal:0", "Deal:1", "Pass", "Pass")
    found = bound("kuhn_poker", [game], (CHOICE, "random.choice(CARDS)"), samples=200)
    assert 100 < found.valid < 160
    assert found.problems == {"resampled_action": 200 - found.valid}
    assert found.mean == pytest.approx(math.log(1 / 12), abs=1e-12)


def test_a_program_that_never_answers_bounds_nothing_and_games_after_it_are_asked() -> None:
    played = [kuhn(0, "Deal:0", "Deal:1", "Pass", "Pass"), kuhn(2, "Deal:1", "Deal:0", "Pass", "Pass")]
    endless = ("other = random", "other = any(iter(int, 1 - seen['private_card'])) or random")
    found = bound("kuhn_poker", played, endless, wall_s=0.5)
    assert (found.games, found.bounded) == (2, 1)
    assert sum(found.problems.values()) == 1
    assert found.mean == pytest.approx(math.log(1 / 12), abs=1e-12)


def test_games_that_were_cut_are_passed_over_and_the_first_ones_are_taken() -> None:
    game = kuhn(0, "Deal:0", "Deal:1", "Pass", "Pass")
    cut = replace(game, steps=(*game.steps[:3], replace(game.steps[3], action=None)))
    assert bound("kuhn_poker", [cut]).games == 0
    assert bound("kuhn_poker", [game] * 5, games=3, samples=2).games == 3


def test_the_bound_survives_the_record() -> None:
    found = bound("kuhn_poker", [kuhn(0, "Deal:0", "Deal:1", "Pass", "Pass")])
    assert LikelihoodBound.from_json(found.to_json()) == found
    assert found.in_words() == "-2.485 nats a game by the best sample, -1.792 by all (1 of 1 games, 50 samples each)"
