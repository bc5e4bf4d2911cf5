"""What the rules tell of one kitchen: its map, its recipes and its options."""

from games.posg.overcooked_v2 import layouts
from games.posg.overcooked_v2.kitchens import INGREDIENTS, Kitchen, kitchen, words

_TO_PEOPLE = {
    "starts": {"random": "Chefs begin anywhere in their part of the kitchen, turned to any side."},
    "wrong": {"costs": "A dish that was not asked for costs 20 points."},
    "recipe": {"redrawn": "After each right dish the next recipe is chosen at random; it may be the same."},
    "delivery": {"signal": "The hatches tell those who see them that the right dish was just handed over."},
    "cooking": {
        "started": "No pot cooks by itself: a chef with empty hands starts one that holds anything, be it full or not."
    },
    "kitchen": {"random": "Hands, counters and pots begin with things in them, chosen at random, and so do the chefs."},
}
"""What options tell, where they are not as usual."""


def particulars(game: str, to_people: bool) -> str:
    """Returns the end of the rules of a game.

    Args:
        game: its id.
        to_people: told as to people, otherwise as a specification.
    """
    layout, chosen = layouts.parse(game)
    place = kitchen(layout.name)
    rows = "\n".join(f"    {row}" for row in _drawn(place))
    alone = len(place.starts) == 1
    if not to_people:
        begins = "`0` and `1` are floor, where chefs 0 and 1 begin"
        if alone:
            begins = "`0` is floor, where chef 0 begins; there is no chef 1"
        recipes = ", ".join(f"`{', '.join(words(recipe))}`" for recipe in place.recipes)
        options = ", ".join(f"`{name}` `{value}`" for name, value in chosen.items())
        ingredients = ", ".join(f"`{word}`" for word in INGREDIENTS[: place.ingredients])
        return (
            f"## This kitchen\n\n{begins}:\n\n{rows}\n\n"
            f"Recipes: {recipes}. Ingredients that chance may draw: {ingredients}. Options: {options}."
        )
    told = [said[chosen[name]] for name, said in _TO_PEOPLE.items() if chosen[name] in said]
    sight = chosen["sight"]
    far = "the whole kitchen" if sight == "all" else f"{sight} square{'s' * (sight != '1')} to each side"
    told.append(f"Chefs see {far}.")
    told += [f"The game ends after {chosen['steps']} rounds."] if chosen["steps"] != layouts.STEPS else []
    begins = "0 is the chef, who is alone here." if alone else "0 and 1 are the chefs, where they begin."
    recipes = "; ".join(", ".join(words(recipe)) for recipe in place.recipes)
    lines = "\n".join(f"* {line}" for line in [f"Recipes: {recipes}.", *told])
    return f"## This kitchen\n\n{rows}\n\n{begins}\n\n{lines}"


def _drawn(place: Kitchen) -> list[str]:
    """Returns the rows of a kitchen with its chefs."""
    signs = list(place.cells)
    for number, cell in enumerate(place.starts):
        signs[cell] = str(number)
    return ["".join(signs[start : start + place.width]) for start in range(0, len(signs), place.width)]
