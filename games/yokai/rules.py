"""The rules of Yōkai as pure functions on plain JSON states.

A state is a dict that is never changed once made; the next state shares with it every part that stays the same.

```
phase      "deal", "play" or "over"
player     whose turn it is; null unless the phase is "play"
sub_step   1 to 4; null unless the phase is "play"
turn       turns completed so far
colours    by card id: a colour word, null until dealt
positions  by card id: [row, column]
locked     by card id: true or false
hints      by hint id: {"status": "face down", "face up" or "placed", "colours": [colour words], null until dealt,
           "card": id of the card that it lies on, null until placed}
observed   by player: ids of the cards that it has ever observed, ascending
log        the players' actions so far, oldest first; four a turn
```
"""

from functools import cache, lru_cache
from typing import Any, Final, Literal, TypeAlias

from games.api import CHANCE, TERMINAL, Action, IllegalActionError
from games.yokai.config import ACTIONS_PER_TURN, Config
from games.yokai.grid import grid

YokaiState: TypeAlias = dict[str, Any]
Kind: TypeAlias = Literal["no-op", "observe", "move", "reveal", "place", "end", "deal", "hint"]
HIDDEN_HINT: Final[dict[str, Any]] = {"status": "face down", "colours": None, "card": None}
"""What everybody sees of a face-down hint, and what a hint is in the state before it is dealt."""
CACHED_POSITIONS: Final = 1 << 14
"""Positions whose lists of legal moves are remembered: some 20 MB."""


