"""What may be played, and the tables that are being played at: pages name both by keys that were made here."""

import secrets
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from arena.agents import posg
from arena.agents.partner import partners
from arena.agents.specs import AgentSpec, parse
from arena.checkpoints import populations
from arena.checkpoints.places import SHIPPED
from arena.matches.game_source import MODEL_PREFIX, game_info, rules_text
from arena.pipeline import recorded_models
from arena.usage import UsageError
from arena.web.table import Table, Wishes
from games import registry
from games.api import GameInfo
from games.posg import registry as posg_registry
from search.posg.session import UNIFORM
from search.posg.types import SOFTENED

MOST_TABLES: Final = 16
"""Games at a time; the oldest is left when another begins."""
KEPT_TABLES: Final = 64
LONGEST: Final = 400
"""Characters of an agent's description."""
SEEDS: Final = 10**6


class NotHereError(Exception):
    """An address names nothing that there is."""


@dataclass(frozen=True)
class Offer:
    """A game that may be played.

    Attributes:
        key: what pages call it.
        name: what `open_game` calls it.
        title: for people.
        info: of the game.
    """

    key: str
    name: str
    title: str
    info: GameInfo


class Lobby:
    """Games and tables by key.

    Args:
        games: beside the registered ones, as `open_game` takes them.
        agents: descriptions that may be played with, whatever they start or read.

    Raises:
        UnknownGameError: there is no such game.
        AgentSpecError: a model or a description cannot be read.
    """

    def __init__(self, games: Sequence[str], agents: Sequence[str]) -> None:
        for text in agents:
            parse(text)
        self._given = tuple(agents)
        self.offers: dict[str, Offer] = {}
        for name in [*games, *registry.ids(), *registry.unlisted()]:
            key = f"g{len(self.offers)}"
            self.offers[key] = Offer(key, name, _title(name), game_info(name))
        self._tables: dict[str, Table] = {}
        self._lock = threading.Lock()

    def table(self, key: str) -> Table | None:
        """Returns a table by its key, None if there is none."""
        return self._tables.get(key)

    def described(self) -> list[dict[str, Any]]:
        """Returns the games for a page."""
        return [
            {
                "key": offer.key,
                "title": offer.title,
                "players": list(offer.info.player_names),
                "views": list(offer.info.views),
                "agents": self._suggested(offer),
            }
            for offer in self.offers.values()
        ]

    def rules(self, key: str) -> str:
        """Returns the rules of a game.

        Raises:
            GameError: it has none.
            AgentSpecError: nobody kept them.
        """
        return rules_text(self.offers[key].name)

    def open(self, key: str, seat: int, agents: Sequence[str], view: str, seed: int | None = None) -> str:
        """Begins a game and returns the key of its table.

        Args:
            key: of the game.
            seat: the person's.
            agents: descriptions of the others, in the order of the other seats.
            view: what the person is shown.
            seed: of the deal; None for a new one.

        Raises:
            UsageError: the wishes do not fit the game, or an agent may not be named here.
            AgentSpecError: a description cannot be read.
        """
        offer = self.offers.get(key)
        if offer is None:
            raise UsageError("There is no such game here; load the page again.")
        players = offer.info.num_players
        if not 0 <= seat < players or len(agents) != players - 1 or view not in offer.info.views:
            raise UsageError(f"{offer.title} has {players} seats and the views {', '.join(offer.info.views)}.")
        for text in agents:
            self._check(text, offer)
        chosen = secrets.randbelow(SEEDS) if seed is None else seed
        return self._begin(Wishes(offer.name, seat, tuple(agents), chosen, view))

    def again(self, table: Table) -> str:
        """Begins the same game with a new deal and returns the key of its table."""
        return self._begin(replace(table.wishes, seed=secrets.randbelow(SEEDS)))

    def _begin(self, wishes: Wishes) -> str:
        table = Table(wishes)
        name = secrets.token_urlsafe(9)
        with self._lock:
            running = [other for other in self._tables.values() if other.is_running]
            if len(running) >= MOST_TABLES:
                running[0].leave()
            self._tables[name] = table
            while len(self._tables) > KEPT_TABLES:
                self._tables.pop(next(iter(self._tables))).leave()
        table.start()
        return name

    def close(self) -> None:
        """Leaves every table."""
        for table in list(self._tables.values()):
            table.leave()

    def _suggested(self, offer: Offer) -> list[str]:
        info = offer.info
        planners = ["mcts:sims=200" if info.perfect_information and not info.simultaneous else "ismcts:sims=200"]
        if posg_registry.knows(info.id):
            known = populations.shipped_names(info.id)
            planners = ["posg:pomcp,sims=200", *(f"posg:ipomcp,types={name},sims=200" for name in known)]
        own = partners(info.id) if registry.knows(info.id) else ()
        recorded = [f"cwm:{name}" for name in recorded_models.names_of(info.id)]
        return ["random", *planners, *(f"partner:{name}" for name in own), *recorded, *self._given]

    def _check(self, text: str, offer: Offer) -> None:
        """Refuses what would start a program, read a file or cost money on the word of a page."""
        if len(text) > LONGEST:
            raise UsageError(f"An agent's description has {LONGEST} characters at most.")
        if text in self._given:
            return
        spec = parse(text)
        traits = spec.traits
        named = spec.model is None or traits.name == "partner"
        named = named or (traits.sandboxed and f"cwm:{spec.model}" in self._suggested(offer))
        shipped = SHIPPED / offer.info.id
        named = named or (traits.name == "ippo" and spec.model in {place.name for place in shipped.glob("*")})
        named = named and _policies_of(spec) <= _known_policies(offer.info.id)
        if traits.own or traits.program or traits.asks or traits.terminal or not named:
            raise UsageError(
                f"{text!r} names a file, a program, a person or a language model: such agents are given to the server "
                "when it starts, with the option `agent`."
            )


def _policies_of(spec: AgentSpec) -> set[str]:
    """Returns the policies that a planner's settings name, which may be folders and files."""
    named = [*spec.planner.get("types", ()), spec.planner.get("search", ""), spec.planner.get("unknown_as", "")]
    return {name.removeprefix(SOFTENED) for name in named if name}


def _known_policies(game: str) -> set[str]:
    """Returns the policies and populations that ship for a game, and those that every game has."""
    if not posg_registry.knows(game):
        return {UNIFORM}
    return {*posg.policies(posg_registry.make(game)), *populations.shipped_names(game)}


def _title(name: str) -> str:
    if name.startswith(MODEL_PREFIX):
        return f"{game_info(name).id}, as {name} has it"
    return f"{registry.describe(name).title} ({name})" if registry.knows(name) else name
