"""Values of Hanabi's moves by sampled worlds are those of all worlds, one by one."""

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from statistics import fmean

import pytest

from arena.agents.playouts import playouts_of
from arena.matches.replay import make_position
from arena.usage import UsageError
from games import registry
from games.api import Action
from games.hanabi.config import VARIANTS
from games.hanabi.game import Hanabi
from games.hanabi.knowledge import Course
from games.hanabi.playouts import QuickSimple
from games.hanabi.resample import public_log
from search.action_values import ActionValue, HistoryPlayouts, ValueConfig, action_values
from tests.games.hanabi.test_playouts import random_history

TINY = VARIANTS["hanabi-tiny-2p"]


def arrangements(left: Counter[str]) -> Iterator[list[str]]:
    """Yields every order of some cards once; all are equally likely."""
    if not left.total():
        yield []
    for card in [card for card, count in left.items() if count]:
        left[card] -= 1
        for rest in arrangements(left):
            yield [card, *rest]
        left[card] += 1


def exact(game: Hanabi, actions: Sequence[Action], legal: Sequence[Action]) -> dict[Action, float]:
    """Returns every action's mean over all own hands that hints allow and all decks."""
    position = make_position(game, actions)
    course, shown = Course(TINY), position.history[-1][0]
    for event in public_log(position.history):
        course.follow(event)
    own = course.hands[position.player]
    deals = [number for number, action in enumerate(actions) if action.startswith("(Deal")]
    seen = Counter(actions[number][6:8] for place, number in enumerate(deals) if place not in {k.number for k in own})
    left = Counter(TINY.deck()) - seen
    assert left.total() == len(own) + shown["deck_size"]
    returns: dict[Action, list[float]] = {action: [] for action in legal}
    playouts = QuickSimple(game)
    for cards in arrangements(left):
        if all(card[0] in known.colours and card[1] in known.ranks for card, known in zip(cards, own, strict=False)):
            told = list(actions)
            for known, card in zip(own, cards, strict=False):
                told[deals[known.number]] = f"(Deal {card})"
            world = playouts.world(told)
            for action in legal:
                returns[action].append(world.play_deck(action, cards[len(own) :])[0])
    return {action: fmean(found) for action, found in returns.items()}


def clear(found: Sequence[ActionValue]) -> Action | None:
    """Returns the best action if it is ahead of the next one by more than three standard errors."""
    best, second = sorted(found, key=lambda value: -value.mean)[:2]
    return best.action if best.mean - second.mean > 3 * (best.se**2 + second.se**2) ** 0.5 else None


def judged(positions: int, fewest_moves: int) -> list[bool]:
    """Returns, for so many positions with a clear best action, whether it is the best of all worlds."""
    game, rng = Hanabi(TINY), random.Random("tiny")
    right = []
    while len(right) < positions:
        actions, legal = random_history(game, rng, 0.3)
        if len(legal) < 2 or sum(not action.startswith("(Deal") for action in actions) < fewest_moves:
            continue
        position = make_position(game, actions)
        found = action_values(
            game, position.history, position.player, ValueConfig(100), rng, playouts=playouts_of(game)
        )
        chosen = clear(found)
        if chosen is not None:
            values = exact(game, actions, legal)
            right.append(values[chosen] == pytest.approx(max(values.values()), abs=1e-9))
    return right


def test_the_best_move_by_samples_is_the_best_over_all_worlds() -> None:
    assert judged(6, 4) == [True] * 6


@pytest.mark.slow
def test_the_best_move_by_samples_is_the_best_over_all_worlds_in_a_hundred_positions() -> None:
    assert sum(judged(100, 0)) >= 95


def test_sampled_means_are_within_their_errors_of_the_exact_ones() -> None:
    game, rng = Hanabi(TINY), random.Random("errors")
    actions, legal = random_history(game, rng, 0.3)
    while sum(not action.startswith("(Deal") for action in actions) < 5 or len(legal) < 4:
        actions, legal = random_history(game, rng, 0.3)
    position, values = make_position(game, actions), exact(game, actions, legal)
    found = action_values(game, position.history, position.player, ValueConfig(400), rng, playouts=playouts_of(game))
    assert [value.action for value in found] == legal
    assert all(abs(value.mean - values[value.action]) <= 4 * value.se for value in found)


def test_a_partner_is_named_policy_random_or_by_its_name() -> None:
    tic_tac_toe, hanabi = registry.make("tic_tac_toe"), registry.make("hanabi-2p")
    assert isinstance(playouts_of(hanabi), QuickSimple)
    assert isinstance(playouts_of(hanabi, "partner:value"), HistoryPlayouts)
    won = action_values(
        tic_tac_toe,
        [({}, None)],
        0,
        ValueConfig(40),
        random.Random(1),
        playouts=playouts_of(tic_tac_toe),
        truth=["x(0,0)", "o(1,0)", "x(0,1)", "o(1,1)"],
    )
    assert max(won, key=lambda value: value.mean)[:3] == ("x(0,2)", 1.0, 0.0)
    with pytest.raises(UsageError, match="tic_tac_toe has no policy prior: choose random"):
        playouts_of(tic_tac_toe, "policy")
    with pytest.raises(UsageError, match="nobody called 'simple' plays tic_tac_toe on: choose random"):
        playouts_of(tic_tac_toe, "simple")
