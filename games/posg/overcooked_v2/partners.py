"""Chefs that do the next useful thing: `chef` what is most wanted, `cook` sees to pots first, `server` to plates.

A chef knows its kitchen. From what it sees it works out where it may stand; it remembers the recipe and what lay where,
and takes a shortest way to what it wants next. It does not plan for what others do; where one is in its way, it
sidesteps at random. A chef that does not know the recipe looks for a board or lights a button; where it can reach
neither, it goes by what lies in the pots, and waits while that tells nothing.
"""

import random
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import Final, NamedTuple, TypeAlias

from games.api import Action, ObsActionHistory
from games.posg.overcooked_v2 import model as kitchens
from games.posg.overcooked_v2.kitchens import (
    BOARD,
    BUTTON,
    COOKED,
    COUNTER,
    DISH,
    FULL,
    HATCH,
    INGREDIENTS,
    PILES,
    PLATE,
    PLATES,
    POT,
    STEPS,
    Cell,
    Item,
    Kitchen,
    count,
    ingredient,
)
from games.posg.overcooked_v2.model import OvercookedV2
from games.posg.overcooked_v2.rules import ACTIONS, INTERACT, MOVES
from games.posg.overcooked_v2.sight import Seen
from games.posg.policies import DrawnPolicy, PosgPolicy, at_the_table, evenly

Wish: TypeAlias = Callable[[Cell], bool]
"""Whether a chef would like to use a cell."""
Lying: TypeAlias = Mapping[Cell, Item]
"""What was last seen, by cell of `Kitchen.holders`."""
Pots: TypeAlias = Mapping[Cell, tuple[Item, int]]
"""What was last seen in pots, and how long they still cook."""

ROLES: Final = ("chef", "cook", "server")
STRAYS: Final = (0.05, 0.5)
"""How often a chef does anything at random, so that two do not wait for each other for ever; and one whose way was
blocked."""
DARK: Final = 30
"""After so many steps a chef that knows the recipe, and cannot reach a pot, lights a button for the others."""
NEAR: Final = 2
"""Chefs so many cells away are gone around."""


class ChefsMind(NamedTuple):
    """What a chef remembers.

    Attributes:
        agent: its number.
        cells: where it may stand.
        facing: of it.
        held: item in its hands.
        others: cells of others in sight, and what they hold.
        items: last seen, by `Kitchen.holders`.
        cooking: last seen, by pot; counted down since.
        recipe: last seen; 0: unknown.
        blocked: it wished to step, and did not.
        dark: steps since a button was seen lit, at most `DARK`.
    """

    agent: int
    cells: tuple[Cell, ...]
    facing: int
    held: Item
    others: tuple[tuple[Cell, Item], ...]
    items: tuple[Item, ...]
    cooking: tuple[int, ...]
    recipe: Item
    blocked: bool
    dark: int


