"""OvercookedV2 as a `PosgModel`; `RULES.md` is the specification.

Rules: Gessler, Dizdarević, Calinescu, Ellis, Lupu, Foerster, "OvercookedV2: rethinking Overcooked for zero-shot
coordination" (2025), and where the paper leaves something open, JaxMARL 0.2 (Rutherford et al. 2024), with which every
step is compared (`games.batched.overcooked_v2.differential`).
"""

import random
from collections.abc import Sequence
from dataclasses import replace

from games.api import Json
from games.posg.api import Choose, Joint, Moved, PosgInfo
from games.posg.overcooked_v2 import layouts
from games.posg.overcooked_v2.kitchens import BUTTON, FACINGS, POT, Kitchen, item_of, kitchen, words
from games.posg.overcooked_v2.rules import ACTIONS, COOKING, DELIVERY, PRESS, House, KitchenRules, Stepped, Table
from games.posg.overcooked_v2.sight import NAMES, KitchenSight, Seen
from games.posg.overcooked_v2.starts import Starts, read

_NUMBER = {action: number for number, action in enumerate(ACTIONS)}


def make(game: str, steps: int | None = None) -> "OvercookedV2":
    """Returns a layout by its id.

    Args:
        game: e.g. `overcooked-v2-cramped-room,sight=2`.
        steps: after which it is broken off; None: as the id says.

    Raises:
        GameError: there is no such layout, or no such option of it.
    """
    layout, chosen = layouts.parse(game)
    house = house_of(chosen)
    return OvercookedV2(
        layouts.canonical(game), kitchen(layout.name), house if steps is None else replace(house, steps=steps)
    )


def house_of(chosen: dict[str, str]) -> House:
    """Returns what was chosen of a layout, given every option."""
    told = layouts.settings(chosen)
    return House(
        sight=told["agent_view_size"],
        starts=told["random_agent_positions"],
        wrong=told["negative_rewards"],
        redrawn=told["sample_recipe_on_delivery"],
        signal=told["indicate_successful_delivery"],
        started=told["start_cooking_interaction"],
        random=told["random_reset"],
        steps=told["max_steps"],
    )


