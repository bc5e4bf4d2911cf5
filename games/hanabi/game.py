"""Hanabi for two to five players, played by OpenSpiel."""

import random
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from importlib import resources
from typing import Final

import pyspiel

from games.adapters.open_spiel import OpenSpielGame
from games.api import (
    CHANCE,
    DEFAULT_VIEW,
    TERMINAL,
    Action,
    GameError,
    IllegalActionError,
    Json,
    ObsActionHistory,
    Observation,
    State,
)
from games.hanabi import belief, decks, events, policy, resample, value
from games.hanabi.config import HanabiSizes, config, deal
from games.hanabi.reading import Slot, Table, read
from games.hanabi.render import render

VIEWS: Final = (DEFAULT_VIEW, "possible", "counted", "bare")
ENDS: Final = ("bombed out", "deck out", "perfect")


class _Move:
    """A move of a player, whose event is worked out when somebody first asks for it."""

    __slots__ = ("_event", "action", "after", "before", "player")

    def __init__(self, player: int, action: Action, before: State, after: State) -> None:
        self.player, self.action, self.before, self.after = player, action, before, after
        self._event: dict[str, Json] | None = None

    def event(self) -> dict[str, Json]:
        """Returns a fresh event: whoever gets it may change it."""
        if self._event is None:
            self._event = events.event(self.player, self.action, read(str(self.before)), read(str(self.after)))
        found = self._event
        return {**found, "slots": list(found["slots"]), "fireworks": dict(found["fireworks"])}


class HanabiState:
    """OpenSpiel's state with the moves that it does not tell; nobody changes either.

    Attributes:
        native: OpenSpiel's state.
        log: all moves of players.
        since_deal: moves of players since chance dealt a card.
    """

    __slots__ = ("log", "native", "since_deal")

    def __init__(self, native: State, log: tuple[_Move, ...] = (), since_deal: int = 0) -> None:
        self.native, self.log, self.since_deal = native, log, since_deal

    def __str__(self) -> str:
        return str(self.native)


