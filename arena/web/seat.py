"""The seat of a person who plays in the browser."""

from queue import SimpleQueue
from threading import Lock

from arena.agents.api import Move, Needs, Turn
from games.api import DEFAULT_VIEW, Action, GameInfo


class PlayerLeftError(Exception):
    """The person left the table: nothing is scored."""


class BrowserAgent:
    """Waits for moves that come from a page.

    Args:
        name: of the player.
        view: what it is shown.
    """

    needs = Needs(legal_actions=True)

    def __init__(self, name: str, view: str = DEFAULT_VIEW) -> None:
        self.name = name
        self.view = view
        self.legal: tuple[Action, ...] = ()
        """While a move is awaited, the legal ones; () otherwise, and as soon as one was chosen."""
        self.turn = 0
        """Number of the decision that is awaited, from 1: a page's late answer is not taken for the next one."""
        self._moves: SimpleQueue[Action | None] = SimpleQueue()
        self._lock = Lock()

    def start(self, info: GameInfo, seat: int, seed: int) -> None:
        pass

    def act(self, turn: Turn) -> Move:
        """Waits for a move.

        Raises:
            PlayerLeftError: the person left.
        """
        with self._lock:
            self.turn += 1
            self.legal = turn.legal_actions
        given = self._moves.get()
        self.legal = ()
        if given is None:
            raise PlayerLeftError
        return Move(given)

    def close(self) -> None:
        pass

    def choose(self, turn: int, action: Action) -> bool:
        """Takes a move; returns whether it is legal now. Called by other threads."""
        with self._lock:
            if turn != self.turn or action not in self.legal:
                return False
            self.legal = ()
        self._moves.put(action)
        return True

    def leave(self) -> None:
        """Ends the wait; called by other threads."""
        self._moves.put(None)
