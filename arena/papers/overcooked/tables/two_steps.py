"""Games of two steps: Alice sees a pet and acts, Bob sees what came of it and guesses; both are paid alike.

The Button Game is the OvercookedV2 paper's (section 4, appendix A.1). Cat-Dog is the problem of Hu et al. (*Off-Belief
Learning*, 2021) that it extends; our copies of the papers do not print its payments, which are settings here.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

PETS: Final = ("cat", "dog")
"""One of them, drawn uniformly, is what Alice sees."""
GUESSED: Final = 10.0
BUTTONS: Final = 10
"""The paper leaves their number open."""


@dataclass(frozen=True)
class TwoSteps:
    """A game; pets, actions and what Bob sees are numbered from 0.

    Attributes:
        name: for tables.
        alice: names of her actions.
        bob: names of his.
        seen: how many things Bob may see.
        sees: (pet, Alice's action) -> which of them; None where the game is over.
        pays: (pet, Alice's action, Bob's or None) -> what both are paid.
    """

    name: str
    alice: tuple[str, ...]
    bob: tuple[str, ...]
    seen: int
    sees: Callable[[int, int], int | None]
    pays: Callable[[int, int, int | None], float]


def button_game(buttons: int = BUTTONS) -> TwoSteps:
    """Returns the Button Game: button a lights bulb 2a + pet, whatever it is for, so that Bob can always tell."""

    def pays(pet: int, action: int, guess: int | None) -> float:
        return GUESSED if guess == pet else -GUESSED

    return TwoSteps(
        name=f"Button Game, {buttons} buttons",
        alice=tuple(f"button {number}" for number in range(buttons)),
        bob=PETS,
        seen=2 * buttons,
        sees=lambda pet, action: 2 * action + pet,
        pays=pays,
    )


def cat_dog(barrier: float = 5.0, alice_leaves: float = 1.0, bob_leaves: float = 0.5) -> TwoSteps:
    """Returns Cat-Dog: a lamp that means nothing by itself is free, to let Bob see the pet costs.

    Args:
        barrier: what it costs to remove the barrier between Bob and the pet.
        alice_leaves: what both are paid if Alice leaves before Bob is asked.
        bob_leaves: what both are paid if Bob does not guess.
    """
    remove, leave, silent = 2, 3, 2

    def sees(pet: int, action: int) -> int | None:
        if action == leave:
            return None
        return remove + pet if action == remove else action

    def pays(pet: int, action: int, guess: int | None) -> float:
        if guess is None:
            return alice_leaves
        paid = bob_leaves if guess == silent else GUESSED if guess == pet else -GUESSED
        return paid - barrier if action == remove else paid

    return TwoSteps(
        name="Cat-Dog",
        alice=("lamp off", "lamp on", "remove the barrier", "leave"),
        bob=(*PETS, "leave"),
        seen=4,
        sees=sees,
        pays=pays,
    )