class Hanabi(OpenSpielGame):
    """Hanabi: everybody sees all hands but the own one, and hints cost tokens; `RULES.md` is the specification.

    State: `HanabiState`; as JSON `phase`, `deal`, `play` or `over`; `current_player`; `hands` by player, oldest card
    first, each `{"card", "told_colour", "told_rank", "colours", "ranks"}`, the last two what hints leave possible;
    `fireworks` by colour; `info_tokens`, `life_tokens`, `deck_size`; `discards`, oldest first; `final_turns`, turns
    left once the deck is empty, else null; `recent`, the events of the last moves, one for each player at most.
    Observation: the same with `player`, who looks, the own cards null, and the events since the own last move. In the
    default view of cards what was told; in `possible` what hints leave possible, too; in `counted` also `chances`, the
    chance of each card in each own slot as a fraction; in `bare` of the own cards what was told, of others' the cards
    alone. Actions are OpenSpiel's strings. Losing the last life pays minus the points so far.
    """

    def __init__(self, sizes: HanabiSizes) -> None:
        super().__init__(pyspiel.load_game(sizes.engine), game_id=sizes.id, static_actions=True, views=VIEWS)
        self.config: Final = sizes
        self.ends: Sequence[str] = ENDS

    def initial_state(self) -> HanabiState:
        return HanabiState(self.native.new_initial_state())

    def current_player(self, state: HanabiState) -> int:
        return int(state.native.current_player())

    def legal_actions(self, state: HanabiState) -> list[Action]:
        return super().legal_actions(state.native)

    def chance_outcomes(self, state: HanabiState) -> list[tuple[Action, float]]:
        if not state.native.is_chance_node():
            return []
        return list(zip(self.legal_actions(state), self._chances(state.native), strict=True))

    def apply_action(self, state: HanabiState, action: Action) -> HanabiState:
        """Returns the next state and leaves `state` as it was.

        Raises:
            IllegalActionError: `action` is not legal in `state`.
        """
        player = state.native.current_player()
        number = self._numbers.get(player, {}).get(action)
        if number is None or number not in state.native.legal_actions():
            legal = self.legal_actions(state)
            raise IllegalActionError(f"{self.info.id}: {action!r} is not legal here; choose one of {legal}.")
        after = state.native.child(number)
        if player == CHANCE:
            return HanabiState(after, state.log)
        move = _Move(player, action, state.native, after)
        return HanabiState(after, (*state.log, move), state.since_deal + 1)

    def walk(self, actions: Sequence[Action]) -> Iterator[HanabiState]:
        """Yields the states along a history, see `WalksHistories`."""
        state = self.initial_state()
        yield state
        for action in actions:
            state = self.apply_action(state, action)
            yield state

    def rewards(self, state: HanabiState) -> list[float]:
        """Returns what the last action paid; a return is their sum."""
        if not state.since_deal:  # chance pays nothing, and OpenSpiel repeats what was paid before it
            return [0.0] * self.config.players
        last = state.log[-1]
        return [now - then for now, then in zip(last.after.returns(), last.before.returns(), strict=True)]

    def observations(self, state: HanabiState) -> list[Observation]:
        return [self._observe(state, player, self.info.views[0]) for player in range(self.config.players)]

    def observe(self, state: HanabiState, player: int) -> Observation:
        return self._observe(state, player, VIEWS[0])

    def observation(self, state: HanabiState, player: int, view: str) -> Observation:
        """Returns what `player` sees in a view.

        Raises:
            GameError: there is no such view.
        """
        if view not in VIEWS:
            raise GameError(f"{self.info.id} has the views {', '.join(VIEWS)}, not {view!r}.")
        return self._observe(state, player, view)

    def state_to_json(self, state: HanabiState) -> Json:
        table = read(str(state))
        hands = [[_slot(slot, slot.card, told=True, possible=True) for slot in hand] for hand in table.hands]
        return {"hands": hands, **self._public(state, table, self._recent(state))}

    def render(self, state: HanabiState, player: int | None = None) -> str:
        """Returns the table as text; with `player`, its own cards are shown as `??`."""
        return render(read(str(state)), self._phase(state), self._final_turns(state, read(str(state))), player)

    def playout(self, state: HanabiState, rng: random.Random, max_actions: int) -> list[float]:
        """Plays uniform random moves to the end; see `OpenSpielGame.playout`."""
        return super().playout(state.native, rng, max_actions)

    def outcome(self, state: HanabiState) -> Mapping[str, Json]:
        """Returns `won` (a life is left), `ended_early` (the last one was lost), `score` (0 then), `points`, the
        cards in the fireworks, which stay on the table then too, `bombed`, `perfect`, `lives`, `strict` (the points,
        0 then) and `figures`, the names of those that tables average."""
        table = read(str(state))
        points, bombed = sum(table.fireworks.values()), table.lives == 0
        return {
            "won": not bombed,
            "ended_early": bombed,
            "score": 0.0 if bombed else float(points),
            "points": points,
            "bombed": bombed,
            "perfect": points == self.config.perfect,
            "lives": table.lives,
            "strict": 0 if bombed else points,
            "figures": ["points", "strict", "perfect", "bombed", "lives"],
        }

    def end(self, state: HanabiState) -> str:
        """Returns how a game ended: by its last life, by the last turns once the deck was empty, or with all points."""
        outcome = self.outcome(state)
        return ENDS[0] if outcome["bombed"] else ENDS[2] if outcome["perfect"] else ENDS[1]

    def value(self, state: HanabiState, player: int) -> float:
        """Returns a hand-written estimate of the return, see `value.py`; it is the same for all players."""
        paid = self.rewards(state)[player]
        if self.current_player(state) == TERMINAL:
            return paid
        table = read(str(state))
        return paid + value.value(table, self.config, self._final_turns(state, table))

    def policy(self, state: HanabiState, actions: Sequence[Action], player: int) -> list[float]:
        """Returns how likely a sensible player is to choose each action, see `policy.prior`."""
        whole = {**self.observe(state, player), "recent": [move.event() for move in state.log]}
        return policy.prior(read(str(state)), self.config, whole, actions)

    def resample_history(self, history: ObsActionHistory, player: int, rng: random.Random) -> list[Action]:
        """Returns a history that `player` cannot tell from the real one; see `resample.resample_history`."""
        return resample.resample_history(self.config, history, player, rng)

    def hidden_parts(self, actions: Sequence[Action]) -> list[str]:
        """Returns the cards in all hands after a history, by player and slot; [] if the rules do not allow it."""
        try:
            *_, state = self.walk(actions)
        except IllegalActionError:
            return []
        return [slot.card for hand in read(str(state)).hands for slot in hand]

    def marginals(self, history: ObsActionHistory, player: int) -> list[Mapping[str, float]]:
        """Returns the exact chance of each card, by player and slot: only the own hand is uncertain.

        Raises:
            GameError: the history is empty, another player's, or contradicts itself.
        """
        # Whatever the own cards are taken to be, hints and what lies open are the same, and nothing else is counted.
        *_, state = self.walk(self.resample_history(history, player, random.Random(0)))
        table = read(str(state))
        own = iter(self.chances(table, player))
        return [
            {card: float(chance) for card, chance in next(own).items()} if seat == player else {slot.card: 1.0}
            for seat, hand in enumerate(table.hands)
            for slot in hand
        ]

    def named_deck(self, name: str) -> list[Action]:
        """Returns chance's actions in order, from a deck by its name or its cards; errors as `decks.deck` has."""
        return [deal(card) for card in decks.deck(name, self.config)]

    def _observe(self, state: HanabiState, player: int, view: str) -> Observation:
        table = read(str(state))
        possible = view in ("possible", "counted")
        hands = [
            [
                _slot(
                    slot,
                    None if seat == player else slot.card,
                    told=view != "bare" or seat == player,
                    possible=possible,
                )
                for slot in hand
            ]
            for seat, hand in enumerate(table.hands)
        ]
        if view == "counted":
            for shown, chances in zip(hands[player], self.chances(table, player), strict=True):
                shown["chances"] = {
                    card: f"{chance.numerator}/{chance.denominator}" for card, chance in chances.items()
                }
        recent = self._recent(state)
        own = [number for number, move in enumerate(recent) if move.player == player]
        return {
            "player": player,
            "hands": hands,
            **self._public(state, table, recent[own[-1] :] if own else recent),
        }

    def chances(self, table: Table, player: int) -> list[dict[str, Fraction]]:
        """Returns for each own slot the exact chance of every card, by hints and by the cards that `player` sees."""
        seen = [slot.card for seat, hand in enumerate(table.hands) if seat != player for slot in hand]
        seen += table.discards
        seen += (f"{colour}{rank}" for colour, top in table.fireworks.items() for rank in range(1, top + 1))
        masks = [(slot.colours, slot.ranks) for slot in table.hands[player]]
        return belief.chances(resample.unseen_cards(self.config, seen), masks)

    def _public(self, state: HanabiState, table: Table, moves: Sequence[_Move]) -> dict[str, Json]:
        return {
            "phase": self._phase(state),
            "current_player": self.current_player(state),
            "fireworks": dict(table.fireworks),
            "info_tokens": table.info,
            "life_tokens": table.lives,
            "deck_size": table.deck_size,
            "discards": list(table.discards),
            "final_turns": self._final_turns(state, table),
            "recent": [move.event() for move in moves],
        }

    def _recent(self, state: HanabiState) -> Sequence[_Move]:
        return state.log[-self.config.players :]

    def _phase(self, state: HanabiState) -> str:
        player = state.native.current_player()
        return "deal" if player == CHANCE else "over" if player == TERMINAL else "play"

    def _final_turns(self, state: HanabiState, table: Table) -> int | None:
        return None if table.deck_size else self.config.players - state.since_deal


