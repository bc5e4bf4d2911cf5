"""OvercookedV2's layouts by name, and what may be chosen of each: plain data, which needs neither JAX nor JaxMARL.

Without options a layout is played as the OvercookedV2 paper does (appendix A.2, C.2 and Tables 6, 8 and 10); layouts
that the paper does not play, as JaxMARL's own defaults have it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Final

from games.api import GameError, UnknownGameError

FAMILY: Final = "overcooked-v2"
STEPS: Final = "400"


@dataclass(frozen=True)
class Option:
    """What may be chosen of a layout.

    Attributes:
        setting: JaxMARL's name.
        values: what it is there by what it is called here; None: a whole number from 1 on.
        default: what JaxMARL's own default is called here.
        other: what else may be said where numbers are expected, and what it is there.
    """

    setting: str
    values: Mapping[str, Any] | None
    default: str
    other: Mapping[str, Any] | None = None

    def read(self, text: str) -> Any:
        """Returns JaxMARL's value of what was said; raises KeyError where it cannot be said."""
        if self.values is not None:
            return self.values[text]
        if self.other is not None and text in self.other:
            return self.other[text]
        if not (text.isascii() and text.isdecimal() and 1 <= int(text) < 1_000_000) or text.startswith("0"):
            raise KeyError(text)
        return int(text)

    @property
    def expected(self) -> str:
        """What may be said, in words."""
        if self.values is not None:
            return " or ".join(self.values)
        return " or ".join(["a whole number from 1 on", *(self.other or {})])


OPTIONS: Final[dict[str, Option]] = {
    "sight": Option("agent_view_size", None, "all", {"all": None}),
    "starts": Option("random_agent_positions", {"fixed": False, "random": True}, "fixed"),
    "wrong": Option("negative_rewards", {"free": False, "costs": True}, "free"),
    "recipe": Option("sample_recipe_on_delivery", {"kept": False, "redrawn": True}, "kept"),
    "delivery": Option("indicate_successful_delivery", {"silent": False, "signal": True}, "silent"),
    "cooking": Option("start_cooking_interaction", {"alone": False, "started": True}, "alone"),
    "kitchen": Option("random_reset", {"empty": False, "random": True}, "empty"),
    "steps": Option("max_steps", None, STEPS),
}
"""By name: how many cells players see each way, whether starts are drawn, what a wrong delivery costs, whether a
delivery draws the recipe anew and is signalled, what starts a pot, whether the kitchen is drawn, how long a game is."""

ADAPTED: Final = {"sight": "2", "starts": "random"}
CHALLENGE: Final = {**ADAPTED, "wrong": "costs", "recipe": "redrawn"}
TEST_TIME: Final = {**CHALLENGE, "delivery": "signal"}


@dataclass(frozen=True)
class Layout:
    """One layout.

    Attributes:
        name: JaxMARL's.
        options: as the paper plays it, where that is not JaxMARL's default.
        symmetric: whether recipes have several ingredients that may trade places.
    """

    name: str
    options: Mapping[str, str]
    symmetric: bool

    @property
    def id(self) -> str:
        """What the layout is called here, e.g. `overcooked-v2-cramped-room`."""
        return f"{FAMILY}-{self.name.replace('_', '-')}"


LAYOUTS: Final = (
    *(
        Layout(name, {}, False)
        for name in ("cramped_room", "asymm_advantages", "coord_ring", "forced_coord", "counter_circuit")
    ),
    *(
        Layout(name, ADAPTED, True)
        for name in (
            "cramped_room_v2",
            "asymm_advantages_recipes_center",
            "asymm_advantages_recipes_right",
            "asymm_advantages_recipes_left",
        )
    ),
    *(Layout(name, {}, True) for name in ("two_rooms", "two_rooms_both")),
    Layout("long_room", {}, False),
    *(
        Layout(name, {}, True)
        for name in (
            "fun_coordination",
            "more_fun_coordination",
            "fun_symmetries",
            "fun_symmetries_plates",
            "fun_symmetries1",
        )
    ),
    *(Layout(name, CHALLENGE, True) for name in ("grounded_coord_simple", "grounded_coord_ring")),
    *(Layout(name, TEST_TIME, True) for name in ("test_time_simple", "test_time_wide")),
    *(Layout(name, CHALLENGE, True) for name in ("demo_cook_simple", "demo_cook_wide")),
)
BY_ID: Final = {layout.id: layout for layout in LAYOUTS}
LISTED: Final = "overcooked-v2-cramped-room"
"""Lists of games name this layout for all."""


def parse(game_id: str) -> tuple[Layout, dict[str, str]]:
    """Returns a layout and what is chosen of it, every option named.

    Args:
        game_id: e.g. `overcooked-v2-cramped-room` or `overcooked-v2-cramped-room,sight=2,delivery=signal`.

    Raises:
        GameError: there is no such layout or option, or an option is said twice or cannot be what it is said to be.
    """
    name, *said = game_id.split(",")
    if name not in BY_ID:
        nearest = get_close_matches(name, BY_ID, n=1)
        hint = f" Did you mean {nearest[0]}?" if nearest else ""
        raise UnknownGameError(f"There is no layout {name!r}.{hint} Known: {', '.join(BY_ID)}.")
    layout = BY_ID[name]
    chosen = {option: about.default for option, about in OPTIONS.items()} | dict(layout.options)
    given: set[str] = set()
    for part in said:
        option, _, value = part.partition("=")
        if option not in OPTIONS or option in given:
            twice = "is said twice" if option in given else "is no option"
            raise GameError(f"{option!r} in {game_id!r} {twice}: options of {FAMILY} are {', '.join(OPTIONS)}.")
        given.add(option)
        try:
            OPTIONS[option].read(value)
        except KeyError:
            raise GameError(f"{option} is {value!r} in {game_id!r}: expected {OPTIONS[option].expected}.") from None
        chosen[option] = value
    return layout, chosen


def canonical(game_id: str) -> str:
    """Returns the one id of all that mean the same game: options that change nothing are left out.

    Raises:
        GameError: see `parse`.
    """
    layout, chosen = parse(game_id)
    usual = {option: about.default for option, about in OPTIONS.items()} | dict(layout.options)
    return ",".join(
        [layout.id, *(f"{option}={chosen[option]}" for option in OPTIONS if chosen[option] != usual[option])]
    )


def settings(chosen: Mapping[str, str]) -> dict[str, Any]:
    """Returns what JaxMARL is told, given every option."""
    return {about.setting: about.read(chosen[option]) for option, about in OPTIONS.items()}
