"""What a tournament is asked to play, and the games of its plan."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol

from arena.agents.specs import AgentSpec
from arena.machine.runtime import Runtime
from arena.matches.game_source import MODEL_PREFIX, is_model
from arena.matches.lineups import Pairing
from arena.matches.match import GameRecord, NamedDeck
from games import registry

RULES_VERSION = 1
"""Part of every key: raised when the same seeds would give another game."""
OWN_GAME = "own:"
"""Before the content hash of a game of the user's own, where stored games name it."""


@dataclass(frozen=True)
class TournamentConfig:
    """What is played. JSON out, to be kept beside the games.

    Attributes:
        game: registry id, or `cwm:RUN_OR_BUNDLE`: then that model decides what is legal and who wins. A file of the
            user's own is made absolute.
        agents: with distinct names.
        deals: deals a lineup; each is played in every distinct rotation of the seats.
        seed: every deal derives from it and from the game, so that all lineups meet the same deals.
        pairing: `all` lineups of as many agents as the game seats; `cross`: only those with two different agents or
            more; `self`: only those of one agent with itself.
        lineups: indices into `agents`, instead of `pairing`; None to use `pairing`.
        params: parameters of the game.
        runtime: limits of programs that are not trusted.
        referee: content hash of the model or of the user's own file that decides the games, filled in by `prepare`;
            None for a registered game.
        common_seeds: agents' seeds depend on deal and seat alone, so that two that decide alike play the same game.
        rotate: each lineup is played in all rotations of its seats; False: as it is given, as people sit down.
        in_turn: every deal is played by one lineup alone, the lineups in turn; False: by all of them.
        explain: games keep what their agents considered; no key and no game depends on it.
        decks: what chance does in each deal, in place of what a seed gives; () for seeds.
    """

    game: str
    agents: tuple[AgentSpec, ...]
    deals: int
    seed: int = 0
    pairing: Pairing = "all"
    lineups: tuple[tuple[int, ...], ...] | None = None
    params: dict[str, Any] = field(default_factory=dict)
    runtime: Runtime = field(default_factory=Runtime)
    referee: str | None = None
    common_seeds: bool = False
    rotate: bool = True
    in_turn: bool = False
    explain: bool = False
    decks: tuple[NamedDeck, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "game", registry.absolute(self.game))

    @property
    def game_identity(self) -> str:
        """What the games depend on: a model or a file counts by its content, not by its place."""
        if self.referee is None:
            return self.game
        return f"{MODEL_PREFIX if is_model(self.game) else OWN_GAME}{self.referee}"

    def programs(self) -> list[str | None]:
        """Returns the hashes of all models that play or decide: programs that run in a sandbox."""
        models = [spec.model_hash for spec in self.agents if spec.traits.sandboxed]
        return [*models, self.referee] if is_model(self.game) else models

    def to_json(self) -> dict[str, Any]:
        data = {
            "version": RULES_VERSION,
            "game": self.game_identity,
            "params": self.params,
            "agents": [spec.identity() for spec in self.agents],
            "deals": self.deals,
            "seed": self.seed,
            "pairing": self.pairing,
            "lineups": None if self.lineups is None else [list(lineup) for lineup in self.lineups],
            "runtime": self.runtime.to_json(),
        }
        # Stored tournaments hold this: one with seeds of its own keeps what it always had.
        data |= {"common_seeds": True} if self.common_seeds else {}
        data |= {"decks": [asdict(deck) for deck in self.decks]} if self.decks else {}
        data |= {"in_turn": True} if self.in_turn else {}
        return data if self.rotate else data | {"rotate": False}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "TournamentConfig":
        """Builds what `to_json` wrote; its agents are enough to plan the games, and to play them if none has a model.

        Raises:
            TournamentError: another version of the rules of tournaments wrote it, or it is damaged.
        """
        if data.get("version") != RULES_VERSION:
            raise TournamentError(
                f"The tournament has version {data.get('version')!r} and this program plays {RULES_VERSION}: "
                "use the version that made it."
            )
        try:
            lineups = data["lineups"]
            return cls(
                game=data["game"],
                referee=_referee(data["game"]),
                agents=tuple(AgentSpec.from_json(spec) for spec in data["agents"]),
                deals=data["deals"],
                seed=data["seed"],
                pairing=data["pairing"],
                lineups=None if lineups is None else tuple(tuple(lineup) for lineup in lineups),
                params=data["params"],
                runtime=Runtime.from_json(data["runtime"]),
                common_seeds=data.get("common_seeds", False),
                rotate=data.get("rotate", True),
                in_turn=data.get("in_turn", False),
                decks=decks_of(data),
            )
        except (KeyError, TypeError, AttributeError) as error:
            raise TournamentError(
                f"The configuration of the tournament is damaged ({type(error).__name__}: {error}): restore it."
            ) from error


def decks_of(data: Mapping[str, Any]) -> tuple[NamedDeck, ...]:
    """Returns the decks of a configuration as JSON, () where seeds deal."""
    return tuple(map(NamedDeck.from_json, data.get("decks", ())))


def _referee(identity: str) -> str | None:
    """Returns what stands behind the mark of a game that is known by its content; None for a registered one."""
    mark = next((mark for mark in (MODEL_PREFIX, OWN_GAME) if identity.startswith(mark)), None)
    return None if mark is None else identity.removeprefix(mark)


@dataclass(frozen=True)
class PlannedGame:
    """One game to be played; JSON out for the worker process.

    Attributes:
        key: content hash of everything that its course depends on.
        seats: resolved agents by seat.
        deal: number of the deal.
        deal_seed: see `match.play`.
        course: what the agents' seeds are made from: the key, or without the name of a language model that plays.
        deck: what chance does; None for what the seed gives.
    """

    key: str
    seats: tuple[AgentSpec, ...]
    deal: int
    deal_seed: int
    course: str
    deck: NamedDeck | None = None

    def job(self, config: TournamentConfig) -> dict[str, Any]:
        return {
            "key": self.key,
            "course": self.course,
            "game": config.game,
            "referee": config.referee,
            "params": config.params,
            "seats": [spec.to_json() for spec in self.seats],
            "deal_seed": self.deal_seed,
            "runtime": config.runtime.to_json(),
            "common_seeds": config.common_seeds,
            "explain": config.explain,
            "deck": None if self.deck is None else asdict(self.deck),
        }


class Teaching(Protocol):
    """Lets agents learn between the games of a tournament, see `arena.pipeline.online_learning`."""

    def job(self, job: dict[str, Any]) -> dict[str, Any]:
        """Returns the job of a planned game with the agents' models as they are now."""
        ...

    def learn(self, game: PlannedGame, record: GameRecord) -> None:
        """Takes a finished game; called for each in the order of the plan, also for those of an earlier process."""
        ...


class TournamentError(ValueError):
    """A tournament cannot be played as asked."""
