"""Bargaining over a pool of items, played by OpenSpiel."""

import random
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from games.adapters.open_spiel import OpenSpielGame
from games.api import CHANCE, TERMINAL, Action, Json, ObsActionHistory, Observation, State

ITEMS: Final = ("books", "hats", "basketballs")
AGREE: Final = "agree"
MAX_OFFERS: Final = 10
"""OpenSpiel's limit: the game ends with this offer, which can be agreed to no more."""


class Bargaining(OpenSpielGame):
    """Two players divide a pool of items that each of them values differently; `RULES.md` is the spec.

    State: `pool` and `values`, by player, numbers of each kind in `ITEMS` or null; `offers`, in order, each with the
    `player` who made it and what it `keeps`; `agreed`; `current_player`, 0, 1, -1 (chance) or -4 (over); `deals`, all
    that chance may deal, [] once it has dealt. Observation: `player`, who looks, and the same without `deals`, with
    its own row of the values alone. Actions: `keep 1 books, 0 hats, 2 basketballs` and `agree`; chance: one of
    `deals`, e.g. `1,2,3 8,1,0 4,0,2`, the pool and each player's values. Returns: 0 to 10, general sum.

    The 1,000 deals are a fixed table of OpenSpiel's and follow from no rule. They are part of the initial state alone,
    so that whoever is given that one has them as data; later states, observations and texts do not repeat them.

    The text that the code world model paper gave to its models (appendix H.6) holds no rules of this game: it talks of
    bargaining among people. Nothing in `RULES.md` comes from there.
    """

    def __init__(self, listed: bool = True) -> None:
        """Args:
        listed: whether the initial state lists the deals; else no state has `deals`, and whoever is to model the game
            has to work out from the rules what may be dealt.
        """
        self._listed: Final = listed
        super().__init__("bargaining", game_id="bargaining", uniform_chance=True)
        self._deals: Final = [
            " ".join(",".join(map(str, row)) for row in (deal.pool, *deal.values))
            for deal in self.native.all_instances()
        ]
        # The same tuples every time: recorded games hold these lists by the thousand.
        self._outcomes: Final = [(deal, 1 / len(self._deals)) for deal in self._deals]
        plays = [*(_keep(tuple(offer.quantities)) for offer in self.native.all_offers()), AGREE]
        # OpenSpiel numbers the chance outcomes of its random ends behind the deals; they never occur here.
        self._names = {0: plays, 1: plays, CHANCE: self._deals, TERMINAL: []}
        self._numbers = {player: {name: i for i, name in enumerate(row)} for player, row in self._names.items()}
        self._unseen: Final[dict[tuple[int, str, str], list[Action]]] = {}
        for deal in self._deals:
            pool, *values = deal.split(" ")
            for player, own in enumerate(values):
                self._unseen.setdefault((player, pool, own), []).append(deal)

    def chance_outcomes(self, state: State) -> list[tuple[Action, float]]:
        return list(self._outcomes) if state.is_chance_node() else []

    def state_to_json(self, state: State) -> Json:
        values = None if state.is_chance_node() else [_by_item(row) for row in state.instance().values]
        told = {"values": values, **self._public(state)}
        return told | {"deals": list(self._deals) if values is None else []} if self._listed else told

    def observations(self, state: State) -> list[Observation]:
        public = self._public(state)
        return [self._view(state, public, player) for player in range(2)]

    def observe(self, state: State, player: int) -> Observation:
        return self._view(state, self._public(state), player)

    def _view(self, state: State, public: dict[str, Json], player: int) -> Observation:
        own = None if state.is_chance_node() else _by_item(state.instance().values[player])
        return {"player": player, "own_values": own, **public}

    def render(self, state: State, player: int | None = None) -> str:
        """Returns the table; with `player`, the other's values are shown as `?`."""
        if state.is_chance_node():
            return "nothing is dealt yet"
        deal, public = state.instance(), self._public(state)
        lines = [f"pool:             {_counted(deal.pool)}"]
        for seat, row in enumerate(deal.values):
            shown = "?, ?, ?" if player not in (None, seat) else ", ".join(map(str, row))
            lines.append(f"player_{seat} values:  {shown}")
        for offer in public["offers"]:
            lines.append(f"player_{offer['player']} keeps:   {_counted(list(offer['keeps'].values()))}")
        if public["agreed"]:
            lines.append(f"player_{len(public['offers']) % 2} agrees")
        return "\n".join(lines)

    def resample_history(self, history: ObsActionHistory, player: int, rng: random.Random) -> list[Action]:
        """Returns a history that `player` cannot tell from the real one, with chance's own probabilities.

        All deals with this pool and these own values are equally likely. The other player is taken to offer without a
        look at its values.

        Args:
            history: the player's decision points; the last one holds all offers.
            player: who looks.
            rng: source of the choice.
        """
        shown = history[-1][0]
        pool, own = (",".join(str(shown[name][item]) for item in ITEMS) for name in ("pool", "own_values"))
        offers = [_keep(tuple(offer["keeps"][item] for item in ITEMS)) for offer in shown["offers"]]
        return [rng.choice(self._unseen[player, pool, own]), *offers]

    def _public(self, state: State) -> dict[str, Json]:
        dealt = not state.is_chance_node()
        offers = [
            {"player": number % 2, "keeps": _by_item(offer.quantities)}
            for number, offer in enumerate(state.offers() if dealt else ())
        ]
        return {
            "pool": _by_item(state.instance().pool) if dealt else None,
            "offers": offers,
            "agreed": state.is_terminal() and len(offers) < MAX_OFFERS,
            "current_player": self.current_player(state),
        }


def _by_item(row: Sequence[int]) -> dict[str, int]:
    return dict(zip(ITEMS, map(int, row), strict=True))


def _counted(row: Sequence[int]) -> str:
    """Returns e.g. `1 books, 0 hats, 2 basketballs`."""
    return ", ".join(f"{count} {item}" for count, item in zip(row, ITEMS, strict=True))


@lru_cache(maxsize=1024)
def _keep(row: tuple[int, ...]) -> Action:
    return f"keep {_counted(row)}"
