"""Small games with known values: trees written out by hand, and tic-tac-toe on JSON states."""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from games.api import CHANCE, TERMINAL, GameInfo


@dataclass
class Spot:
    """A node of a written-out game.

    Attributes:
        player: who moves.
        after: action -> node.
        odds: at a chance node, action -> probability.
        pay: rewards on reaching the node; None: nothing.
        see: what each player sees here, beside its own earlier actions.
    """

    player: int
    after: dict[str, "Spot"] = field(default_factory=dict)
    odds: dict[str, float] = field(default_factory=dict)
    pay: list[float] | None = None
    see: dict[int, Any] = field(default_factory=dict)


def end(*pay: float) -> Spot:
    return Spot(TERMINAL, pay=list(pay))


class WrittenGame:
    """A game from a tree; a state is the list of the actions so far."""

    def __init__(self, root: Spot, players: int, utility: str, low: float, high: float, perfect: bool) -> None:
        self.root = root
        self.info = GameInfo(
            id="written",
            num_players=players,
            utility=utility,  # type: ignore[arg-type]
            min_utility=low,
            max_utility=high,
            perfect_information=perfect,
            has_chance=True,
            player_names=tuple(f"player {player}" for player in range(players)),
        )

    def spot(self, state: list[str]) -> Spot:
        spot = self.root
        for action in state:
            spot = spot.after[action]
        return spot

    def initial_state(self) -> list[str]:
        return []

    def current_player(self, state: list[str]) -> int:
        return self.spot(state).player

    def legal_actions(self, state: list[str]) -> list[str]:
        return list(self.spot(state).after)

    def chance_outcomes(self, state: list[str]) -> list[tuple[str, float]]:
        spot = self.spot(state)
        return list(spot.odds.items()) if spot.player == CHANCE else []

    def apply_action(self, state: list[str], action: str) -> list[str]:
        return [*state, action]

    def rewards(self, state: list[str]) -> list[float]:
        return self.spot(state).pay or [0.0] * self.info.num_players

    def observations(self, state: list[str]) -> list[dict[str, Any]]:
        see = self.spot(state).see
        return [{"sees": see.get(player)} for player in range(self.info.num_players)]


class HiddenGame(WrittenGame):
    """With exact inference, by going through all histories."""

    def resample_history(self, history: Any, player: int, rng: random.Random) -> list[str]:
        fitting = list(self.fitting([], 1.0, list(history), player))
        return rng.choices([path for path, _ in fitting], [weight for _, weight in fitting])[0]

    def fitting(self, path: list[str], weight: float, history: Any, player: int) -> Iterator[tuple[list[str], float]]:
        spot = self.spot(path)
        if spot.player == player:
            seen, done = history[0]
            if self.observations(path)[player] != seen:
                return
            if done is None:
                yield path, weight
            else:
                yield from self.fitting([*path, done], weight, history[1:], player)
            return
        for action in spot.after:
            yield from self.fitting([*path, action], weight * spot.odds.get(action, 1.0), history, player)


class TicTacToe:
    """Tic-tac-toe on JSON states."""

    lines = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))

    def __init__(self) -> None:
        self.info = GameInfo("tic_tac_toe", 2, "win_loss_draw", -1.0, 1.0, True, False, ("x", "o"), 9)

    def initial_state(self) -> dict[str, Any]:
        return {"board": "." * 9}

    def winner(self, board: str) -> str | None:
        return next((board[a] for a, b, c in self.lines if board[a] == board[b] == board[c] != "."), None)

    def current_player(self, state: dict[str, Any]) -> int:
        board = state["board"]
        if self.winner(board) or "." not in board:
            return TERMINAL
        return (9 - board.count(".")) % 2

    def legal_actions(self, state: dict[str, Any]) -> list[str]:
        if self.current_player(state) == TERMINAL:
            return []
        return [str(cell) for cell, mark in enumerate(state["board"]) if mark == "."]

    def chance_outcomes(self, state: dict[str, Any]) -> list[tuple[str, float]]:
        return []

    def apply_action(self, state: dict[str, Any], action: str) -> dict[str, Any]:
        board, cell = state["board"], int(action)
        return {"board": board[:cell] + "xo"[self.current_player(state)] + board[cell + 1 :]}

    def rewards(self, state: dict[str, Any]) -> list[float]:
        winner = self.winner(state["board"])
        return {None: [0.0, 0.0], "x": [1.0, -1.0], "o": [-1.0, 1.0]}[winner]

    def observations(self, state: dict[str, Any]) -> list[dict[str, Any]]:
        return [dict(state), dict(state)]


def pennies() -> HiddenGame:
    """Chance shows a coin to player 0, who bids; player 1, who sees the bid alone, calls the coin.

    Player 1 wins 1 if right and loses 1 if wrong, so player 0 should not let the bid tell.
    """

    def call(coin: str, bid: str) -> Spot:
        right, wrong = end(-1.0, 1.0), end(1.0, -1.0)
        after = {"heads": right if coin == "heads" else wrong, "tails": right if coin == "tails" else wrong}
        return Spot(1, after, see={1: bid})

    def bid(coin: str) -> Spot:
        return Spot(0, {"high": call(coin, "high"), "low": call(coin, "low")}, see={0: coin})

    root = Spot(CHANCE, {"heads": bid("heads"), "tails": bid("tails")}, {"heads": 0.75, "tails": 0.25})
    return HiddenGame(root, 2, "zero_sum", -1.0, 1.0, perfect=False)