def _slot(slot: Slot, card: str | None, told: bool, possible: bool) -> dict[str, Json]:
    shown: dict[str, Json] = {"card": card}
    if told:
        shown |= {"told_colour": slot.told_colour, "told_rank": slot.told_rank}
    if possible:
        shown |= {"colours": list(slot.colours), "ranks": [int(rank) for rank in slot.ranks]}
    return shown


def make(
    players: int, colours: int = 5, ranks: int = 5, hand: int | None = None, info: int = 8, lives: int = 3
) -> Hanabi:
    """Returns the game with these sizes; see `config.config`, whose errors it has."""
    return Hanabi(config(players, colours, ranks, hand, info, lives))


def rules(
    players: int, colours: int = 5, ranks: int = 5, hand: int | None = None, info: int = 8, lives: int = 3
) -> str:
    """Returns the rules of a game with these sizes as text, precise enough to implement them."""
    sizes = config(players, colours, ranks, hand, info, lives)
    text = resources.files("games.hanabi").joinpath("RULES.md").read_text(encoding="utf-8")
    return (
        f"{text.rstrip()}\n\n## This game\n\n"
        f"{players} players, {colours} colours ({', '.join(sizes.letters)}), {ranks} ranks, {sizes.hand} cards "
        f"in a full hand, {info} information tokens, {lives} life tokens; "
        f"{sum(sizes.deck().values())} cards in the deck.\n"
    )