class Chef(DrawnPolicy):
    """A chef of some role."""

    def __init__(self, model: OvercookedV2, role: str) -> None:
        self._kitchen, self._role = model.kitchen, role
        self._stands, self._house = model.sight.stands, model.house
        self._chances = cache(self._worked_out)

    def start(self, agent: int) -> ChefsMind:
        kitchen = self._kitchen
        roams = self._house.starts or self._house.random
        cells = kitchen.rooms[agent] if roams else (kitchen.starts[agent],)
        known = kitchen.recipes[0] if len(kitchen.recipes) == 1 else 0
        return ChefsMind(
            agent, cells, 0, 0, (), (0,) * len(kitchen.holders), (0,) * len(kitchen.pots), known, False, DARK
        )

    def update(self, memory: ChefsMind, action: Action | None, observation: Seen) -> ChefsMind:
        """Returns what the chef remembers after it saw something more."""
        seen, cells, blocked = observation, set(memory.cells), False
        number = ACTIONS.index(action) if action is not None else INTERACT
        if number < len(MOVES):
            after = self._kitchen.after[MOVES[number]]
            cells |= {after[cell] for cell in memory.cells}
        fits = tuple(sorted(cell for cell in cells if self._stands[cell][:2] == (seen.window, seen.place)))
        if not fits:  # never by the rules
            fits = tuple(cell for cell, stand in self._stands.items() if stand[:2] == (seen.window, seen.place))
        if number < len(MOVES) and len(memory.cells) == 1 and fits == memory.cells:
            blocked = self._kitchen.after[MOVES[number]][fits[0]] != fits[0]
        stand = self._stands[fits[0]]
        kitchen = self._kitchen
        items, cooking = list(memory.items), [max(0, left - 1) for left in memory.cooking]
        places, pots = range(len(items)), range(len(cooking))
        for slot, item in zip(stand.items(places), seen.items, strict=True):
            items[slot] = item
        for slot, left in zip(stand.cooking(pots), seen.cooking, strict=True):
            cooking[slot] = left
        recipe = seen.recipe or memory.recipe
        if (
            self._house.redrawn
            and len(kitchen.recipes) > 1
            and not seen.recipe
            and memory.held & COOKED
            and not seen.held
        ):
            recipe = 0  # delivered, or left for another to deliver
        shown = {place: cell for cell, place in stand.places.items()}
        others = tuple((shown[place], held) for place, _, held in seen.others)
        return ChefsMind(
            memory.agent,
            fits,
            seen.facing,
            seen.held,
            others,
            tuple(items),
            tuple(cooking),
            recipe,
            blocked,
            0 if True in seen.lit else min(DARK, memory.dark + 1),
        )

    def chances(self, memory: ChefsMind) -> Mapping[Action, float]:
        return self._chances(memory)

    def _worked_out(self, mind: ChefsMind) -> Mapping[Action, float]:
        strays = STRAYS[mind.blocked]
        mixed = dict.fromkeys(ACTIONS, strays / len(ACTIONS))
        for action, chance in self._best(mind).items():
            mixed[action] += (1.0 - strays) * chance
        return mixed

    def _best(self, mind: ChefsMind) -> Mapping[Action, float]:
        for wanted in self._wishes(mind):
            actions = self._towards(mind, wanted)
            if actions:
                return evenly(actions)
        return evenly(ACTIONS[: len(MOVES)]) if len(mind.cells) > 1 else {"stay": 1.0}

    # ---------------------------------------------------------------- what is wanted

    def _wishes(self, mind: ChefsMind) -> list[Wish]:
        """Returns what the chef would like to use, most wanted first, as a test of cells."""
        kitchen, held = self._kitchen, mind.held
        recipe = mind.recipe or self._supposed(mind)
        looking = [] if mind.recipe else self._looking(mind)
        lying = dict(zip(kitchen.holders, mind.items, strict=True))
        pots = dict(zip(kitchen.pots, zip(mind.items, mind.cooking, strict=False), strict=True))
        if held:
            return [*looking, *self._wishes_laden(mind, recipe, lying, pots)]
        if looking:
            return looking
        return self._wishes_free(mind, recipe, lying, pots)

    def _wishes_laden(self, mind: ChefsMind, recipe: Item, lying: Lying, pots: Pots) -> list[Wish]:
        """Returns what a chef with something in its hands would like to use."""
        held, wishes = mind.held, list[Wish]()
        if held & COOKED:
            if held == recipe | DISH or not self._house.wrong:
                wishes = [partial(self._is, HATCH)]
        elif held == PLATE:
            wishes = [
                lambda cell: cell in pots and bool(pots[cell][0] & COOKED),
                lambda cell: cell in pots and pots[cell][1] > 0,
            ]
        elif recipe:
            wishes = [lambda cell: cell in pots and _lacks(recipe, *pots[cell], held)]
        free = [cell for cell in lying if self._is(COUNTER, cell) and not lying[cell]]
        shared = [cell for cell in free if self._is_shared(cell)]
        return [*wishes, shared.__contains__, *[free.__contains__] * (held != PLATE)]

    def _wishes_free(self, mind: ChefsMind, recipe: Item, lying: Lying, pots: Pots) -> list[Wish]:
        """Returns what a chef with empty hands would like to use."""
        kitchen, holding = self._kitchen, [item for _, item in mind.others]
        cooks, serves = self._reaches(mind, POT), self._reaches(mind, HATCH)
        first: list[Wish] = []
        if mind.recipe and not cooks and mind.dark == DARK:
            first = [partial(self._is, BUTTON)]
        if serves and recipe:
            first.append(lambda cell: lying.get(cell) == recipe | DISH)
        serving: list[Wish] = []
        if sum(item & COOKED > 0 or left > 0 for item, left in pots.values()) > holding.count(PLATE):
            serving = [lambda cell: self._is(PLATES, cell) or (cooks and lying.get(cell) == PLATE)]
        lacking = [_lacking(recipe, *pot) for pot in pots.values()] if recipe else []
        lacks = [sum(one[number] for one in lacking) for number in range(kitchen.ingredients)]
        about = [*(item for cell, item in lying.items() if cell not in pots), *holding]
        fetched = [PILES[number] for number, lack in enumerate(lacks) if lack > about.count(ingredient(number))]
        used = [ingredient(number) for number, lack in enumerate(lacks) if lack > holding.count(ingredient(number))]
        cooking: list[Wish] = [
            lambda cell: cooks and cell not in pots and lying.get(cell) in used,
            lambda cell: kitchen.cells[cell] in fetched,
        ]
        if self._house.started and recipe:
            cooking.insert(0, lambda cell: pots.get(cell) == (recipe, 0))
        if self._role == "cook":
            return [*first, *cooking, *serving]
        spare: list[Wish] = [partial(self._is, PLATES)] if self._role == "server" else []
        return [*first, *serving, *cooking, *spare]

    def _supposed(self, mind: ChefsMind) -> Item:
        """Returns the one recipe that fits what is in the pots, 0 if none or several do."""
        pots = [item & ~DISH for item in mind.items[: len(mind.cooking)] if item]
        fits = [one for one in self._kitchen.recipes if pots and any(_within(item, one) for item in pots)]
        return fits[0] if len(fits) == 1 else 0

    def _looking(self, mind: ChefsMind) -> list[Wish]:
        """Returns where the recipe can be learned."""
        kinds = [kind for kind in (BOARD, *[BUTTON] * (not mind.held)) if self._reaches(mind, kind)]
        return [partial(self._is, kind) for kind in kinds]

    def _is(self, kind: str, cell: Cell) -> bool:
        return self._kitchen.cells[cell] == kind

    def _reaches(self, mind: ChefsMind, kind: str) -> bool:
        return any(self._kitchen.cells[cell] == kind for cell in _rim(self._kitchen, mind.cells[0]))

    def _is_shared(self, counter: Cell) -> bool:
        """Whether a counter can be reached from several rooms."""
        rooms = set(self._kitchen.rooms)
        return sum(counter in _rim(self._kitchen, room[0]) for room in rooms) > 1

    # ---------------------------------------------------------------- ways

    def _towards(self, mind: ChefsMind, wanted: Wish) -> Sequence[Action]:
        """Returns the first actions of shortest ways to use the nearest wanted cell; none if none is in reach."""
        here, kitchen = mind.cells[0], self._kitchen
        goals = {
            (cell, facing)
            for cell in kitchen.floor
            for facing, (right, down) in enumerate(STEPS)
            if wanted(cell + right + down * kitchen.width)
        }
        if (here, mind.facing) in goals:
            return ["interact"] if self._may_use(mind) else ["stay"]
        turns = [facing for facing in range(4) if (here, facing) in goals]
        if turns:
            return [ACTIONS[MOVES.index(facing)] for facing in turns]
        ends = {cell for cell, _ in goals}
        near = {cell for cell, _ in mind.others if self._apart(cell, here) <= NEAR}
        for blocked in (frozenset(near), frozenset[Cell]()):
            far = _far(kitchen, frozenset(ends), blocked)
            steps = {facing: kitchen.after[facing][here] for facing in range(4)}
            ways = {facing: far[there] for facing, there in steps.items() if there != here and there in far}
            if ways:
                return [ACTIONS[MOVES.index(facing)] for facing, length in ways.items() if length == min(ways.values())]
        return []

    def _apart(self, one: Cell, other: Cell) -> int:
        return sum(abs(a - b) for a, b in zip(self._kitchen.place(one), self._kitchen.place(other), strict=True))

    def _may_use(self, mind: ChefsMind) -> bool:
        """Whether to use what is in front now: not a pot that still cooks, nor a board, nor a button that is lit."""
        faced = self._kitchen.faced[mind.facing][mind.cells[0]]
        return faced.kind != BOARD and not (faced.kind == POT and mind.cooking[faced.slot])


