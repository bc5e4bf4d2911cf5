"""Kuhn poker for two players, played by OpenSpiel."""

import random

from games.adapters.open_spiel import OpenSpielGame
from games.api import CHANCE, Action, Json, ObsActionHistory, Observation, State


class KuhnPoker(OpenSpielGame):
    """Kuhn poker: three cards, one chip of ante, one bet; `RULES.md` is the spec.

    State: `private_cards` [card of player 0 or null, of player 1 or null] with cards 0, 1, 2; `betting`, the players'
    actions in order; `contributions`, chips in the pot by player; `current_player`, 0, 1, -1 (chance) or -4 (over).
    Observation: `player`, who looks; `private_card`, its own or null; `betting`, `contributions`, `current_player`.
    Actions: `Pass`, `Bet`; chance `Deal:0` to `Deal:2`. Returns: 1 or 2 chips won or lost.
    """

    def __init__(self) -> None:
        super().__init__("kuhn_poker", game_id="kuhn_poker", static_actions=True, uniform_chance=True)

    def state_to_json(self, state: State) -> Json:
        cards, public = self._read(state)
        return {"private_cards": cards, **public}

    def observe(self, state: State, player: int) -> Observation:
        cards, public = self._read(state)
        return {"player": player, "private_card": cards[player], **public}

    def render(self, state: State, player: int | None = None) -> str:
        """Returns the table; with `player`, the other's card is shown as `?`."""
        cards, public = self._read(state)
        lines = []
        for seat, card in enumerate(cards):
            known = "-" if card is None else str(card)
            shown = known if player in (None, seat) else "?"
            lines.append(f"player_{seat}: card {shown}, {public['contributions'][seat]} in the pot")
        return "\n".join([*lines, f"betting: {' '.join(public['betting']) or '-'}"])

    def resample_history(self, history: ObsActionHistory, player: int, rng: random.Random) -> list[Action]:
        """Returns a history that `player` cannot tell from the real one, with chance's own probabilities.

        The opponent is taken to bet without a look at its card, so each of the two other cards is equally likely.

        Args:
            history: the player's decision points; the last one holds the whole betting.
            player: who looks.
            rng: source of the choice.
        """
        shown = history[-1][0]
        own = shown["private_card"]
        other = rng.choice([card for card in range(3) if card != own])
        cards = (own, other) if player == 0 else (other, own)
        return [*(f"Deal:{card}" for card in cards), *shown["betting"]]

    def _read(self, state: State) -> tuple[list[int | None], dict[str, Json]]:
        """Returns the private cards by player, and what everybody sees."""
        steps = [(int(step.player), step.action) for step in state.full_history()]
        dealt = [card for player, card in steps if player == CHANCE]
        contributions = [1, 1]
        for player, action in steps:
            if player >= 0:
                contributions[player] += action
        return [*dealt, *[None] * (2 - len(dealt))], {
            "betting": [self._names[player][action] for player, action in steps if player >= 0],
            "contributions": contributions,
            "current_player": self.current_player(state),
        }
