"""The contract that every `Game` must pass, as code: reference games, adapters, batched games and every model.

Standard library only, so that it runs inside sandboxed workers too. `check` plays seeded random games and asks every
question at every state; `check_leaks` swaps what is hidden and compares what the players see.
"""

import copy
import math
import random
from collections.abc import Callable, Mapping
from typing import Final

from games.api import (
    TERMINAL,
    Action,
    Game,
    GameError,
    IllegalActionError,
    ObsActionHistory,
    Observation,
    ResamplesHistory,
    State,
    observe,
)
from games.contract.report import ContractError, Report, Stop, Violation, list_violations
from games.contract.rules import MAX_ACTIONS, StateRules

SIBLINGS: Final = 3
"""So many actions are tried at each state beside the one that is played."""
_UTILITIES: Final = ("win_loss_draw", "zero_sum", "general_sum", "identical")
_NO_ACTION: Final = "no such action"


def check(game: Game, *, games: int = 20, seed: int = 0, refuses_illegal: bool = True) -> list[Violation]:
    """Plays random games and returns the rules that the game breaks, [] if none.

    Args:
        game: what to check.
        games: so many random games.
        seed: of all random choices.
        refuses_illegal: whether `apply_action` must raise on an illegal action (a synthesised model need not).

    Returns:
        One violation a rule, in the order in which they were found.
    """
    report = Report(game)
    _each(report, 1, lambda: _check_info(report))
    if not report.violations:
        player = _RandomGames(report, random.Random(f"contract {seed}"), refuses_illegal)
        _each(report, games, player.play)
    return report.violations