def _lacking(recipe: Item, item: Item, left: int) -> list[int]:
    """Returns how much of each ingredient a pot lacks for a recipe, given what it holds; 0 if it cannot become it."""
    if left or item & COOKED or count(item) == FULL or not _within(item, recipe):
        return [0] * len(INGREDIENTS)
    return [(recipe >> bit & 3) - (item >> bit & 3) for bit in range(2, 10, 2)]


def _lacks(recipe: Item, item: Item, left: int, held: Item) -> bool:
    """Whether a pot lacks an ingredient for a recipe."""
    return any(lack and held == ingredient(number) for number, lack in enumerate(_lacking(recipe, item, left)))


def _within(item: Item, recipe: Item) -> bool:
    """Whether a recipe has each ingredient of an item at least as often."""
    return all(item >> bit & 3 <= recipe >> bit & 3 for bit in range(2, 10, 2))


@cache
def _rim(kitchen: Kitchen, start: Cell) -> frozenset[Cell]:
    """Returns the cells that can be used from the room of a cell."""
    room = next(room for room in kitchen.rooms if start in room)
    return frozenset(cell + right + down * kitchen.width for cell in room for right, down in STEPS)


@cache
def _far(kitchen: Kitchen, ends: frozenset[Cell], blocked: frozenset[Cell]) -> dict[Cell, int]:
    """Returns by cell the steps to the nearest of some cells, around cells that are blocked."""
    far = {cell: 0 for cell in ends if cell not in blocked}
    waiting = deque(far)
    while waiting:
        cell = waiting.popleft()
        for facing in range(4):
            there = kitchen.after[facing][cell]
            if there not in far and there not in blocked:
                far[there] = far[cell] + 1
                waiting.append(there)
    return far


def policies(model: OvercookedV2) -> Mapping[str, PosgPolicy]:
    """Returns the chefs of a kitchen, by name."""
    return {role: Chef(model, role) for role in ROLES}


def partners_of(game_id: str) -> Mapping[str, Callable[[ObsActionHistory, Sequence[Action], random.Random], Action]]:
    """Returns the chefs of a layout as partners of the arena, by name."""
    model = kitchens.make(game_id)
    return {name: at_the_table(chef, model.observation_from_json) for name, chef in policies(model).items()}
