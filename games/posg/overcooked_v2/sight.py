"""What chefs see: a window of the kitchen around them or all of it, as a tuple, as JSON and as JaxMARL's channels.

The three tell the same: from each follow the others. So what lies beyond the edge of the kitchen looks like floor, and
a chef is not told where in the kitchen its window is.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, Final, NamedTuple, TypeAlias

from games.api import Json
from games.posg.api import PosgError
from games.posg.overcooked_v2.kitchens import (
    BOARD,
    BUTTON,
    COUNTER,
    FACINGS,
    FLOOR,
    HATCH,
    PILES,
    PLATES,
    POT,
    Cell,
    Item,
    Kitchen,
    item_of,
    words,
)
from games.posg.overcooked_v2.rules import COOKING, Table

NAMES: Final = {POT: "pot", COUNTER: "counter", BUTTON: "button"}
KINDS: Final = (COUNTER, HATCH, POT, BOARD, BUTTON, PLATES)
"""In the order of their channels."""

Others: TypeAlias = tuple[tuple[int, int, Item], ...]


class Seen(NamedTuple):
    """What a chef sees; places are counted row by row in its window.

    Attributes:
        window: number of what stands where.
        place: of the chef.
        facing: of it.
        held: item.
        others: place, facing and item of each other chef in sight, by place.
        items: of the holders in the window, by place.
        cooking: what is left of it, by pot in the window.
        lit: by button in the window, whether it shows the recipe.
        recipe: if anything in the window shows it, else 0.
        praised: whether a hatch in the window signals the right delivery.
    """

    window: int
    place: int
    facing: int
    held: Item
    others: Others
    items: tuple[Item, ...]
    cooking: tuple[int, ...]
    lit: tuple[bool, ...]
    recipe: Item
    praised: bool


@dataclass(frozen=True)
class _Window:
    """What stands where in a window.

    Attributes:
        signs: of its cells.
        holders: places of what can hold something.
        pots: places.
        buttons: places.
        boards: places.
        hatches: places.
    """

    signs: str
    holders: tuple[int, ...]
    pots: tuple[int, ...]
    buttons: tuple[int, ...]
    boards: tuple[int, ...]
    hatches: tuple[int, ...]


class _Stand(NamedTuple):
    """What a chef sees from a cell.

    Attributes:
        window: its number.
        place: of the chef in it.
        places: by cell of the floor in the window, its place.
        items: picks what is in sight; likewise `cooking` and `lights`.
        shows: a board is in sight.
        praises: a hatch that signals is.
    """

    window: int
    place: int
    places: dict[Cell, int]
    items: Callable[[Any], tuple[Any, ...]]
    cooking: Callable[[Any], tuple[Any, ...]]
    lights: Callable[[Any], tuple[Any, ...]]
    shows: bool
    praises: bool


class KitchenSight:
    """What is seen in one kitchen.

    Attributes:
        width: of a window, in cells.
        height: of it.
        channels: numbers that tell of one cell.
    """

    def __init__(self, kitchen: Kitchen, sight: int | None, signal: bool) -> None:
        """Args:
        kitchen: which.
        sight: cells each way; None: all.
        signal: whether hatches tell of the right delivery.
        """
        self.kitchen, self.signal = kitchen, signal
        self._sight = sight
        self.width, self.height = (kitchen.width, kitchen.height) if sight is None else (2 * sight + 1,) * 2
        self._windows: list[_Window] = []
        self._numbers: dict[str, int] = {}
        self.stands = {cell: self._stand(cell) for cell in kitchen.floor}
        n = kitchen.ingredients
        self._item = 2 + n  # channels of an item
        self._fixed = 2 * (5 + self._item)
        self._items = self._fixed + len(KINDS) + n
        self.channels = self._items + 2 * self._item + 1 + signal
        self._empty = [self._channels_of(window) for window in self._windows]

    # ---------------------------------------------------------------- seeing

    def of(self, table: Table) -> list[Seen]:
        """Returns what each chef sees."""
        chefs, items, cooking, lights, recipe, praised = table
        found = []
        for own in range(0, len(chefs), 3):
            stand = self.stands[chefs[own]]
            others: Others = ()
            places = stand.places
            for other in range(0, len(chefs), 3):
                if other != own and chefs[other] in places:
                    others += ((places[chefs[other]], chefs[other + 1], chefs[other + 2]),)
            if len(others) > 1:
                others = tuple(sorted(others))
            lit = tuple([left > 0 for left in stand.lights(lights)]) if lights else ()
            found.append(
                Seen(
                    stand.window,
                    stand.place,
                    chefs[own + 1],
                    chefs[own + 2],
                    others,
                    stand.items(items),
                    stand.cooking(cooking),
                    lit,
                    recipe if stand.shows or True in lit else 0,
                    praised and stand.praises,
                )
            )
        return found

    def _stand(self, cell: Cell) -> _Stand:
        kitchen = self.kitchen
        cells = self._cells(cell)
        signs = "".join(FLOOR if one is None else kitchen.cells[one] for one in cells)
        if signs not in self._numbers:
            self._numbers[signs] = len(self._windows)
            self._windows.append(_window(signs))
        window = self._windows[self._numbers[signs]]
        found = {kind: [cells[place] for place in places] for kind, places in vars(window).items() if kind != "signs"}
        return _Stand(
            window=self._numbers[signs],
            place=cells.index(cell),
            places={one: place for place, one in enumerate(cells) if one is not None and signs[place] == FLOOR},
            items=_picking([kitchen.holders.index(one) for one in found["holders"]]),
            cooking=_picking([kitchen.pots.index(one) for one in found["pots"]]),
            lights=_picking([kitchen.buttons.index(one) for one in found["buttons"]]),
            shows=bool(window.boards),
            praises=bool(window.hatches) and self.signal,
        )

    def _cells(self, cell: Cell) -> list[Cell | None]:
        """Returns the cells of the window of a chef, row by row; None beyond the edge."""
        kitchen = self.kitchen
        if self._sight is None:
            return list(range(len(kitchen.cells)))
        column, row = kitchen.place(cell)
        around = range(-self._sight, self._sight + 1)
        places = [(column + right, row + down) for down in around for right in around]
        return [
            kitchen.cell(place) if 0 <= place[0] < kitchen.width and 0 <= place[1] < kitchen.height else None
            for place in places
        ]

    # ---------------------------------------------------------------- JSON

    def to_json(self, seen: Seen) -> Json:
        """Returns what a chef sees as `RULES.md` says."""
        window = self._windows[seen.window]
        cooking, items = dict(zip(window.pots, seen.cooking, strict=True)), zip(window.holders, seen.items, strict=True)
        told: dict[str, Json] = {
            "view": [window.signs[start : start + self.width] for start in range(0, len(window.signs), self.width)],
            "self": self._chef(seen.place, seen.facing, seen.held),
            "others": [self._chef(*other) for other in seen.others],
            "cells": [
                {
                    "cell": self._place(place),
                    "kind": NAMES[window.signs[place]],
                    "item": words(item),
                    "timer": cooking.get(place, 0),
                }
                for place, item in items
                if item
            ],
            "lit": [self._place(place) for place, lit in zip(window.buttons, seen.lit, strict=True) if lit],
            "recipe": words(seen.recipe) if seen.recipe else None,
        }
        return told | {"delivered": seen.praised} if self.signal else told

    def from_json(self, told: Json) -> Seen:
        """Returns what a chef sees from its JSON.

        Raises:
            PosgError: nobody sees that in this kitchen.
        """
        number = self._numbers.get("".join(told["view"]))
        if number is None:
            raise PosgError(f"nobody sees {told['view']} in the kitchen {self.kitchen.name} with this sight.")
        window = self._windows[number]
        held = {self._number(cell["cell"]): cell for cell in told["cells"]}
        lit = {self._number(cell) for cell in told["lit"]}
        return Seen(
            number,
            *self._chef_of(told["self"]),
            tuple(self._chef_of(other) for other in told["others"]),
            tuple(item_of(held[place]["item"]) if place in held else 0 for place in window.holders),
            tuple(held[place]["timer"] if place in held else 0 for place in window.pots),
            tuple(place in lit for place in window.buttons),
            item_of(told["recipe"] or ()),
            bool(told.get("delivered", False)),
        )

    def _chef(self, place: int, facing: int, held: Item) -> Json:
        return {"cell": self._place(place), "facing": FACINGS[facing], "item": words(held)}

    def _chef_of(self, told: Json) -> tuple[int, int, Item]:
        return self._number(told["cell"]), FACINGS.index(told["facing"]), item_of(told["item"])

    def _place(self, place: int) -> list[int]:
        return [place % self.width, place // self.width]

    def _number(self, place: Sequence[int]) -> int:
        return place[1] * self.width + place[0]

    # ---------------------------------------------------------------- channels

    def most(self) -> list[int]:
        """Returns the greatest number in each channel of a cell; the least is 0."""
        item = [1, 1, *[3] * self.kitchen.ingredients]
        chef = [1] * 5 + item
        return [*chef, *chef, *[1] * (len(KINDS) + self.kitchen.ingredients), *item, *item, COOKING, *[1] * self.signal]

    def encode(self, seen: Seen) -> list[int]:
        """Returns the channels cell by cell, row by row, as the OvercookedV2 paper's networks are shown them.

        By cell: own chef (1, four directions, item), other chefs likewise, six kinds, piles, item, recipe, cooking and,
        where it is signalled, the right delivery; an item is plated, cooked, and how often each ingredient is in it.
        """
        window, step = self._windows[seen.window], self.channels
        made = self._empty[seen.window].copy()
        self._put_chef(made, seen.place * step, seen.facing, seen.held)
        for place, facing, held in seen.others:
            self._put_chef(made, place * step + 5 + self._item, facing, held)
        for place, item in zip(window.holders, seen.items, strict=True):
            if item:
                self._put(made, place * step + self._items, item)
        recipe = self._items + self._item
        if seen.recipe:
            lit = [place for place, shows in zip(window.buttons, seen.lit, strict=True) if shows]
            for place in (*window.boards, *lit):
                self._put(made, place * step + recipe, seen.recipe)
        for place, left in zip(window.pots, seen.cooking, strict=True):
            made[place * step + recipe + self._item] = left
        if seen.praised:
            for place in window.hatches:
                made[place * step + step - 1] = 1
        return made

    def _put_chef(self, made: list[int], at: int, facing: int, held: Item) -> None:
        made[at] = 1
        made[at + 1 + facing] = 1
        self._put(made, at + 5, held)

    def _put(self, made: list[int], at: int, item: Item) -> None:
        made[at], made[at + 1] = item & 1, item >> 1 & 1
        for number in range(self.kitchen.ingredients):
            made[at + 2 + number] = item >> 2 * number + 2 & 3

    def _channels_of(self, window: _Window) -> list[int]:
        """Returns the channels of a window in which nothing is but what always stands there."""
        made = [0] * (len(window.signs) * self.channels)
        known = (*KINDS, *PILES[: self.kitchen.ingredients])
        for place, sign in enumerate(window.signs):
            if sign != FLOOR:
                made[place * self.channels + self._fixed + known.index(sign)] = 1
        return made


def _window(signs: str) -> _Window:
    def places(kinds: str) -> tuple[int, ...]:
        return tuple(place for place, sign in enumerate(signs) if sign in kinds)

    return _Window(signs, places(POT + COUNTER), places(POT), places(BUTTON), places(BOARD), places(HATCH))


def _picking(slots: Sequence[int]) -> Callable[[Any], tuple[Any, ...]]:
    """Returns what picks the values in some slots of a tuple."""
    if not slots:
        return lambda values: ()
    if len(slots) == 1:
        return lambda values: (values[slots[0]],)
    return itemgetter(*slots)
