"""The cat-dog game as a `PosgModel`; `RULES.md` is the specification.

Rules: Hu et al., "Off-belief learning" (2021), the game of its introduction. Partners who learned together use the lamp
as a code; a stranger is told the truth by the open door alone. What giving up pays is a parameter, not checked against
the paper.
"""

from collections.abc import Sequence
from typing import Final, TypeAlias

from games.api import Json
from games.posg.api import Choose, Joint, Moved, PosgInfo
from games.posg.chance import uniform_over

Signal: TypeAlias = tuple[int, int, int]
"""Pet (0 cat, 1 dog), what Alice did (a number in `ALICES`, -1 nothing yet), 1 if over."""
Known: TypeAlias = tuple[int, int]
"""Pet, -1 where the agent does not see it, and what Alice did."""

PETS: Final = ("cat", "dog")
ALICES: Final = ("lamp on", "lamp off", "open door", "give up")
BOBS: Final = ("guess cat", "guess dog", "give up")
OPEN: Final = 2
RIGHT: Final = 10.0
WRONG: Final = -10.0
COST: Final = 5.0


class CatDog:
    """State: `Signal`. Observation: `Known`."""

    def __init__(self, alice_gives_up: float = 1.0, bob_gives_up: float = 0.5, steps: int = 2) -> None:
        """Makes the game.

        Args:
            alice_gives_up: what both are paid if Alice gives up.
            bob_gives_up: what both are paid if Bob does.
            steps: after which it is broken off; it takes two.
        """
        self._given_up = alice_gives_up, bob_gives_up
        self.info = PosgInfo(
            id="cat-dog",
            agent_names=("Alice", "Bob"),
            utility="identical",
            actions=(ALICES, BOBS),
            min_step=min(WRONG, *self._given_up),
            max_step=max(RIGHT, *self._given_up),
            min_utility=min(WRONG, *self._given_up) - COST,
            max_utility=max(RIGHT, *self._given_up),
            step_limit=steps,
        )

    def initial_state(self, choose: Choose) -> Signal:
        return PETS.index(choose("pet", uniform_over(PETS))), -1, 0

    def active(self, state: Signal) -> Sequence[int]:
        _, done, over = state
        return () if over else (0,) if done < 0 else (1,)

    def legal_actions(self, state: Signal, agent: int) -> Sequence[str]:
        return self.info.actions[agent] if agent in self.active(state) else ()

    def move(self, state: Signal, actions: Joint, choose: Choose) -> Moved:
        pet, done, _ = state
        if done < 0:
            done = ALICES.index(actions[0])
            is_over = done == len(ALICES) - 1
            paid = self._given_up[0] if is_over else -COST if done == OPEN else 0.0
            return (pet, done, int(is_over)), (paid, paid), (is_over, is_over)
        guess = BOBS.index(actions[1])
        paid = self._given_up[1] if guess == len(PETS) else RIGHT if guess == pet else WRONG
        return (pet, done, 1), (paid, paid), (True, True)

    def observe(self, state: Signal, actions: Joint | None, choose: Choose) -> Sequence[Known]:
        pet, done, _ = state
        return ((pet, done), (pet if done == OPEN else -1, done))

    def state_to_json(self, state: Signal) -> Json:
        pet, done, over = state
        return {"pet": PETS[pet], "done": None if done < 0 else ALICES[done], "over": bool(over)}

    def state_from_json(self, described: Json) -> Signal:
        done = described["done"]
        return PETS.index(described["pet"]), -1 if done is None else ALICES.index(done), int(described["over"])

    def observation_to_json(self, agent: int, observation: Known) -> Json:
        pet, done = observation
        return {"pet": None if pet < 0 else PETS[pet], "done": None if done < 0 else ALICES[done]}

    def render(self, state: Signal, agent: int | None = None) -> str:
        pet, done, _ = state
        shown = "Alice has not chosen" if done < 0 else f"Alice chose: {ALICES[done]}"
        return shown if agent == 1 and done != OPEN else f"the pet is a {PETS[pet]}; {shown}"
