"""The button game as a `PosgModel`; `RULES.md` is the specification.

Rules: Gessler et al., "OvercookedV2" (2025), appendix A.1. No convention is needed to play it well with a stranger.
"""

from collections.abc import Sequence
from typing import Final, TypeAlias

from games.api import Json
from games.posg.api import Choose, Joint, Moved, PosgError, PosgInfo
from games.posg.chance import uniform_over

Talk: TypeAlias = tuple[int, int, int]
"""Pet (0 cat, 1 dog), lamp that is lit (-1 none), 1 if over."""
Shown: TypeAlias = tuple[int, int]
"""Pet and lamp, -1 where the agent does not see it."""

PETS: Final = ("cat", "dog")
ALICE: Final = 0
RIGHT: Final = 10.0
WRONG: Final = -10.0
DARK: Final = -1


class ButtonGame:
    """State: `Talk`. Observation: `Shown`."""

    def __init__(self, buttons: int = 5, steps: int = 2) -> None:
        """Makes the game.

        Args:
            buttons: that Alice can press.
            steps: after which it is broken off; it takes two.

        Raises:
            PosgError: there is no button.
        """
        if buttons < 1:
            raise PosgError(f"button-game has 1 button or more, not {buttons}.")
        self._buttons: Final = tuple(f"press {number}" for number in range(buttons))
        self.info = PosgInfo(
            id="button-game",
            agent_names=("Alice", "Bob"),
            utility="identical",
            actions=(self._buttons, tuple(f"guess {pet}" for pet in PETS)),
            min_step=WRONG,
            max_step=RIGHT,
            min_utility=WRONG,
            max_utility=RIGHT,
            step_limit=steps,
        )

    def initial_state(self, choose: Choose) -> Talk:
        return PETS.index(choose("pet", uniform_over(PETS))), DARK, 0

    def active(self, state: Talk) -> Sequence[int]:
        _, lamp, over = state
        return () if over else (0,) if lamp == DARK else (1,)

    def legal_actions(self, state: Talk, agent: int) -> Sequence[str]:
        return self.info.actions[agent] if agent in self.active(state) else ()

    def move(self, state: Talk, actions: Joint, choose: Choose) -> Moved:
        pet, lamp, _ = state
        if lamp == DARK:
            return (pet, 2 * self._buttons.index(actions[0]) + pet, 0), (0.0, 0.0), (False, False)
        paid = RIGHT if actions[1] == f"guess {PETS[pet]}" else WRONG
        return (pet, lamp, 1), (paid, paid), (True, True)

    def observe(self, state: Talk, actions: Joint | None, choose: Choose) -> Sequence[Shown]:
        pet, lamp, _ = state
        return ((pet, lamp), (-1, lamp))

    def state_to_json(self, state: Talk) -> Json:
        pet, lamp, over = state
        return {"pet": PETS[pet], "lamp": None if lamp == DARK else lamp, "over": bool(over)}

    def state_from_json(self, described: Json) -> Talk:
        lamp = described["lamp"]
        return PETS.index(described["pet"]), DARK if lamp is None else lamp, int(described["over"])

    def observation_to_json(self, agent: int, observation: Shown) -> Json:
        pet, lamp = observation
        shown: dict[str, Json] = {"lamp": None if lamp == DARK else lamp}
        return shown | ({"pet": PETS[pet]} if agent == ALICE else {})

    def render(self, state: Talk, agent: int | None = None) -> str:
        pet, lamp, _ = state
        shown = "no lamp is lit" if lamp == DARK else f"lamp {lamp} is lit"
        return shown if agent == 1 else f"the pet is a {PETS[pet]}; {shown}"
