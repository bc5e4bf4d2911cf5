"""Matches of a synthesised model's planner: with the planner on the true game, with random, with a language model."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from arena.agents.model import leaf_of
from arena.agents.specs import AgentSpec
from arena.language_players.models import PlayerModels
from arena.machine import shipped
from arena.machine.runtime import Runtime
from arena.matches import recorded_games, store, tournament
from arena.matches.match import GameRecord
from arena.matches.plan import TournamentConfig
from arena.matches.recorded_games import LLM, MODEL, RANDOM, TRUE
from arena.matches.store import FILE_NAME, write_standings
from arena.matches.tournament import Progress, TournamentResult
from arena.papers.cwm.tables import matches
from arena.papers.cwm.tables.places import MATCHES, ONLINE, PLAYER, WITHOUT_VALUE, Place
from arena.papers.cwm.tables.settings import PaperWishes, Scale
from arena.runs.settings import MatchSettings, planner_config
from cwm.llm.caps import Caps
from cwm.model.bundle import ModelBundle
from cwm.storage.keys import content_key, derive
from games import registry
from games.api import EstimatesValue
from search.api import PlannerConfig

MOVE_SECONDS: Final = 600.0
"""A move of the paper's 1,000 simulations with 10 rollouts each may take minutes: nobody is to forfeit by that."""

OnGame = Callable[[Progress], None]


@dataclass(frozen=True)
class Deals:
    """Which deals a synthesis is played on: the paper picks one of them for each match, here they share the deals.

    Attributes:
        count: for each pair of agents.
        seed: from which they derive; each synthesis meets deals of its own.
    """

    count: int
    seed: int

    @classmethod
    def shared(cls, deals: int, seeds: Sequence[int], place: Place, seed: int) -> "Deals":
        """Returns the share of one of several syntheses that are played."""
        position = list(seeds).index(place.seed)
        count = max(1, deals // len(seeds) + (position < deals % len(seeds)))
        return cls(count, derive("paper", seed, place.seed))


def config(
    place: Place, scale: Scale, asked: PaperWishes, deals: Deals, *, value: bool = True, llm: bool = False
) -> TournamentConfig:
    """Returns the tournament of one synthesis, prepared.

    Args:
        place: the synthesis.
        scale: simulations and rollouts.
        asked: the language model.
        deals: how many, and which.
        value: whether the model's value function is used, where it has one.
        llm: the language model as the opponent, instead of random and the planner on the true game.
    """
    bundle = ModelBundle.load(place.folder)
    settings = planner(place.game, scale).to_json()
    del settings["algorithm"]
    leaf = leaf_of(bundle) if value else "rollout"
    model = AgentSpec("cwm", MODEL, planner=settings | {"leaf": leaf}, model=str(place.folder))
    if llm:
        agents: tuple[AgentSpec, ...] = (model, AgentSpec("llm", LLM, model=asked.llm, llm=_llm_options(asked)))
    else:
        agents = (model, _on_true_game(place.game, settings), AgentSpec("random", RANDOM))
    return tournament.prepare(
        TournamentConfig(
            game=place.game,
            agents=agents,
            deals=deals.count,
            seed=deals.seed,
            lineups=tuple((0, other) for other in range(1, len(agents))),
            runtime=Runtime(level=shipped.level_of([bundle.hash]), move_timeout_s=MOVE_SECONDS),
        )
    )


def planner(game: str, scale: Scale) -> PlannerConfig:
    """Returns the settings of every planner of a game."""
    matches = MatchSettings(scale.deals, scale.simulations, scale.rollouts)
    perfect = registry.make(game).info.perfect_information
    return planner_config(matches, perfect, scale.simulations)


def _on_true_game(game: str, settings: dict[str, Any]) -> AgentSpec:
    made = registry.make(game)
    kind = "mcts" if made.info.perfect_information else "ismcts"
    leaf = {"leaf": "value"} if isinstance(made, EstimatesValue) else {"leaf": "rollout"}
    return AgentSpec(kind, TRUE, planner=settings | leaf)


def _llm_options(asked: PaperWishes) -> dict[str, Any]:
    # The CWM paper gives a bad answer no second chance (C.2).
    return {"retries": 0} | ({} if asked.base_url is None else {"base_url": asked.base_url}) | asked.how_asked


def play(
    folder: Path, prepared: TournamentConfig, workers: int, on_game: OnGame | None = None, caps: Caps | None = None
) -> TournamentResult:
    """Plays what is missing of a tournament, in its folder."""
    with (
        tournament.opened(folder, prepared.to_json()) as kept,
        PlayerModels(prepared.agents, folder, caps, None, prepared.game_identity) as models,
    ):
        result = tournament.run(prepared, kept, workers=workers, on_game=on_game, models=models)
        write_standings(folder, result.table.to_json())
        return result


def stored(place: Place, part: str = MATCHES) -> list[GameRecord]:
    """Returns the finished games of a synthesis's matches, [] if there are none.

    Raises:
        StoreError: the file of games is damaged.
    """
    folder = place.part(part)
    if not (folder / FILE_NAME).exists():
        return []
    return list(store.read(folder).games.values())


def games(place: Place, live: bool) -> list[GameRecord]:
    """Returns the games in which a synthesis's model was played, in a fixed order.

    A model that plays in none, as no table is about its matches, is tested on those of the usual synthesis of the game.

    Args:
        place: the synthesis.
        live: whether a live language model plays; otherwise the recorded games with one count too.
    """
    found = [record for part in (MATCHES, PLAYER, WITHOUT_VALUE) for record in matches.stored(place, part)]
    if place.variant == "tree":
        return found if live else found + recorded_games.games(place.game)
    return found or games(Place(place.root, place.game, "tree", place.seed), live)


def folder(place: Place, played: Sequence[GameRecord]) -> Path:
    """Returns where the evaluation on these games is kept: other games are another evaluation."""
    return place.part(f"{ONLINE}-{content_key([record.actions for record in played])[:12]}")
