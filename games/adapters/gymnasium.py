"""One seat of a game as an environment of Gymnasium; needs the extra `interop`.

The other seats are opponents, chance is the environment's own. An action is a number of a fixed list; which are legal
is told in `info["action_mask"]` (int8, as `Discrete.sample` takes it) and by `action_masks()`, which the masked
learners of sb3-contrib ask. Of an action that is not legal, the legal one of the lowest number is played instead and
`info["illegal"]` is True, so that learners without masks get along.
"""

import json
import random
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Final

import numpy as np
import numpy.typing as npt

from games.adapters.observed import Floats, ObservationEncoder, SeatVectors, legal_choice, mask_of, table_of
from games.adapters.seats import Opponent, plays_at_random, seat_of
from games.api import Action, Game, GameError
from games.extras import install
from games.posg.api import PosgModel

try:
    import gymnasium
    from gymnasium import spaces
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        f"games.adapters.gymnasium needs {error.name}, which is not installed; run: {install('interop')}.",
        name=error.name,
    ) from error

ANSI: Final = "ansi"


class SeatEnv(gymnasium.Env[Floats, np.int64]):
    """One seat of a game.

    A reward is what the seat was paid since its last action. `terminated`: the game is over for the seat; `truncated`:
    it was cut at a limit of steps.

    Attributes:
        actions: the strings of the actions, by number.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": [ANSI], "render_fps": 1}

    def __init__(
        self,
        game: Game | PosgModel,
        seat: int = 0,
        opponents: Opponent | Sequence[Opponent] = plays_at_random,
        *,
        encoder: ObservationEncoder | None = None,
        actions: Sequence[Action] | None = None,
        most: int | None = None,
        render_mode: str | None = None,
        on_close: Callable[[], object] | None = None,
    ) -> None:
        """Makes the environment.

        Args:
            game: of turns or of simultaneous moves.
            seat: the learner's, from 0.
            opponents: one for all other seats, or one for each in their order.
            encoder: of the learner's observations; None for the game's own vectors (`games.posg.api.Vectors`).
            actions: the learner's, by number; None for those that the game states or a search finds.
            most: actions of players (of simultaneous moves: steps) after which a game is cut; None for its own limit.
            render_mode: None, or `ansi`: `render` returns the seat's own view as text.
            on_close: called when the environment is closed.

        Raises:
            GameError: there is no such seat, the opponents are too few or too many, or there is nothing to encode by.
        """
        if render_mode not in (None, ANSI):
            raise GameError(f"{game.info.id} can be rendered as {ANSI!r}, not as {render_mode!r}.")
        self.render_mode = render_mode
        self._id, self._on_close = game.info.id, on_close
        self._seat = seat_of(game, seat, opponents, most)
        self._vectors = SeatVectors(game, seat, encoder)
        self._table = table_of(game, seat, actions)
        self.actions: Final = self._table.names
        self.observation_space = spaces.Box(self._vectors.low, self._vectors.high, dtype=np.float32)
        self.action_space = spaces.Discrete(len(self.actions))
        self._mask = mask_of(self._table, ())
        self._is_asked, self._early = False, 0.0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Floats, dict[str, Any]]:
        """Begins a game and plays on to the seat's first decision; games that end before it are passed over."""
        super().reset(seed=seed)
        for _ in range(1000):
            self._early = self._seat.begin(random.Random(int(self.np_random.integers(1 << 62))))
            if not self._seat.is_over and not self._seat.is_cut:
                break
        else:
            raise GameError(f"{self._id}: in 1000 games the seat was asked for nothing; choose another seat.")
        self._is_asked = True
        return self._observation(), self._info(True)

    def step(self, action: np.int64) -> tuple[Floats, float, bool, bool, dict[str, Any]]:
        """Plays an action and goes on to the seat's next decision.

        Raises:
            GameError: the number is none of the list, no game is under way, or an opponent's action is not legal.
        """
        if not self._is_asked:
            raise GameError(f"{self._id}: no game is under way; call reset() first.")
        chosen, is_legal = legal_choice(self._table, action, self._mask)
        paid, self._early = self._seat.play(chosen) + self._early, 0.0
        is_over, is_cut = self._seat.is_over, self._seat.is_cut
        self._is_asked = not is_over and not is_cut
        return self._observation(), paid, is_over, is_cut, self._info(is_legal)

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Returns which actions are legal now, bool [N]."""
        return self._mask.astype(bool)

    def render(self) -> str | None:
        """Returns the seat's own view as text, None without a render mode."""
        if self.render_mode is None:
            return None
        return self._seat.render() or json.dumps(self._seat.seen(), ensure_ascii=False)

    def close(self) -> None:
        """Frees what the environment was given to free; may be called more than once."""
        if self._on_close is not None:
            self._on_close()
            self._on_close = None

    def _observation(self) -> Floats:
        return self._vectors.write(self._seat.raw(), {} if self._vectors.own else self._seat.seen())

    def _info(self, is_legal: bool) -> dict[str, Any]:
        self._mask = mask_of(self._table, self._seat.legal() if self._is_asked else ())
        return {"action_mask": self._mask, "illegal": not is_legal}
