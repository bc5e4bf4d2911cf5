"""What happens in a step: chefs move, then use what they face one after the other, then time passes.

A kitchen's state is a tuple of tuples: of each chef cell, facing and item; the items of `Kitchen.holders`; what is left
of cooking, by pot; of the light of each button; the recipe; and whether the right dish was delivered in the last step.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeAlias

from games.posg.overcooked_v2.kitchens import (
    BUTTON,
    COOKED,
    COUNTER,
    DISH,
    FACINGS,
    FULL,
    HATCH,
    PILES,
    PLATE,
    POT,
    Cell,
    Item,
    Kitchen,
    count,
)

Table: TypeAlias = tuple[tuple[int, ...], tuple[Item, ...], tuple[int, ...], tuple[int, ...], Item, bool]
"""Chefs (three numbers each), items, cooking, lights, recipe, praised."""

ACTIONS: Final = ("right", "down", "left", "up", "stay", "interact")
MOVES: Final = tuple(FACINGS.index(action) for action in ACTIONS[:4])
"""Facing by number of an action."""
INTERACT: Final = 5

COOKING: Final = 20
LIGHT: Final = 10
"""Steps; the first of them is over with the step in which it begins."""
DELIVERY: Final = 20
PRESS: Final = -5

POTTED: Final = 3
SERVED: Final = 5
STARTED: Final = 5
PLATED: Final = 3
"""Shaping: a useful ingredient in a pot, the right dish on a plate, the right pot started, a plate that is needed."""


@dataclass(frozen=True)
class House:
    """What may be chosen of a kitchen; the defaults are JaxMARL's.

    Attributes:
        sight: cells that a chef sees each way; None: all.
        starts: chefs begin anywhere in their rooms, facing anywhere.
        wrong: a wrong delivery costs as much as the right one pays.
        redrawn: the right delivery draws the recipe anew.
        signal: chefs see that the right dish was delivered in the last step.
        started: pots begin to cook when a chef with empty hands starts them; otherwise as soon as they are full.
        random: the kitchen begins with things in it; then so do `starts`.
        steps: after which a game is broken off.
    """

    sight: int | None = None
    starts: bool = False
    wrong: bool = False
    redrawn: bool = False
    signal: bool = False
    started: bool = False
    random: bool = False
    steps: int = 400


class Stepped(NamedTuple):
    """What a step makes.

    Attributes:
        table: after it, with the recipe of before.
        paid: to every chef.
        shaping: by chef: a training signal, which is no part of what is paid.
    """

    table: Table
    paid: int
    shaping: tuple[int, ...]


class KitchenRules:
    """The rules of one kitchen."""

    def __init__(self, kitchen: Kitchen, house: House) -> None:
        self.kitchen, self.house = kitchen, house
        self._agents = range(len(kitchen.starts))
        self._nothing = (0,) * len(kitchen.starts)

    def step(self, table: Table, actions: Sequence[int]) -> Stepped:
        """Plays a step in which every chef does the action of a number."""
        chefs, items, cooking, lights, recipe, _ = table
        chefs = self._moved(chefs, actions)
        paid, praised, shaping = 0, False, self._nothing
        if INTERACT in actions:
            work = _Work(self, (chefs, items, cooking, lights, recipe, False))
            for agent in self._agents:
                if actions[agent] == INTERACT:
                    work.use(agent)
            chefs, items, cooking, lights = map(tuple, (work.chefs, work.items, work.cooking, work.lights))
            paid, praised, shaping = work.paid, work.praised, tuple(work.shaping)
        if any(cooking):
            if 1 in cooking:
                done = [item | COOKED if left == 1 else item for item, left in zip(items, cooking, strict=False)]
                items = (*done, *items[len(done) :])
            cooking = tuple([left - 1 if left else 0 for left in cooking])
        if any(lights):
            lights = tuple([left - 1 if left else 0 for left in lights])
        return Stepped((chefs, items, cooking, lights, recipe, praised), paid, shaping)

    def _moved(self, chefs: tuple[int, ...], actions: Sequence[int]) -> tuple[int, ...]:
        """Returns the chefs after all have turned and those who could have stepped."""
        after, moved, cells, meets = self.kitchen.after, list(chefs), chefs[::3], False
        for agent in self._agents:
            action = actions[agent]
            if action < 4:
                facing = moved[3 * agent + 1] = MOVES[action]
                cell = cells[agent]
                there = after[facing][cell]
                if there != cell:
                    meets = meets or there in cells or there in moved[: 3 * agent : 3]
                    moved[3 * agent] = there
        if meets:
            moved[::3] = apart(cells, moved[::3])
        return tuple(moved)


def apart(cells: Sequence[Cell], wishes: Sequence[Cell]) -> list[Cell]:
    """Returns where chefs are who wish to be in some cells: nobody shares one, and no two change places.

    Whoever would share a cell stays where it was, which may make another do so, and so on; then two who would
    change places both stay.
    """
    now = list(wishes)
    while len(set(now)) < len(now):
        now = [cell if now.count(wish) > 1 else wish for cell, wish in zip(cells, now, strict=True)]
    changing = [
        any(now[other] == cells[one] and now[one] == cells[other] for other in range(len(now)) if other != one)
        for one in range(len(now))
    ]
    return [cell if stays else wish for cell, wish, stays in zip(cells, now, changing, strict=True)]


class _Work:
    """A kitchen in which chefs use what they face, one after the other."""

    def __init__(self, rules: KitchenRules, table: Table) -> None:
        chefs, items, cooking, lights, self._recipe, _ = table
        self.chefs, self.items, self.cooking, self.lights = list(chefs), list(items), list(cooking), list(lights)
        self.paid, self.praised, self.shaping = 0, False, [0] * (len(chefs) // 3)
        self._faced, self._house = rules.kitchen.faced, rules.house
        self._plates = chefs[2::3].count(PLATE)

    def use(self, agent: int) -> None:
        """Lets a chef use what it faces."""
        cell, facing, held = self.chefs[3 * agent : 3 * agent + 3]
        kind, slot, given = self._faced[facing][cell]
        if kind == COUNTER:
            here = self.items[slot]
            if not here or not held:
                self.items[slot], held = held, here
        elif kind == PILES[0]:
            if not held:
                held = given
                if given == PLATE and self._needs_plate():
                    self.shaping[agent] += PLATED
        elif kind == POT:
            held = self._at_pot(agent, slot, held)
        elif kind == HATCH:
            if held & COOKED:
                right = held == self._recipe | DISH
                self.praised |= right
                self.paid += DELIVERY if right else -DELIVERY if self._house.wrong else 0
                held = 0
        elif kind == BUTTON and not held:
            self.lights[slot] = LIGHT
            self.paid += PRESS
        self.chefs[3 * agent + 2] = held

    def _at_pot(self, agent: int, slot: int, held: Item) -> Item:
        """Lets a chef use a pot, and returns what it holds then."""
        here = self.items[slot]
        if self.cooking[slot]:
            return held
        if here & COOKED:
            if held != PLATE:
                return held
            self.items[slot] = 0
            if here | DISH == self._recipe | DISH:
                self.shaping[agent] += SERVED
            return here | DISH
        if held > DISH and not held & PLATE and count(here) < FULL:
            kinds = held | held << 1  # both bits of the ingredient
            if here & kinds < self._recipe & kinds:
                self.shaping[agent] += POTTED
            here += held
            self.items[slot], held = here, 0
        elif self._house.started and here and not held:
            self.cooking[slot] = COOKING
            if here == self._recipe:
                self.shaping[agent] += STARTED
        if not self._house.started and count(here) == FULL:
            self.cooking[slot] = COOKING
        return held

    def _needs_plate(self) -> bool:
        """Whether fewer plates were held before anybody did anything than pots hold something, and none lies about."""
        pots = self.items[: len(self.cooking)]
        return PLATE not in self.items and self._plates < len(pots) - pots.count(0)