class Rules:
    """The rules of one configuration. Immutable but for its caches."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.grid = grid(config.grid)
        self.parsed = self._parse_table()
        self._moves = [
            {
                bit: f"move {card} to {cell // config.grid},{cell % config.grid}"
                for bit, cell in self.grid.cell_of.items()
            }
            for card in range(config.cards)
        ]
        self._observes = [f"observe {card}" for card in range(config.cards)]
        self._reveals = [f"reveal {hint}" for hint in range(config.hints)]
        self._places = [
            {
                bit: f"place {hint} at {cell // config.grid},{cell % config.grid}"
                for bit, cell in self.grid.cell_of.items()
            }
            for hint in range(config.hints)
        ]
        self._legal_moves = lru_cache(maxsize=CACHED_POSITIONS)(self._list_moves)

    def _parse_table(self) -> dict[Action, tuple[Kind, int, list[int]]]:
        """Returns action -> (kind, card or hint id, [row, column])."""
        side = self.config.grid
        cells = [[row, column] for row in range(side) for column in range(side)]
        table: dict[Action, tuple[Kind, int, list[int]]] = {"no-op": ("no-op", -1, []), "end": ("end", -1, [])}
        for card in range(self.config.cards):
            table[f"observe {card}"] = ("observe", card, [])
            table.update({f"move {card} to {row},{column}": ("move", card, [row, column]) for row, column in cells})
        for hint in range(self.config.hints):
            table[f"reveal {hint}"] = ("reveal", hint, [])
            table.update({f"place {hint} at {row},{column}": ("place", hint, [row, column]) for row, column in cells})
        return table

    def initial_state(self) -> YokaiState:
        """Returns the state before anything is dealt."""
        config = self.config
        return {
            "phase": "deal",
            "player": None,
            "sub_step": None,
            "turn": 0,
            "colours": [None] * config.cards,
            "positions": config.start_positions(),
            "locked": [False] * config.cards,
            "hints": [dict(HIDDEN_HINT) for _ in range(config.hints)],
            "observed": [[] for _ in range(config.players)],
            "log": [],
        }

    def current_player(self, state: YokaiState) -> int:
        """Returns the player to move, `CHANCE` or `TERMINAL`."""
        phase = state["phase"]
        if phase == "play":
            return int(state["player"])
        return CHANCE if phase == "deal" else TERMINAL

    # ---------------------------------------------------------------- chance

    def chance_outcomes(self, state: YokaiState) -> list[tuple[Action, float]]:
        """Returns (action, probability) while the game is dealt, else []."""
        if state["phase"] != "deal":
            return []
        colours = state["colours"]
        if None in colours:
            left = colours.count(None)
            counts = [(colour, self.config.cards_per_colour - colours.count(colour)) for colour in self.config.colours]
            return [(f"deal {colour}", count / left) for colour, count in counts if count]
        return self._hint_outcomes([hint["colours"] for hint in state["hints"] if hint["colours"]])

    def _hint_outcomes(self, dealt: list[list[str]]) -> list[tuple[Action, float]]:
        left = self.config.hints - len(dealt)
        outcomes = []
        for size, count in enumerate(self.config.hints_by_size, start=1):
            subsets = [s for s in self.config.subsets if len(s) == size and list(s) not in dealt]
            of_size = count - sum(len(hint) == size for hint in dealt)
            if of_size:
                probability = of_size / left / len(subsets)
                outcomes += [(f"hint {'-'.join(subset)}", probability) for subset in subsets]
        return outcomes

    def _deal(self, state: YokaiState, action: Action) -> YokaiState:
        if action not in [outcome for outcome, _ in self.chance_outcomes(state)]:
            raise self._illegal(state, action)
        word = action.split(" ", 1)[1]
        if action.startswith("deal"):
            colours = list(state["colours"])
            colours[colours.index(None)] = word
            return {**state, "colours": colours}
        hints = list(state["hints"])
        index = next(k for k, hint in enumerate(hints) if hint["colours"] is None)
        hints[index] = {"status": "face down", "colours": word.split("-"), "card": None}
        started = {"phase": "play", "player": 0, "sub_step": 1} if index == len(hints) - 1 else {}
        return {**state, "hints": hints, **started}

    # ---------------------------------------------------------------- legal actions

    def legal_actions(self, state: YokaiState) -> list[Action]:
        """Returns the legal actions in index order; chance's outcomes while the game is dealt; [] at the end."""
        if state["phase"] != "play":
            return [action for action, _ in self.chance_outcomes(state)]
        sub_step = state["sub_step"]
        if sub_step == 3:
            return self.legal_moves(state) or ["no-op"]
        if sub_step == 4:
            return self._legal_hints(state)
        observes = self._observes
        legal = [observes[card] for card, locked in enumerate(state["locked"]) if not locked]
        if sub_step == 1:
            legal.append("end")
        else:
            legal.remove(state["log"][-1])
        return legal

    def legal_moves(self, state: YokaiState) -> list[Action]:
        """Returns the moves that would be legal if it were sub-step 3, [] if there are none."""
        bits = self.grid.bits
        return list(
            self._legal_moves(tuple([bits[row][column] for row, column in state["positions"]]), tuple(state["locked"]))
        )

    def _list_moves(self, cells: tuple[int, ...], locked: tuple[bool, ...]) -> tuple[Action, ...]:
        occupied = sum(cells)
        moves = []
        for card, own in enumerate(cells):
            if locked[card]:
                continue
            strings = self._moves[card]
            targets = self.grid.targets(occupied ^ own) & ~own
            while targets:
                low = targets & -targets
                moves.append(strings[low])
                targets ^= low
        return tuple(moves)

    def _legal_hints(self, state: YokaiState) -> list[Action]:
        hints = state["hints"]
        bits = self.grid.bits
        free = sorted(
            bits[row][column]
            for (row, column), locked in zip(state["positions"], state["locked"], strict=True)
            if not locked
        )
        legal = [self._reveals[k] for k, hint in enumerate(hints) if hint["status"] == "face down"]
        legal += [self._places[k][bit] for k, hint in enumerate(hints) if hint["status"] == "face up" for bit in free]
        return legal

    # ---------------------------------------------------------------- applying actions

    def apply_action(self, state: YokaiState, action: Action) -> YokaiState:
        """Returns the next state, which shares with `state` whatever stays the same.

        Raises:
            IllegalActionError: the action is not legal in `state`.
        """
        phase = state["phase"]
        if phase == "deal":
            return self._deal(state, action)
        parsed = self.parsed.get(action)
        if phase != "play" or parsed is None:
            raise self._illegal(state, action)
        kind, number, cell = parsed
        sub_step = state["sub_step"]
        if kind == "observe":
            return self._observe(state, action, number)
        if sub_step == 3 and (kind == "move" or kind == "no-op"):
            return self._move(state, action, number, cell)
        if sub_step == 4 and (kind == "reveal" or kind == "place"):
            return self._hint(state, action, number, cell)
        if kind == "end" and sub_step == 1:
            return {**state, "phase": "over", "player": None, "sub_step": None, "log": [*state["log"], action]}
        raise self._illegal(state, action)

    def _observe(self, state: YokaiState, action: Action, card: int) -> YokaiState:
        sub_step = state["sub_step"]
        log = state["log"]
        if sub_step > 2 or state["locked"][card] or (sub_step == 2 and log[-1] == action):
            raise self._illegal(state, action)
        observed = state["observed"]
        player = state["player"]
        if card not in observed[player]:
            observed = list(observed)
            observed[player] = sorted([*observed[player], card])
        return {**state, "sub_step": sub_step + 1, "observed": observed, "log": [*log, action]}

    def _move(self, state: YokaiState, action: Action, card: int, cell: list[int]) -> YokaiState:
        log = [*state["log"], action]
        if not cell:
            if self.legal_moves(state):
                raise self._illegal(state, action)
            return {**state, "sub_step": 4, "log": log}
        positions = list(state["positions"])
        bits = self.grid.bits
        others = 0
        for row, column in positions:
            others |= bits[row][column]
        own = bits[positions[card][0]][positions[card][1]]
        target = bits[cell[0]][cell[1]]
        if state["locked"][card] or target == own or not self.grid.targets(others ^ own) & target:
            raise self._illegal(state, action)
        positions[card] = [cell[0], cell[1]]
        return {**state, "sub_step": 4, "positions": positions, "log": log}

    def _hint(self, state: YokaiState, action: Action, index: int, cell: list[int]) -> YokaiState:
        hints = list(state["hints"])
        old = hints[index]
        following = {"turn": state["turn"] + 1, "log": [*state["log"], action]}
        if not cell:
            if old["status"] != "face down":
                raise self._illegal(state, action)
            hints[index] = {"status": "face up", "colours": old["colours"], "card": None}
            return {**state, **following, "player": self._next(state), "sub_step": 1, "hints": hints}
        positions = state["positions"]
        card = positions.index(cell) if cell in positions else -1
        if old["status"] != "face up" or card < 0 or state["locked"][card]:
            raise self._illegal(state, action)
        hints[index] = {"status": "placed", "colours": old["colours"], "card": card}
        locked = list(state["locked"])
        locked[card] = True
        if all(hint["status"] == "placed" for hint in hints):
            ended: dict[str, Any] = {"phase": "over", "player": None, "sub_step": None}
        else:
            ended = {"player": self._next(state), "sub_step": 1}
        return {**state, **following, **ended, "locked": locked, "hints": hints}

    def _next(self, state: YokaiState) -> int:
        return (int(state["player"]) + 1) % self.config.players

    def _illegal(self, state: YokaiState, action: Action) -> IllegalActionError:
        legal = self.legal_actions(state)
        shown = ", ".join(legal[:8]) + (", …" if len(legal) > 8 else "")
        where = f"phase {state['phase']}, sub-step {state['sub_step']}"
        return IllegalActionError(
            f"{action!r} is not legal in {self.config.id} ({where}); legal: {shown or 'nothing'}."
        )


@cache
def rules_of(config: Config) -> Rules:
    """Returns the rules of `config`; the same object for the same configuration, so that caches are shared."""
    return Rules(config)


def turn_start(state_or_view: YokaiState) -> int:
    """Returns the index in the full log at which the turn in progress began."""
    return ACTIONS_PER_TURN * int(state_or_view["turn"])