def assert_game(game: Game, *, games: int = 20, seed: int = 0, refuses_illegal: bool = True) -> None:
    """Checks a game, leaks included where it offers `resample_history`.

    Raises:
        ContractError: it breaks a rule.
    """
    violations = check(game, games=games, seed=seed, refuses_illegal=refuses_illegal)
    if isinstance(game, ResamplesHistory):
        violations += check_leaks(game, games=max(1, games // 4), seed=seed)
    if violations:
        raise ContractError(list_violations(game.info.id, violations))


def check_leaks(game: Game, *, games: int = 5, seed: int = 0, resamples: int = 4) -> list[Violation]:
    """Swaps the hidden state and compares what the player saw, in every view, at all its decision points.

    At every decision point the game's own `resample_history` draws other histories; replayed, each must be legal, end
    with the same player to move and the same legal actions, and show that player, in every view, what it saw in the
    real game. So a view that shows what the resampler takes to be hidden is found, and a resampler that contradicts
    what the player saw is, too.

    Args:
        game: what to check; it must offer `resample_history`.
        games: so many random games.
        seed: of all random choices.
        resamples: histories a decision point.

    Raises:
        GameError: the game offers no `resample_history`.
    """
    if not isinstance(game, ResamplesHistory):
        raise GameError(f"{game.info.id} offers no resample_history, so hidden states cannot be swapped.")
    report = Report(game)
    _each(report, games, _Leaks(report, game, random.Random(f"leaks {seed}"), resamples).play)
    return report.violations


def _each(report: Report, times: int, step: Callable[[], None]) -> None:
    """Runs `step` so many times, from a clean slate each; a `Stop` ends one run alone."""
    for _ in range(times):
        report.start()
        try:
            step()
        except Stop:
            continue


def _check_info(report: Report) -> None:
    info = report.ask("info", lambda: report.game.info)
    if info.num_players < 1 or len(info.player_names) != info.num_players:
        report.bad("info", f"{info.num_players} players have the names {info.player_names}; give each one name")
    if info.utility not in _UTILITIES:
        report.bad("info", f"utility is {info.utility!r}; choose one of {_UTILITIES}")
    if not -math.inf < info.min_utility <= info.max_utility < math.inf:
        report.bad("info", f"utility bounds are {info.min_utility}, {info.max_utility}; give finite, ordered ones")
    if info.max_length is not None and info.max_length < 1:
        report.bad("info", f"max_length is {info.max_length}; give a positive number, or None")
    if not info.views or len(set(info.views)) != len(info.views):
        report.bad("info", f"views are {info.views}; give at least one, each once")
    report.ask_twice("initial_state", lambda: report.snapshot(report.game.initial_state()))


class _RandomGames:
    """Plays random games and looks at every state, at its neighbours, and at all of them again at the end."""

    def __init__(self, report: Report, rng: random.Random, refuses_illegal: bool) -> None:
        self.report, self.game, self.rng = report, report.game, rng
        self.refuses_illegal = refuses_illegal
        self.rules = StateRules(report)

    def play(self) -> None:
        report, limit = self.report, self.game.info.max_length
        self.rules.start()
        state = report.ask("initial_state", self.game.initial_state)
        kept: list[tuple[State, str]] = []
        moves = 0
        while True:
            kept.append((state, report.look_at(state)))
            player, legal = self.rules.check(state)
            if self.refuses_illegal:
                self._check_refusal(state, legal)
            if player == TERMINAL:
                break
            moves += player >= 0
            if moves > (limit or MAX_ACTIONS) or len(report.actions) >= MAX_ACTIONS:
                report.bad("game is too long", f"no end after {moves} actions of players; info.max_length is {limit}")
                raise Stop
            action = self.rng.choice(legal)
            state = self._next_state(state, action, legal)
            self.rules.note_action(player, action)
            report.actions.append(action)
        self.rules.returns(self.rules.totals)
        for old, text in kept:
            if report.snapshot(old) != text:
                report.bad("a later call changes an earlier state", f"it was {text}, later {report.snapshot(old)}")

    def _next_state(self, state: State, action: Action, legal: list[Action]) -> State:
        """Applies `action`, and a few others, whose states must not meddle with each other or with `state`."""
        report = self.report
        before = report.snapshot(state)
        child = report.ask("apply_action", self.game.apply_action, state, action)
        text = report.snapshot(child)
        if report.snapshot(state) != before:
            report.bad("apply_action changes its input", f"{action!r} turned {before} into {report.snapshot(state)}")
            raise Stop
        again = report.ask("apply_action", self.game.apply_action, state, action)
        if report.snapshot(again) != text:
            report.bad(
                "apply_action is not deterministic", f"{action!r} led to {text} and then to {report.snapshot(again)}"
            )
        for other in self.rng.sample(legal, min(SIBLINGS, len(legal))):
            report.ask("apply_action", self.game.apply_action, state, other)
        if report.snapshot(child) != text or report.snapshot(state) != before:
            report.bad("states share mutable parts", f"after other actions, the state after {action!r} has changed")
            raise Stop
        return child

    def _check_refusal(self, state: State, legal: list[Action]) -> None:
        """An action that is unknown, or legal only elsewhere, must raise `IllegalActionError`."""
        elsewhere = [action for action in self.rules.seen_actions if action not in legal]
        wrong = [_NO_ACTION, *([self.rng.choice(elsewhere)] if elsewhere else [])]
        for action in wrong:
            try:
                self.game.apply_action(state, action)
            except IllegalActionError:
                continue
            except Exception as error:
                told = f"{action!r} raised {type(error).__name__}: {error}; expected IllegalActionError"
                self.report.bad("illegal action", told)
            else:
                self.report.bad("illegal action", f"{action!r} was taken; legal are {legal}; raise IllegalActionError")


class _Leaks:
    """Plays random games and resamples at each decision point."""

    def __init__(self, report: Report, game: ResamplesHistory, rng: random.Random, resamples: int) -> None:
        self.report, self.game, self.resampler, self.rng = report, report.game, game, rng
        self.resamples = resamples

    def play(self) -> None:
        game, report, views = self.game, self.report, self.game.info.views
        state = report.ask("initial_state", game.initial_state)
        past: list[dict[str, list[tuple[Observation, Action]]]] = [
            {view: [] for view in views} for _ in range(game.info.num_players)
        ]
        while (player := self._mover(state)) != TERMINAL:
            report.look_at(state)
            legal = self._legal(state)
            action = self.rng.choice(legal)
            if player >= 0:
                shown = {view: self._see(state, player, view) for view in views}
                real = {view: [*past[player][view], (shown[view], None)] for view in views}
                for _ in range(self.resamples):
                    self._check_resample(player, real, legal)
                for view in views:
                    past[player][view].append((shown[view], action))
            state = report.ask("apply_action", game.apply_action, state, action)
            report.actions.append(action)
            if len(report.actions) > MAX_ACTIONS:
                raise Stop

    def _mover(self, state: State) -> int:
        player = self.report.ask("current_player", self.game.current_player, state)
        if type(player) is not int:
            self.report.bad("current_player", f"got {player!r}; expected a whole number")
            raise Stop
        return player

    def _legal(self, state: State) -> list[Action]:
        legal = self.report.ask("legal_actions", self.game.legal_actions, state)
        if type(legal) is not list or not legal or any(type(action) is not str for action in legal):
            self.report.bad("legal_actions", f"got {legal!r}; expected strings, at least one before the end")
            raise Stop
        return legal

    def _see(self, state: State, player: int, view: str) -> Observation:
        shown: Observation = self.report.ask(f"view {view}", observe, self.game, state, player, view)
        return shown

    def _check_resample(self, player: int, real: Mapping[str, ObsActionHistory], legal: list[Action]) -> None:
        report = self.report
        own = real[self.game.info.views[0]]
        given = copy.deepcopy(own)
        actions = report.ask("resample_history", self.resampler.resample_history, given, player, self.rng)
        if given != own:
            report.bad("resample_history changes its input", f"the history became {given!r}")
        if type(actions) is not list:
            report.bad("resample_history", f"got {actions!r}; expected a list of actions")
            return
        try:
            state, seen = self._replay(player, actions)
        except Stop:
            return
        if self._mover(state) != player or sorted(self._legal(state)) != sorted(legal):
            report.bad("resample_history ends elsewhere", f"{actions} leads to another player or other legal actions")
            return
        for view, history in real.items():
            self._compare(player, view, history, seen[view], actions)

    def _replay(
        self, player: int, actions: list[Action]
    ) -> tuple[State, dict[str, list[tuple[Observation, Action | None]]]]:
        """Replays a resampled history and returns its end and what `player` saw and did, by view.

        Raises:
            Stop: an action is illegal, which is noted.
        """
        game, report, views = self.game, self.report, self.game.info.views
        state = report.ask("initial_state", game.initial_state)
        seen: dict[str, list[tuple[Observation, Action | None]]] = {view: [] for view in views}
        for action in [*actions, None]:
            if self._mover(state) == player:
                for view in views:
                    seen[view].append((self._see(state, player, view), action))
            if action is None:
                break
            if self._mover(state) == TERMINAL or action not in self._legal(state):
                report.bad("resample_history is illegal", f"{action!r} of {actions} is not legal where it comes")
                raise Stop
            state = report.ask("apply_action", game.apply_action, state, action)
        return state, seen

    def _compare(
        self, player: int, view: str, real: ObsActionHistory, seen: ObsActionHistory, actions: list[Action]
    ) -> None:
        if len(real) != len(seen):
            told = f"player {player} had {len(real)} decision points, {len(seen)} in {actions}"
            self.report.bad("resample_history changes the player's own history", told)
            return
        for number, (was, now) in enumerate(zip(real, seen, strict=True)):
            if was[1] != now[1]:
                told = f"player {player} did {was[1]!r} at decision {number}, {now[1]!r} in {actions}"
                self.report.bad("resample_history changes the player's own history", told)
                return
            if was[0] != now[0]:
                told = f"player {player} saw {was[0]!r} at decision {number}, but {now[0]!r} in the history {actions}"
                self.report.bad(f"view {view} tells apart what the resampler takes for equal", told)
                return