@pytest.fixture
def tic_tac_toe() -> TicTacToe:
    return TicTacToe()


@pytest.fixture
def pennies_game() -> HiddenGame:
    return pennies()


@pytest.fixture
def gamble() -> WrittenGame:
    """One decision: 2 for sure, or 10 with probability 0.3."""
    lottery = Spot(CHANCE, {"win": end(10.0), "lose": end(0.0)}, {"win": 0.3, "lose": 0.7})
    return WrittenGame(Spot(0, {"sure": end(2.0), "risk": lottery}), 1, "general_sum", 0.0, 10.0, perfect=True)


@pytest.fixture
def two_doors() -> WrittenGame:
    """Two doors to lotteries with the same odds: who has the same luck at both gets the same."""

    def lottery() -> Spot:
        return Spot(CHANCE, {"win": end(10.0), "lose": end(0.0)}, {"win": 0.3, "lose": 0.7})

    return WrittenGame(Spot(0, {"left": lottery(), "right": lottery()}), 1, "general_sum", 0.0, 10.0, perfect=True)


@pytest.fixture
def three_greedy() -> WrittenGame:
    """Three players in turn; everybody for itself, backward induction gives l, r, l and the returns (2, 6, 3)."""
    tempting = Spot(2, {"l": end(2.0, 6.0, 3.0), "r": end(9.0, 9.0, 1.0)})
    generous = Spot(2, {"l": end(5.0, 5.0, 2.0), "r": end(8.0, 4.0, 9.0)})
    second_left = Spot(1, {"l": generous, "r": tempting})
    meagre = Spot(2, {"l": end(1.0, 0.0, 5.0), "r": end(1.0, 2.0, 4.0)})
    second_right = Spot(1, {"l": meagre, "r": end(1.5, 1.0, 0.0)})
    return WrittenGame(Spot(0, {"l": second_left, "r": second_right}), 3, "general_sum", 0.0, 9.0, perfect=True)


@pytest.fixture
def paid_on_the_way() -> WrittenGame:
    """`early` pays 3 at once and 0 later, `late` 0 at once and 2 later: early is better by step rewards alone."""
    early = Spot(0, {"go": end(0.0)}, pay=[3.0])
    late = Spot(0, {"go": end(2.0)}, pay=[0.0])
    return WrittenGame(Spot(0, {"late": late, "early": early}), 1, "general_sum", 0.0, 3.0, perfect=True)


@pytest.fixture
def meet() -> HiddenGame:
    """Identical interest: player 0 sees a word and points; player 1 sees only the pointing; both win if it fits.

    Pointing costs nothing for `near` and 1 for `far`; a hit pays 4.
    """

    def answer(word: str, sign: str, cost: float) -> Spot:
        after = {guess: end(*[4.0 - cost if guess == word else -cost] * 2) for guess in ("sun", "moon")}
        return Spot(1, after, see={1: sign})

    def sign(word: str) -> Spot:
        return Spot(0, {"near": answer(word, "near", 0.0), "far": answer(word, "far", 1.0)}, see={0: word})

    root = Spot(CHANCE, {"sun": sign("sun"), "moon": sign("moon")}, {"sun": 0.5, "moon": 0.5})
    return HiddenGame(root, 2, "identical", -1.0, 4.0, perfect=False)


@pytest.fixture
def blind_call() -> Callable[..., HiddenGame]:
    """A coin is tossed; player 0, who does not see it, passes (-0.5) or bets; then player 1 calls it, seeing it or not:
    right costs player 0 one, wrong pays one."""

    def make(seen: bool) -> HiddenGame:
        def bet(coin: str) -> Spot:
            calls = {side: end(-1.0, 1.0) if side == coin else end(1.0, -1.0) for side in ("heads", "tails")}
            called = Spot(1, calls, see={1: coin if seen else None})
            return Spot(0, {"bet": called, "pass": end(-0.5, 0.5)})

        root = Spot(CHANCE, {"heads": bet("heads"), "tails": bet("tails")}, {"heads": 0.5, "tails": 0.5})
        return HiddenGame(root, 2, "zero_sum", -1.0, 1.0, perfect=False)

    return make


@pytest.fixture
def late_coin() -> HiddenGame:
    """Chance tosses a coin for player 1; player 0 waits; chance tosses a second one, loaded by the first, for player 1,
    who is `loud` or `quiet`; then player 0 goes on. `policy` is loud after two heads above all."""

    def voice(coins: str) -> Spot:
        after = {sign: Spot(0, {"go": end(0.0, 0.0)}, see={0: sign}) for sign in ("loud", "quiet")}
        return Spot(1, after, see={1: coins})

    def wait(coin: str) -> Spot:
        odds = {"heads": 0.9, "tails": 0.1} if coin == "heads" else {"heads": 0.3, "tails": 0.7}
        return Spot(0, {"wait": Spot(CHANCE, {s: voice(coin + s) for s in odds}, odds)}, see={0: "start"})

    root = Spot(CHANCE, {side: wait(side) for side in ("heads", "tails")}, {"heads": 0.4, "tails": 0.6})
    game: Any = HiddenGame(root, 2, "general_sum", 0.0, 1.0, perfect=False)

    def policy(state: list[str], actions: Any, player: int) -> list[float]:
        if len(actions) == 1:
            return [1.0]
        loud = {0: 0.2, 1: 0.4, 2: 0.9}[state[:3].count("heads")]
        return [loud if action == "loud" else 1.0 - loud for action in actions]

    game.policy = policy
    return game  # type: ignore[no-any-return]
