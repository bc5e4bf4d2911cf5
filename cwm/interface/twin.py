"""The functions of a compiled twin: one game as a program on arrays, for prompts as `cwm.interface.program` is."""

from typing import Any, Final, Protocol, TypeAlias

from cwm.interface.program import Action, State

Array: TypeAlias = Any
"""A JAX array while a program is traced; anything that NumPy makes an array of where plain Python is asked for."""


class TwinProgram(Protocol):
    """A game on arrays, beside the program on JSON states that it must equal."""

    def list_actions(self) -> list[Action]:
        """Returns every action string that a player can ever take, each once, in a fixed order. The place of an action
        in this list is its index. Plain Python."""
        ...

    def list_chance_outcomes(self) -> list[Action]:
        """Returns every action string that chance can ever take, each once, in a fixed order; [] in a game without
        chance. The place of an outcome in this list is its index. Plain Python."""
        ...

    def encode(self, state: State) -> dict[str, Array]:
        """Returns the one dictionary of arrays that stands for a JSON state of the module: the same names, shapes and
        types for every state. Plain Python: lists of numbers, or NumPy arrays."""
        ...

    def decode(self, arrays: dict[str, Array]) -> State:
        """Returns the JSON state of which `encode` made `arrays`, every key and value. `arrays` holds numbers and
        nested lists of numbers. Plain Python."""
        ...

    def init(self) -> dict[str, Array]:
        """Returns the arrays of INITIAL_STATE: equal to `encode(INITIAL_STATE)`."""
        ...

    def step(self, arrays: dict[str, Array], index: Array) -> dict[str, Array]:
        """Returns the arrays of the state after one action: equal to `encode(apply_action(state, action))`. `index` is
        an int32 scalar: the action's place in `list_actions()` where a player is to move, in `list_chance_outcomes()`
        where chance is. Only legal actions matter; what it returns for others is free."""
        ...

    def player(self, arrays: dict[str, Array]) -> Array:
        """Returns who is to move as an int32 scalar: 0, 1, ...; -1 for chance; -4 when the game is over."""
        ...

    def legal(self, arrays: dict[str, Array]) -> Array:
        """Returns which actions the player to move may take, bool [number of actions]; all False at chance nodes and
        when the game is over."""
        ...

    def chance(self, arrays: dict[str, Array]) -> Array:
        """Returns the probability of every chance outcome, float32 [number of chance outcomes]: at a chance node they
        sum to 1, anywhere else all are 0."""
        ...

    def rewards(self, arrays: dict[str, Array]) -> Array:
        """Returns each player's reward for the last action, float32 [number of players]: as `get_rewards`."""
        ...

    def observe(self, arrays: dict[str, Array], player_id: int) -> Array:
        """Returns what a player sees as a vector, float32 [width], laid out as described. `player_id` is a Python
        number."""
        ...


TABLES: Final = ("list_actions", "list_chance_outcomes")
PLAIN: Final = ("encode", "decode")
TRACED: Final = ("init", "step", "player", "legal", "chance", "rewards", "observe")
TWIN_FUNCTIONS: Final = (*TABLES, *PLAIN, *TRACED)
TWIN_MODULES: Final = ("numpy", "jax")
"""Modules that a twin may import beside those of every program."""
