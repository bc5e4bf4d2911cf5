"""Kitchens as text, and what can be worked out of one once for all: where steps lead, what a chef faces, which rooms
there are.

A kitchen is a line `NAME: RECIPES` and its rows. Signs: `#` counter, `.` floor, `0` and `1` floor on which chef 0 and
chef 1 begin, `P` pot, `S` stack of plates, `D` hatch for deliveries, `R` board that shows the recipe, `B` button that
shows it for a while, and `o`, `t`, `c`, `l` piles of onions, tomatoes, carrots and leeks. Recipes are named by such
letters; `every` stands for all triples of the ingredients there are. The kitchens are those of JaxMARL (see NOTICE).

An item is a number: bit 0 a plate, bit 1 cooked, then two bits that count each ingredient; 0 is nothing.
"""

import itertools
from collections.abc import Sequence
from typing import Final, NamedTuple, TypeAlias

from games.posg.api import PosgError

Cell: TypeAlias = int
"""Row × width + column."""
Item: TypeAlias = int

FACINGS: Final = ("up", "down", "right", "left")
STEPS: Final = ((0, -1), (0, 1), (1, 0), (-1, 0))
"""By facing: columns to the right, and rows down."""

INGREDIENTS: Final = ("onion", "tomato", "carrot", "leek")
PILES: Final = "otcl"
COUNTER, POT, PLATES, HATCH, BOARD, BUTTON, FLOOR = "#PSDRB."

NOTHING: Final = 0
PLATE: Final = 1
COOKED: Final = 2
DISH: Final = PLATE | COOKED
FULL: Final = 3
"""Ingredients in a pot."""


def ingredient(number: int) -> Item:
    """Returns one piece of an ingredient."""
    return 4 << 2 * number


def count(item: Item) -> int:
    """Returns how many ingredients are in an item."""
    found, item = 0, item >> 2
    while item:
        found += item & 3
        item >>= 2
    return found


def words(item: Item) -> list[str]:
    """Returns an item as JSON, e.g. `["plate", "cooked", "onion", "onion", "onion"]`; [] is nothing."""
    said = [word for bit, word in ((PLATE, "plate"), (COOKED, "cooked")) if item & bit]
    for number, name in enumerate(INGREDIENTS):
        said += [name] * (item >> 2 * number + 2 & 3)
    return said


def item_of(said: Sequence[str]) -> Item:
    """Returns the item of its words."""
    bits = {"plate": PLATE, "cooked": COOKED, **{name: ingredient(at) for at, name in enumerate(INGREDIENTS)}}
    return sum(bits[word] for word in said)


class Faced(NamedTuple):
    """What is in front of a chef.

    Attributes:
        kind: its sign; `o` for any pile, of plates, too.
        slot: where its item stands in `Kitchen.holders`, or its number among the buttons; -1 elsewhere.
        item: what a pile gives.
    """

    kind: str
    slot: int = -1
    item: Item = NOTHING


