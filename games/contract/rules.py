"""The contract's rules about one state of a game."""

import math
import random
from collections.abc import Sequence
from typing import Any, Final

from games.api import (
    CHANCE,
    TERMINAL,
    Action,
    EstimatesValue,
    Game,
    GameInfo,
    Json,
    Observation,
    PlaysOut,
    RendersText,
    ReportsOutcome,
    State,
    observe,
)
from games.contract.report import Report, Stop

EPSILON: Final = 1e-9
MAX_ACTIONS: Final = 10_000
"""A game that names no `max_length` is called endless after so many actions, chance's included."""


class StateRules:
    """Asks a game everything about one state after the other.

    Attributes:
        totals: rewards so far in the game at hand, by player.
        seen_actions: every legal action met so far, in all games.
    """

    def __init__(self, report: Report) -> None:
        self.report = report
        self.game: Game = report.game
        self.info: GameInfo = report.game.info
        self.totals = [0.0] * self.info.num_players
        self.seen_actions: dict[Action, None] = {}
        self._decisions: list[list[Json]] = [[] for _ in self.totals]
        self._legal_by_history: dict[str, list[Action]] = {}

    def start(self) -> None:
        """A new game begins."""
        self.totals = [0.0] * self.info.num_players
        self._decisions = [[] for _ in self.totals]

    def check(self, state: State) -> tuple[int, list[Action]]:
        """Asks everything about the next state of the game at hand and returns who moves and the legal actions.

        Raises:
            Stop: an answer is so wrong that the game cannot go on.
        """
        before = self.report.snapshot(state)
        player = self._player(state)
        legal = self._legal(state, player)
        self._chance(state, player, legal)
        rewards = self._rewards(state)
        shown = self._observations(state)
        if player >= 0:
            self._decisions[player].append(shown[player])
            self._information_set(player, legal)
        self._extras(state, player, rewards)
        after = self.report.snapshot(state)
        if after != before:
            self.report.bad("a question changes the state", f"it was {before} before, {after} after the questions")
        return player, legal

    def note_action(self, player: int, action: Action) -> None:
        """Adds what `player` did to its own history."""
        if player >= 0:
            self._decisions[player].append(action)

    def _player(self, state: State) -> int:
        player = self.report.ask_twice("current_player", self.game.current_player, state)
        last = self.info.num_players - 1
        if type(player) is not int or not (0 <= player <= last or player in (CHANCE, TERMINAL)):
            self.report.bad("current_player", f"got {player!r}; expected 0 to {last}, {CHANCE} or {TERMINAL}")
            raise Stop
        if player == CHANCE and not self.info.has_chance:
            self.report.bad("current_player", "chance moves, but info.has_chance is False")
        return player

    def _legal(self, state: State, player: int) -> list[Action]:
        legal = self.report.ask_twice("legal_actions", self.game.legal_actions, state)
        if type(legal) is not list or any(type(action) is not str or not action for action in legal):
            self.report.bad("legal_actions", f"got {legal!r}; expected a list of strings that are not empty")
            raise Stop
        if len(set(legal)) != len(legal):
            self.report.bad("legal_actions repeats an action", f"got {legal}")
        if player == TERMINAL and legal:
            self.report.bad("legal_actions at the end", f"got {legal}; expected []")
        if player != TERMINAL and not legal:
            self.report.bad("no legal action", f"player {player} is to move and has none")
            raise Stop
        self.seen_actions.update(dict.fromkeys(legal))
        return legal

    def _chance(self, state: State, player: int, legal: list[Action]) -> None:
        outcomes = self.report.ask_twice("chance_outcomes", self.game.chance_outcomes, state)
        if player != CHANCE:
            if outcomes != []:
                self.report.bad("chance_outcomes at a player's node", f"got {outcomes!r}; expected []")
            return
        try:
            actions, chances = [action for action, _ in outcomes], [float(chance) for _, chance in outcomes]
        except (TypeError, ValueError):
            self.report.bad("chance_outcomes", f"got {outcomes!r}; expected a list of (action, probability)")
            raise Stop from None
        if actions != legal:
            self.report.bad("chance_outcomes differ from legal_actions", f"got {actions}; legal are {legal}")
        total = math.fsum(chances)
        if not all(0 < chance <= 1 + EPSILON for chance in chances) or not abs(total - 1) <= EPSILON:
            self.report.bad("chance probabilities", f"got {chances}, which sum to {total}; expected 1")

    def _rewards(self, state: State) -> list[float]:
        rewards: list[float] = self.report.ask_twice("rewards", self.game.rewards, state)
        self._payment("rewards", rewards)
        if not self.report.actions and any(rewards):
            self.report.bad("rewards before any action", f"got {rewards} in the initial state; expected zeros")
        self.totals = [total + reward for total, reward in zip(self.totals, rewards, strict=True)]
        return rewards

    def _payment(self, what: str, paid: Any) -> None:
        """What is paid to the players must be finite floats that fit the game's utility."""
        utility, players = self.info.utility, self.info.num_players
        floats = type(paid) is list and all(type(amount) is float and math.isfinite(amount) for amount in paid)
        if not floats or len(paid) != players:
            self.report.bad(what, f"got {paid!r}; expected a list of {players} finite floats")
            raise Stop
        if utility in ("zero_sum", "win_loss_draw") and abs(math.fsum(paid)) > EPSILON:
            self.report.bad(f"{what} are not zero-sum", f"got {paid}; info.utility is {utility}")
        if utility == "identical" and len(set(paid)) > 1:
            self.report.bad(f"{what} are not identical", f"got {paid}; info.utility is identical")

    def returns(self, totals: Sequence[float]) -> None:
        """Checks the sums of a whole game's rewards."""
        low, high = self.info.min_utility - EPSILON, self.info.max_utility + EPSILON
        if not all(low <= total <= high for total in totals):
            self.report.bad("returns out of bounds", f"got {list(totals)}; info allows {low:g} to {high:g}")
        if self.info.utility == "win_loss_draw" and not set(totals) <= {-1.0, 0.0, 1.0}:
            self.report.bad("returns are not win, loss or draw", f"got {list(totals)}; expected -1, 0 or 1")

    def _observations(self, state: State) -> list[Observation]:
        players = self.info.num_players
        shown: list[Observation] = self.report.ask_twice("observations", self.game.observations, state)
        if type(shown) is not list or len(shown) != players or any(type(one) is not dict for one in shown):
            self.report.bad("observations", f"got {shown!r}; expected a list of {players} objects")
            raise Stop
        for one in shown:
            self.report.to_text("observation", one)
        for view in self.info.views[1:]:
            for player in range(players):
                self._view(state, player, view)
        return shown

    def _view(self, state: State, player: int, view: str) -> None:
        what = f"view {view}"
        shown = self.report.ask_twice(what, observe, self.game, state, player, view)
        if type(shown) is not dict:
            self.report.bad(what, f"got {shown!r}; expected an object")
        self.report.to_text(what, shown)

    def _information_set(self, player: int, legal: list[Action]) -> None:
        """The same own history must offer the same legal actions, in whatever game it arose."""
        key = repr((player, self._decisions[player]))
        before = self._legal_by_history.setdefault(key, sorted(legal))
        if before != sorted(legal):
            self.report.bad(
                "legal actions betray what is hidden", f"one own history offers {before} here, {sorted(legal)} there"
            )

    def _extras(self, state: State, player: int, rewards: list[float]) -> None:
        """Checks what the game offers beyond the protocol."""
        if isinstance(self.game, PlaysOut):
            self._playout(self.game, state, player)
        if isinstance(self.game, EstimatesValue):
            self._value(self.game, state, player, rewards)
        if isinstance(self.game, ReportsOutcome) and player == TERMINAL:
            self._outcome(self.game, state)
        if isinstance(self.game, RendersText):
            for viewer in (None, *range(self.info.num_players)):
                self._render(self.game, state, viewer)

    def _playout(self, game: PlaysOut, state: State, player: int) -> None:
        paid = self.report.ask_twice("playout", lambda: game.playout(state, random.Random(7), MAX_ACTIONS))
        self._payment("playout", paid)
        self.returns([total + amount for total, amount in zip(self.totals, paid, strict=True)])
        if player == TERMINAL and any(paid):
            self.report.bad("playout at the end", f"got {paid}; nothing is paid after the end")
        cut = self.report.ask("playout", lambda: game.playout(state, random.Random(7), 0))
        if cut != [0.0] * self.info.num_players:
            self.report.bad("playout of no action", f"got {cut}; expected zeros")

    def _value(self, game: EstimatesValue, state: State, player: int, rewards: list[float]) -> None:
        for seat in range(self.info.num_players):
            value = self.report.ask_twice("value", game.value, state, seat)
            if type(value) is not float or not math.isfinite(value):
                self.report.bad("value", f"got {value!r}; expected a finite float")
            elif player == TERMINAL and abs(value - rewards[seat]) > EPSILON:
                self.report.bad("value at the end", f"got {value} for player {seat}; rewards are {rewards}")

    def _outcome(self, game: ReportsOutcome, state: State) -> None:
        outcome = self.report.ask("outcome", game.outcome, state)
        if not {"won", "ended_early", "score"} <= set(outcome):
            self.report.bad("outcome", f"got {outcome!r}; expected at least won, ended_early and score")

    def _render(self, game: RendersText, state: State, viewer: int | None) -> None:
        text = self.report.ask_twice("render", game.render, state, viewer)
        if type(text) is not str:
            self.report.bad("render", f"got {text!r}; expected a string")
