"""Batched Yōkai against the reference: every mask, observation, reward and flag of whole games."""

import random

import pytest

from games.batched.differential import DifferentialReport
from games.batched.yokai import differential
from games.batched.yokai.differential import compare, compare_states
from games.batched.yokai.environment import parse_id
from games.yokai.game import YokaiGame, make
from games.yokai.policy import POLICIES, frozen_shape
from games.yokai.rules import rules_of

QUICK_GAMES = 30
SLOW_GAMES = 2_000


@pytest.fixture(autouse=True)
def few_side_by_side(monkeypatch, request):
    """Has quick tests play no more games at a time than they ask for."""
    if request.node.get_closest_marker("slow") is None:
        monkeypatch.setattr(differential, "BATCH", QUICK_GAMES)


def scripted(name):
    policy = POLICIES[name]

    def choose(game, state, legal, rng):
        return game.action_index(policy(game, state, [], state["player"], rng))

    return choose


def dealt(game, seed):
    rng = random.Random(seed)
    state = game.initial_state()
    while game.current_player(state) == -1:
        outcomes = game.chance_outcomes(state)
        action = rng.choices([name for name, _ in outcomes], [probability for _, probability in outcomes])[0]
        state = game.apply_action(state, action)
    return state


def at(game, state, cells, locked=(), placed=0):
    """A dealt state with the cards moved to `cells`, some of them locked, under `placed` hints."""
    hints = [dict(hint) for hint in state["hints"]]
    for index, card in enumerate(locked[:placed]):
        hints[index] |= {"status": "placed", "card": card}
    return {
        **state,
        "positions": [list(cell) for cell in cells],
        "locked": [card in locked for card in range(game.config.cards)],
        "hints": hints,
    }


def test_random_games_agree_at_every_step(game_id):
    report = compare(game_id, QUICK_GAMES, seed=7)
    assert report.differences == []
    assert report.games == differential.BATCH * -(-QUICK_GAMES // differential.BATCH)


@pytest.mark.slow
def test_two_thousand_random_games_agree_at_every_step(game_id):
    assert compare(game_id, SLOW_GAMES, seed=11).differences == []


@pytest.mark.parametrize("policy", ["win early", "win late, half the hints false"])
@pytest.mark.parametrize("cards", [9, 8])
def test_won_games_agree(cards, policy):
    game = make(cards, 2)
    report = DifferentialReport()
    states = [dealt(game, seed) for seed in range(20)]
    compare_states(game.info.id, states, report, random.Random(1), scripted(policy))
    assert report.differences == []
    assert report.wins > 10


@pytest.mark.slow
@pytest.mark.parametrize("policy", sorted(POLICIES))
def test_scripted_games_agree(game_id, policy):
    report = compare(game_id, 100, 3, scripted(policy))
    assert report.differences == []


def never_ends(game, state, legal, rng):
    return rng.choice(legal[:-1] if state["sub_step"] == 1 else legal)


def test_a_game_that_nobody_ends_has_exactly_eight_actions_a_hint(game_id):
    cards, players = parse_id(game_id)
    game, report = make(cards, players), DifferentialReport()
    compare_states(game_id, [dealt(game, seed) for seed in range(5)], report, random.Random(2), never_ends)
    assert report.differences == []
    assert report.steps == 5 * 8 * game.config.hints == 5 * game.config.max_length


def adversarial(game: YokaiGame):
    """Positions that random games do not reach."""
    cards, side, hints = game.config.cards, game.config.grid, game.config.hints
    base = dealt(game, 5)
    bottom = [(side - 1 - card // side, card % side) for card in range(cards)]
    shape = frozen_shape(rules_of(game.config))
    row = shape.ends[0][0]
    line = [(row, column) for column in range(side)] + [c for c in shape.cells if c[0] != row]
    assert len(line) == cards
    ends = [line.index(end) for end in shape.ends][: hints - 1]
    width = 3 if cards == 16 else 2
    left = [(2 + n // width, n % width) for n in range((cards - 1) // 2)]
    right = [(2 + n // width, width + 1 + n % width) for n in range(cards - 1 - len(left))]
    joined = [(2, width), *left, *right]
    corner = [(card // 4, side - 1 - card % 4) for card in range(cards)]
    return {
        "at the border": at(game, base, bottom),
        "in a corner": at(game, base, corner, [0, 5], 2),
        "two blobs joined by one card": at(game, base, joined),
        "two blobs joined by one locked card": at(game, base, joined, [0], 1),
        "a line with its ends locked": at(game, base, line, ends, len(ends)),
        "all hints but one placed": at(game, base, game.config.start_positions(), list(range(hints - 1)), hints - 1),
    }


@pytest.mark.parametrize("cards", [9, 16, 8])
def test_adversarial_positions_agree(cards):
    game = make(cards, 2)
    report = DifferentialReport()
    positions = adversarial(game)
    compare_states(game.config.id, list(positions.values()) * 5, report, random.Random(3))
    assert report.differences == []
    movable = game.rules.legal_moves(positions["a line with its ends locked"])
    assert {action.split()[1] for action in movable} == ({"7"} if cards == 8 else set())


def test_a_wrong_move_mask_is_found(monkeypatch):
    game = make(9, 2)
    moves = game.rules._legal_moves
    monkeypatch.setattr(game.rules, "_legal_moves", lambda cells, locked: moves(cells, locked)[1:])
    report = DifferentialReport()
    compare_states("yokai-9c-2p", [dealt(game, 1)], report, random.Random(0))
    assert any("legal_mask" in difference for difference in report.differences)


def test_a_comparison_goes_on_where_another_one_stopped():
    count = 3 * QUICK_GAMES
    steps = [report.steps for report in differential.compare_in_batches("yokai-8c-2p", count, seed=5)]
    assert len(steps) == 3
    rest = list(differential.compare_in_batches("yokai-8c-2p", count, seed=5, first=2 * QUICK_GAMES))
    assert [(report.games, report.steps) for report in rest] == [(QUICK_GAMES, steps[2] - steps[1])]