class Kitchen:
    """One kitchen.

    Attributes:
        name: JaxMARL's.
        rows: its text; floor where chefs begin.
        recipes: their ingredients as items, ascending.
        ingredients: how many there are; those below the highest that occurs count.
        starts: cell by chef.
        pots: cells, ascending.
        holders: the cells that can hold something: pots, then counters, each ascending.
        buttons: cells, ascending.
        after: by facing and cell, where a step leads if nobody else is there: the cell itself where no floor is.
        faced: by facing and cell of the floor, what is in front.
        rooms: by chef, the cells that it can reach, ascending.
    """

    def __init__(self, name: str, recipes: str, rows: Sequence[str]) -> None:
        """Reads a kitchen.

        Args:
            name: of it.
            recipes: `every`, or words of three letters.
            rows: equally long ones; chefs 0, 1, … begin in them.

        Raises:
            PosgError: a chef could leave it.
        """
        self.name, self.width, self.height = name, len(rows[0]), len(rows)
        text = "".join(rows)
        chefs = sorted(sign for sign in text if sign.isdigit())
        self.starts = tuple(text.index(sign) for sign in chefs)
        self.cells = "".join(FLOOR if sign.isdigit() else sign for sign in text)
        self.rows = tuple(self.cells[start : start + self.width] for start in range(0, len(text), self.width))
        self.floor = tuple(cell for cell, sign in enumerate(self.cells) if sign == FLOOR)
        if any(self._is_rim(cell) for cell in self.floor) or len(set(map(len, rows))) > 1:
            raise PosgError(f"the kitchen {name} has rows of several lengths, or floor at its edge.")
        self.ingredients = 1 + max(PILES.index(sign) for sign in self.cells if sign in PILES)
        triples = itertools.combinations_with_replacement(PILES[: self.ingredients], 3)
        named = ["".join(one) for one in triples] if recipes == "every" else recipes.split()
        self.recipes = tuple(sorted(sum(ingredient(PILES.index(letter)) for letter in one) for one in named))
        self.pots, counters = self.of_kind(POT), self.of_kind(COUNTER)
        self.holders, self.buttons = self.pots + counters, self.of_kind(BUTTON)
        self.after = [[self._after(cell, facing) for cell in range(len(text))] for facing in range(4)]
        self.faced = [
            {cell: self._faced(cell + step[0] + step[1] * self.width) for cell in self.floor} for step in STEPS
        ]
        self.rooms = tuple(self._room(start) for start in self.starts)

    def of_kind(self, sign: str) -> tuple[Cell, ...]:
        """Returns the cells with a sign, ascending."""
        return tuple(cell for cell, own in enumerate(self.cells) if own == sign)

    def place(self, cell: Cell) -> list[int]:
        """Returns column and row of a cell."""
        return [cell % self.width, cell // self.width]

    def cell(self, place: Sequence[int]) -> Cell:
        """Returns the cell in a column and a row."""
        column, row = place
        return row * self.width + column

    def _is_rim(self, cell: Cell) -> bool:
        column, row = self.place(cell)
        return column in (0, self.width - 1) or row in (0, self.height - 1)

    def _after(self, cell: Cell, facing: int) -> Cell:
        if self.cells[cell] != FLOOR:
            return cell
        there = cell + STEPS[facing][0] + STEPS[facing][1] * self.width
        return there if self.cells[there] == FLOOR else cell

    def _faced(self, cell: Cell) -> Faced:
        sign = self.cells[cell]
        if sign in (POT, COUNTER):
            return Faced(sign, self.holders.index(cell))
        if sign == BUTTON:
            return Faced(sign, self.buttons.index(cell))
        if sign in PILES:
            return Faced(PILES[0], item=ingredient(PILES.index(sign)))
        return Faced(PILES[0], item=PLATE) if sign == PLATES else Faced(sign)

    def _room(self, start: Cell) -> tuple[Cell, ...]:
        found, waiting = {start}, [start]
        while waiting:
            cell = waiting.pop()
            fresh = {self.after[facing][cell] for facing in range(4)} - found
            found |= fresh
            waiting += fresh
        return tuple(sorted(found))


def kitchen(name: str) -> Kitchen:
    """Returns one of JaxMARL's kitchens by its name there."""
    for told in _KITCHENS.strip().split("\n\n"):
        (head, *rows) = told.split("\n")
        found, recipes = head.split(": ")
        if found == name:
            return Kitchen(name, recipes, rows)
    raise PosgError(f"there is no kitchen {name!r}.")


_KITCHENS: Final = """
cramped_room: ooo
##P##
o1.0o
#...#
#S#D#

asymm_advantages: ooo
#########
o.#D#o#.D
#...P...#
#.0.P1..#
###S#S###

coord_ring: ooo
###P#
#.0.P
S1#.#
o...#
#oD##

forced_coord: ooo
###P#
o.#0P
o1#.#
S.#.#
###D#

counter_circuit: ooo
###PP###
#.1....#
S.####.D
#.....0#
###oo###

cramped_room_v2: every
##P##
o0.1t
#...R
#S#D#

asymm_advantages_recipes_center: every
#########
o.#DRot.D
t...P...#
#.0.P1..#
###S#S###

asymm_advantages_recipes_right: every
#########
o.#D#ot.D
t...P...R
#.0.P1..#
###S#S###

asymm_advantages_recipes_left: every
#########
o.#D#ot.D
t...P...R
R.0.P1..#
###S#S###

two_rooms: every
#####Sto#
#...#...R
P.0.#.1.#
#...#...D
#########

two_rooms_both: every
#otS#Sto#
#...#...R
P.0.#.1.#
#...#...D
#########

long_room: ooo
###############
S............0P
o.............D
###############

fun_coordination: ooc ttl
#########
o...D...c
R0..P..1#
t...S...l
#########

more_fun_coordination: ott occ
#########
#...D...#
R0..P..1t
o...P...c
#...S...#
#########

fun_symmetries: ooo ttt
####S##
c..#..o
R.0P1.D
c..#..t
####S##

fun_symmetries_plates: ooo ttt
#######
S..#..o
R.0P1.D
S..#..t
#######

fun_symmetries1: ooo ttt
#####S##
c..##..o
R.0#P1.D
c..##..t
#####S##

grounded_coord_simple: ooo ttt
##c#####
#..#S..o
R.0BP1.D
#..#S..t
##c#####

grounded_coord_ring: ooo ttt
###cRc###
#.......#
#.##B##.#
c.o...S.c
R0D1P.D.R
c.t...S.c
#.##B##.#
#.......#
###cRc###

test_time_simple: ooo ttt
##c#####
#..#S..o
R.0#P1.D
#..#S..t
##c#####

test_time_wide: ooo ttt
##DS##
o.0..o
t....t
#P#P##
l.1..l
#....#
##R###

demo_cook_simple: ooo ttt
#####Rc#o##
o......#..S
#.....0P1.D
t......#..S
#####Rc#t##

demo_cook_wide: ooo ttt
####SDS####
###o.0.t###
#####P#####
#....1....#
o..#lRl#..o
#t#######t#
"""