class OvercookedV2:
    """State: a `Table`. Observation: `Seen`."""

    def __init__(self, game_id: str, kitchen: Kitchen, house: House) -> None:
        """Makes the game.

        Args:
            game_id: of it.
            kitchen: where it is played.
            house: what was chosen.
        """
        agents = len(kitchen.starts)
        least, most = bounds(kitchen, house)
        self.kitchen, self.house = kitchen, house
        self.info = PosgInfo(
            id=game_id,
            agent_names=tuple(f"chef_{number}" for number in range(agents)),
            utility="identical",
            actions=(ACTIONS,) * agents,
            min_step=float(agents * min(-DELIVERY if house.wrong else 0, PRESS if kitchen.buttons else 0)),
            max_step=float(agents * DELIVERY),
            min_utility=float(least),
            max_utility=float(most),
            step_limit=house.steps,
        )
        self.rules = KitchenRules(kitchen, house)
        self.sight = KitchenSight(kitchen, house.sight, house.signal)
        self.starts = Starts(kitchen, house, self.sight)
        self._agents = tuple(range(agents))
        self.redraws = house.redrawn and len(kitchen.recipes) > 1
        self._going = (False,) * agents

    def initial_state(self, choose: Choose) -> Table:
        return self.starts.draw(choose)

    def initial_state_given(self, agent: int, observation: Seen, choose: Choose) -> Table:
        """Returns a start in which `agent` sees `observation`, drawn given that."""
        return self.starts.given(agent, observation, choose)

    def active(self, state: Table) -> Sequence[int]:
        return self._agents

    def legal_actions(self, state: Table, agent: int) -> Sequence[str]:
        return ACTIONS

    def stepped(self, state: Table, actions: Joint) -> Stepped:
        """Returns what a step makes but for the draw of a recipe, with its shaping."""
        return self.rules.step(state, [_NUMBER[action] for action in actions])

    def move(self, state: Table, actions: Joint, choose: Choose) -> Moved:
        after, paid, _ = self.stepped(state, actions)
        if after[5] and self.redraws:
            after = (*after[:4], read(choose("recipe", self.starts.recipes)), after[5])
        return after, (float(paid),) * len(self._agents), self._going

    def sample_step(self, state: Table, actions: Joint, rng: random.Random) -> Moved:
        """As `move`."""
        after, paid, _ = self.rules.step(state, [_NUMBER[action] for action in actions])
        if after[5] and self.redraws:
            after = (*after[:4], rng.choice(self.kitchen.recipes), after[5])
        return after, (float(paid),) * len(self._agents), self._going

    def observe(self, state: Table, actions: Joint | None, choose: Choose) -> Sequence[Seen]:
        return self.sight.of(state)

    def sample_observations(self, state: Table, actions: Joint | None, rng: random.Random) -> Sequence[Seen]:
        """As `observe`: observations have no chance."""
        return self.sight.of(state)

    def state_to_json(self, state: Table) -> Json:
        chefs, items, cooking, lights, recipe, praised = state
        place = self.kitchen.place
        kept = [*zip(self.kitchen.holders, items, (*cooking, *[0] * (len(items) - len(cooking))), strict=True)]
        kept += [(cell, 0, left) for cell, left in zip(self.kitchen.buttons, lights, strict=True)]
        return {
            "chefs": [
                {"cell": place(cell), "facing": FACINGS[facing], "item": words(held)}
                for cell, facing, held in zip(chefs[::3], chefs[1::3], chefs[2::3], strict=True)
            ],
            "cells": [
                {"cell": place(cell), "kind": NAMES[self.kitchen.cells[cell]], "item": words(item), "timer": left}
                for cell, item, left in sorted(kept)
                if item or left
            ],
            "recipe": words(recipe),
            "delivered": praised,
        }

    def state_from_json(self, described: Json) -> Table:
        kept = {self.kitchen.cell(told["cell"]): told for told in described["cells"]}
        items = tuple(item_of(kept[cell]["item"]) if cell in kept else 0 for cell in self.kitchen.holders)
        cooking, lights = (
            tuple(kept[cell]["timer"] if cell in kept else 0 for cell in self.kitchen.of_kind(kind))
            for kind in (POT, BUTTON)
        )
        chefs: tuple[int, ...] = ()
        for told in described["chefs"]:
            chefs += self.kitchen.cell(told["cell"]), FACINGS.index(told["facing"]), item_of(told["item"])
        return chefs, items, cooking, lights, item_of(described["recipe"]), described["delivered"]

    def observation_to_json(self, agent: int, observation: Seen) -> Json:
        return self.sight.to_json(observation)

    def observation_from_json(self, agent: int, described: Json) -> Seen:
        """Returns an observation as the model has it."""
        return self.sight.from_json(described)

    def vector_bounds(self, agent: int) -> tuple[Sequence[float], Sequence[float]]:
        """Returns the bounds of the channels of all cells in sight."""
        most = [float(number) for number in self.sight.most()] * (self.sight.width * self.sight.height)
        return (0.0,) * len(most), most

    def encode(self, agent: int, observation: Seen) -> Sequence[float]:
        return self.sight.encode(observation)

    def render(self, state: Table, agent: int | None = None) -> str:
        """Returns rows of the kitchen, or of what one chef sees, with the chefs as numbers and what lies where."""
        if agent is None:
            told = self.state_to_json(state)
            rows, chefs = self.kitchen.rows, [(str(number), chef) for number, chef in enumerate(told["chefs"])]
        else:
            told = self.sight.to_json(self.sight.of(state)[agent])
            rows, chefs = told["view"], [(str(agent), told["self"]), *(("&", other) for other in told["others"])]
        signs = [list(row) for row in rows]
        lines = []
        for sign, chef in chefs:
            column, row = chef["cell"]
            signs[row][column] = sign
            lines.append(f"chef {sign} faces {chef['facing']}, holds {_said(chef['item'])}")
        for cell in told["cells"]:
            left = f", {cell['timer']} steps left" if cell["timer"] else ""
            lines.append(f"{cell['kind']} {cell['cell']}: {_said(cell['item'])}{left}")
        recipe = told["recipe"]
        return "\n".join(["".join(row) for row in signs] + lines + [f"recipe: {_said(recipe) if recipe else '?'}"])


def bounds(kitchen: Kitchen, house: House) -> tuple[int, int]:
    """Returns bounds of what can be paid in a game: a pot gives a dish every `COOKING` steps at most."""
    dishes = len(kitchen.pots) * (house.steps // COOKING)
    if house.random:
        dishes += len(kitchen.holders) + len(kitchen.starts)
    dishes = min(dishes, len(kitchen.starts) * house.steps)
    presses = len(kitchen.starts) * house.steps if kitchen.buttons else 0
    return (-DELIVERY * dishes if house.wrong else 0) + PRESS * presses, DELIVERY * dishes


def _said(item: Sequence[str]) -> str:
    return " ".join(item) or "nothing"
