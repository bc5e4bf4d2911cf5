"""Any game with its words scrambled: what a language model may know of a game from elsewhere does not help it.

Every word (a run of ASCII letters) in states, observations, actions and players' names is enciphered, digits and
punctuation stay. A letter's shift depends on its place and on the letter before, so that neither the frequencies of
letters nor their patterns show through; case and length stay, and different words stay different.
"""

import random
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from games import registry
from games.api import (
    DEFAULT_VIEW,
    Action,
    EstimatesValue,
    Game,
    GameError,
    GameInfo,
    Json,
    ObsActionHistory,
    Observation,
    PlaysOut,
    ReportsOutcome,
    ResamplesHistory,
    State,
    state_to_json,
)

PREFIX: Final = "scrambled:"
"""Of the ids of scrambled games, e.g. `scrambled:yokai-9c-2p`."""
_WORD: Final = re.compile("[A-Za-z]+")
_LETTERS: Final = 26
_PLACES: Final = 16
_KNOWN: Final = 100_000
"""Texts whose other form is kept, at most."""


class Cipher:
    """Enciphers words, each letter by a shift that the letter before it decides.

    Args:
        seed: another seed is another cipher.
    """

    def __init__(self, seed: int) -> None:
        rng = random.Random(f"scrambled words {seed}")
        # By place and by the letter before, 26 for none; never 0: every letter becomes another.
        self._shifts = [[rng.randrange(1, _LETTERS) for _ in range(_LETTERS + 1)] for _ in range(_PLACES)]
        self._enciphered: dict[str, str] = {}
        self._deciphered: dict[str, str] = {}

    def encipher(self, value: Json) -> Json:
        """Returns a JSON value with all its words, keys included, enciphered."""
        return self._mapped(value, self._enciphered, 1)

    def decipher(self, value: Json) -> Json:
        """Returns what `encipher` was given."""
        return self._mapped(value, self._deciphered, -1)

    def _mapped(self, value: Json, known: dict[str, str], sign: int) -> Json:
        if isinstance(value, str):
            if value not in known:
                if len(known) >= _KNOWN:
                    known.clear()
                known[value] = _WORD.sub(lambda found: self._word(found.group(), sign), value)
            return known[value]
        if isinstance(value, Mapping):
            return {self._mapped(key, known, sign): self._mapped(item, known, sign) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self._mapped(item, known, sign) for item in value]
        return value

    def _word(self, word: str, sign: int) -> str:
        before = _LETTERS
        letters = []
        for place, letter in enumerate(word):
            first = ord("a" if letter.islower() else "A")
            number = ord(letter) - first
            changed = (number + sign * self._shifts[place % _PLACES][before]) % _LETTERS
            before = number if sign > 0 else changed
            letters.append(chr(first + changed))
        return "".join(letters)


class Scrambled:
    """A game with its words scrambled; its rules, its payoffs and what is hidden stay.

    States are those of the game itself; as JSON (`state_to_json`), in observations and in actions the words are
    scrambled.

    Args:
        game: any game.
        seed: of the cipher.
    """

    def __init__(self, game: Game, seed: int = 0) -> None:
        self._game = game
        self._cipher = Cipher(seed)
        info = game.info
        self._info = replace(
            info,
            id=PREFIX + info.id,
            player_names=tuple(map(self._cipher.encipher, info.player_names)),
            views=(DEFAULT_VIEW,),
        )

    @property
    def info(self) -> GameInfo:
        return self._info

    def initial_state(self) -> State:
        return self._game.initial_state()

    def current_player(self, state: State) -> int:
        return self._game.current_player(state)

    def legal_actions(self, state: State) -> list[Action]:
        return [self._cipher.encipher(action) for action in self._game.legal_actions(state)]

    def chance_outcomes(self, state: State) -> list[tuple[Action, float]]:
        return [(self._cipher.encipher(action), share) for action, share in self._game.chance_outcomes(state)]

    def apply_action(self, state: State, action: Action) -> State:
        return self._game.apply_action(state, self._cipher.decipher(action))

    def rewards(self, state: State) -> list[float]:
        return self._game.rewards(state)

    def observations(self, state: State) -> list[Observation]:
        return [self._cipher.encipher(observation) for observation in self._game.observations(state)]

    def state_to_json(self, state: State) -> Json:
        """Returns the state as JSON, its words scrambled."""
        return self._cipher.encipher(state_to_json(self._game, state))


class _Resamples(Scrambled):
    """A scrambled game whose histories can be resampled."""

    _game: Any

    def resample_history(self, history: ObsActionHistory, player: int, rng: random.Random) -> list[Action]:
        """Returns a history that `player` cannot tell from the real one, see `games.api.ResamplesHistory`."""
        plain = [(self._cipher.decipher(seen), self._cipher.decipher(done)) for seen, done in history]
        return [self._cipher.encipher(action) for action in self._game.resample_history(plain, player, rng)]


def scramble(game: Game, seed: int = 0) -> Game:
    """Returns `game` with its words scrambled.

    It resamples histories, plays out, estimates values and reports outcomes where `game` does.

    Args:
        game: any game.
        seed: of the cipher.

    Raises:
        GameError: the game is scrambled already.
    """
    if game.info.id.startswith(PREFIX):
        raise GameError(f"{game.info.id} is scrambled already; scramble the game itself, with a seed.")
    made = (_Resamples if isinstance(game, ResamplesHistory) else Scrambled)(game, seed)
    # The optional protocols are told by the methods that a game has: these need no words.
    for protocol, name in ((PlaysOut, "playout"), (EstimatesValue, "value"), (ReportsOutcome, "outcome")):
        if isinstance(game, protocol):
            setattr(made, name, getattr(game, name))
    return made


def make(game: str, seed: int = 0, **params: Any) -> Game:
    """Returns a registered game with its words scrambled.

    Args:
        game: as for `games.registry.make`.
        seed: of the cipher.
        **params: of the game.

    Raises:
        GameError: there is no such game, or it is scrambled already.
    """
    return scramble(registry.make(game, **params), seed)
