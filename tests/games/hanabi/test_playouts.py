"""Quick games of `simple` are those of the bot at the table, card by card."""

import random
from collections.abc import Sequence

import pytest

from games.api import CHANCE, TERMINAL, Action
from games.hanabi.config import VARIANTS, HanabiSizes
from games.hanabi.game import Hanabi
from games.hanabi.partners import PARTNERS
from games.hanabi.playouts import QuickSimple
from search.action_values import HistoryPlayouts

TRIED = ("hanabi-2p", "hanabi-3p", "hanabi-5p", "hanabi-mini-2p", "hanabi-small-2p", "hanabi-tiny-2p")


class SameDeck(HistoryPlayouts):
    """The bot at the table, with the deck that the quick game of a seed has."""

    def returns(self, game: Hanabi, sizes: HanabiSizes, actions: Sequence[Action], first: Action, seed: int) -> float:
        left = sizes.deck()
        for action in actions:
            if action.startswith("(Deal"):
                left[action[6:8]] -= 1
        deck = [card for card, count in left.items() for _ in range(count)]
        random.Random(seed).shuffle(deck)
        state, own = game.initial_state(), [[] for _ in range(sizes.players)]  # type: ignore[var-annotated]
        script = iter([*actions, first])
        while (player := game.current_player(state)) != TERMINAL:
            action = next(script, None)
            if player == CHANCE:
                action = action or f"(Deal {deck.pop()})"
            else:
                shown = game.observe(state, player)
                action = action or PARTNERS["simple"]([*own[player], (shown, None)], game.legal_actions(state), None)  # type: ignore[arg-type]
                own[player].append((shown, action))
            state = game.apply_action(state, action)
        return float(game.outcome(state)["score"])


def random_history(game: Hanabi, rng: random.Random, mistakes: float) -> tuple[list[Action], list[Action]]:
    """Returns the actions up to a random decision of a game of `simple` with random moves, and what is legal there."""
    state, actions = game.initial_state(), list[Action]()
    own: list[list[tuple[dict[str, object], Action]]] = [[] for _ in range(game.info.num_players)]
    stop = rng.randrange(60)
    found: tuple[list[Action], list[Action]] = [], []
    while (player := game.current_player(state)) != TERMINAL:
        legal = game.legal_actions(state)
        if player == CHANCE:
            action = rng.choices(*zip(*game.chance_outcomes(state), strict=True))[0]  # type: ignore[arg-type]
        else:
            found = list(actions), legal
            if stop == 0:
                break
            stop -= 1
            shown = game.observe(state, player)
            careful = rng.random() >= mistakes
            action = (
                PARTNERS["simple"]([*own[player], (shown, None)], legal, rng)  # type: ignore[list-item]
                if careful
                else rng.choice([move for move in legal if not move.startswith("(Play")] or legal)
            )
            own[player].append((shown, action))
        actions.append(action)
        state = game.apply_action(state, action)
    return found


@pytest.mark.parametrize("name", TRIED)
def test_quick_games_end_as_those_at_the_table_with_the_same_deck(name: str) -> None:
    assert disagreements(name, 4) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", VARIANTS)
def test_hundreds_of_quick_games_end_as_those_at_the_table(name: str) -> None:
    assert disagreements(name, 150) == []


def disagreements(name: str, positions: int) -> list[tuple[list[Action], Action]]:
    game, sizes, rng = Hanabi(VARIANTS[name]), VARIANTS[name], random.Random(name)
    table, quick = SameDeck(game, PARTNERS["simple"]), QuickSimple(game)
    found = []
    for _ in range(positions):
        actions, legal = random_history(game, rng, 0.2)
        world, seed = quick.world(actions), rng.getrandbits(60)
        for first in rng.sample(legal, min(len(legal), 4)):
            if world.play(first, seed, 1000)[0] != table.returns(game, sizes, actions, first, seed):
                found.append((actions, first))
    return found
