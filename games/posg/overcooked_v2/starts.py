"""How a kitchen begins: what is drawn of it, and how that is drawn given what one chef sees."""

import itertools
from collections.abc import Sequence
from typing import Final, TypeAlias

from games.api import Json
from games.posg.api import Choose, PosgError
from games.posg.chance import uniform_over
from games.posg.overcooked_v2.kitchens import (
    COOKED,
    DISH,
    FACINGS,
    FULL,
    INGREDIENTS,
    PLATE,
    Cell,
    Item,
    Kitchen,
    count,
    item_of,
    words,
)
from games.posg.overcooked_v2.rules import COOKING, House, Table
from games.posg.overcooked_v2.sight import KitchenSight, Seen

Outcomes: TypeAlias = list[tuple[Json, float]]

NOTHING: Final = "nothing"
HELD: Final = (0.5, 0.1, 0.25, 0.15)
LYING: Final = (0.5, 0.1, 0.3, 0.1)
"""How likely nothing, a plate, an ingredient and a dish are in a chef's hands and on a counter."""
POTS: Final = [("empty", 0.4), ("filled", 0.35), ("cooking", 0.15), ("cooked", 0.1)]


class Starts:
    """The starts of one kitchen.

    Attributes:
        recipes: outcomes of the draw of a recipe.
    """

    def __init__(self, kitchen: Kitchen, house: House, sight: KitchenSight) -> None:
        self._kitchen, self._house, self._sight = kitchen, house, sight
        self.recipes: Outcomes = uniform_over([named(recipe) for recipe in kitchen.recipes])
        self._held, self._lying = self._items(HELD), self._items(LYING)
        self._roams = house.starts or house.random
        self._known: dict[tuple[object, ...], list[tuple[Cell, ...]]] = {}

    def draw(self, choose: Choose) -> Table:
        """Draws a start."""
        kitchen, agents = self._kitchen, range(len(self._kitchen.starts))
        recipe = kitchen.recipes[0]
        if len(kitchen.recipes) > 1:
            recipe = read(choose("recipe", self.recipes))
        cells = self._cells(choose) if self._roams else list(kitchen.starts)
        facings, held = [0 for _ in agents], [0 for _ in agents]
        items, cooking = [0] * len(kitchen.holders), [0] * len(kitchen.pots)
        if self._roams:
            facings = [FACINGS.index(choose(f"facing of chef {agent}", uniform_over(FACINGS))) for agent in agents]
        if self._house.random:
            held = [read(choose(f"item of chef {agent}", self._held)) for agent in agents]
            for slot, cell in enumerate(kitchen.holders):
                if slot < len(cooking):
                    items[slot], cooking[slot] = self._pot(kitchen.place(cell), choose)
                else:
                    items[slot] = read(choose(f"item at {kitchen.place(cell)}", self._lying))
        chefs = tuple(itertools.chain.from_iterable(zip(cells, facings, held, strict=True)))
        return chefs, tuple(items), tuple(cooking), (0,) * len(kitchen.buttons), recipe, False

    def given(self, agent: int, seen: Seen, choose: Choose) -> Table:
        """Draws a start in which a chef sees something.

        All ways in which chefs may stand for the chef to see that are equally likely, as what it sees there is equally
        likely in all of them; what is out of its sight is drawn as ever.

        Raises:
            PosgError: no start shows the chef that.
        """
        refusal = PosgError(f"no start of {self._kitchen.name} shows chef {agent} {seen!r}.")
        ways = self._ways(agent, seen)
        if not ways:
            raise refusal
        number = choose("start", uniform_over(range(len(ways)))) if len(ways) > 1 else 0
        known = self._seen_draws(ways[number], agent, seen)

        def fixed(label: str, outcomes: Sequence[tuple[Json, float]]) -> Json:
            if label not in known:
                return choose(label, outcomes)
            if all(outcome != known[label] for outcome, _ in outcomes):
                raise refusal
            return known[label]

        table = self.draw(fixed)
        if self._sight.of(table)[agent] != seen:
            raise refusal
        return table

    def _cells(self, choose: Choose) -> list[Cell]:
        """Draws where chefs stand: anywhere in their rooms, where no earlier one does."""
        cells: list[Cell] = []
        for agent, room in enumerate(self._kitchen.rooms):
            places = [self._kitchen.place(cell) for cell in room if cell not in cells]
            cells.append(self._kitchen.cell(choose(f"cell of chef {agent}", uniform_over(places))))
        return cells

    def _items(self, chances: Sequence[float]) -> Outcomes:
        nothing, plate, piece, dish = chances
        kitchen = self._kitchen
        pieces, dishes = INGREDIENTS[: kitchen.ingredients], [named(recipe | DISH) for recipe in kitchen.recipes]
        return [
            (NOTHING, nothing),
            (named(PLATE), plate),
            *((name, piece / len(pieces)) for name in pieces),
            *((name, dish / len(dishes)) for name in dishes),
        ]

    def _pot(self, place: list[int], choose: Choose) -> tuple[Item, int]:
        """Draws what is in a pot, and how long it still cooks."""
        kind = choose(f"pot at {place}", POTS)
        if kind == "empty":
            return 0, 0
        number = FULL
        if kind == "filled" or self._house.started:
            number = choose(f"ingredients in pot at {place}", uniform_over(range(1, FULL + 1)))
        pieces = uniform_over(INGREDIENTS[: self._kitchen.ingredients])
        item = sum(item_of([choose(f"ingredient {at} in pot at {place}", pieces)]) for at in range(number))
        if kind == "cooking":
            return item, int(choose(f"timer of pot at {place}", uniform_over(range(1, COOKING + 1))))
        return item | COOKED if kind == "cooked" else item, 0

    def _ways(self, agent: int, seen: Seen) -> list[tuple[Cell, ...]]:
        """Returns where chefs may stand for one to see what it does, as far as places go."""
        others = [place for place, _, _ in seen.others]
        key = agent, seen.window, seen.place, *others
        if key not in self._known:
            rooms = self._kitchen.rooms if self._roams else [(start,) for start in self._kitchen.starts]
            stands, found = self._sight.stands, []
            for cells in itertools.product(*rooms):
                stand = stands[cells[agent]]
                if (stand.window, stand.place) == (seen.window, seen.place) and len(set(cells)) == len(cells):
                    shown = [stand.places[cell] for cell in cells if cell != cells[agent] and cell in stand.places]
                    found += [cells] if sorted(shown) == others else []
            self._known[key] = found
        return self._known[key]

    def _seen_draws(self, cells: Sequence[Cell], agent: int, seen: Seen) -> dict[str, Json]:
        """Returns what chance did as far as a chef sees it, by label."""
        kitchen, stand = self._kitchen, self._sight.stands[cells[agent]]
        chefs = {seen.place: (seen.facing, seen.held)} | {place: (facing, held) for place, facing, held in seen.others}
        known: dict[str, Json] = {"recipe": named(seen.recipe)} if seen.recipe else {}
        for number, cell in enumerate(cells):
            known[f"cell of chef {number}"] = kitchen.place(cell)
            if stand.places.get(cell) in chefs:
                facing, held = chefs[stand.places[cell]]
                known |= {f"facing of chef {number}": FACINGS[facing], f"item of chef {number}": named(held)}
        cooking = dict(zip(stand.cooking(kitchen.pots), seen.cooking, strict=True))
        for cell, item in zip(stand.items(kitchen.holders), seen.items, strict=True):
            place = kitchen.place(cell)
            known |= _of_pot(place, item, cooking[cell]) if cell in cooking else {f"item at {place}": named(item)}
        return known


def _of_pot(place: list[int], item: Item, left: int) -> dict[str, Json]:
    """Returns the draws that put an item into a pot."""
    kind = "cooking" if left else "cooked" if item & COOKED else "filled" if item else "empty"
    pieces = [INGREDIENTS[number] for number in range(len(INGREDIENTS)) for _ in range(item >> 2 * number + 2 & 3)]
    known: dict[str, Json] = {f"pot at {place}": kind, f"ingredients in pot at {place}": count(item)}
    known |= {f"ingredient {at} in pot at {place}": piece for at, piece in enumerate(pieces)}
    return known | {f"timer of pot at {place}": left}


def named(item: Item) -> str:
    """Returns an item as an outcome of chance."""
    return ", ".join(words(item)) or NOTHING


def read(said: str) -> Item:
    """Returns the item of an outcome of chance."""
    return 0 if said == NOTHING else item_of(said.split(", "))
