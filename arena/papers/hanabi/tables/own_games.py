"""Games of ours that stand beside the paper's: of stored runs, of recordings that ship, and of bots, played at once."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from arena.agents.partner import partners
from arena.agents.specs import AgentSpec, parse
from arena.decisions import walk
from arena.figures.intervals import Estimate, mean_estimate
from arena.matches import recorded_games, tournament
from arena.matches.game_source import named_decks, open_game
from arena.matches.match import GameRecord
from arena.matches.plan import TournamentConfig
from arena.matches.tournament import Progress

GAMES: Final = {"2p": "hanabi-2p", "3p": "hanabi-3p", "4p": "hanabi-4p", "5p": "hanabi-5p"}
"""The paper's games, by column."""
DECKS: Final = ("hle:1,2,3,5,7,11",)
"""Decks of seeds that the paper names or whose games it prints; its whole list is lost."""
PLAIN: Final = "plain"


@dataclass(frozen=True)
class SeatSetting:
    """Who sat at a seat, as far as tables tell players apart.

    Attributes:
        label: name of the model, or of another agent.
        scaffold: of a language model, None for others.
        k: answers to one decision.
        mixture: whether several roles were asked.
        bot: name of the partner that played, None for others.
    """

    label: str
    scaffold: str | None = None
    k: int = 1
    mixture: bool = False
    bot: str | None = None

    @property
    def words(self) -> str:
        """The setting in a table."""
        if self.scaffold is None:
            return self.label
        parts = [self.label, self.scaffold]
        parts += [f"k={self.k}"] if self.k > 1 else []
        parts += ["mixture"] if self.mixture else []
        return ", ".join(parts)


@dataclass(frozen=True)
class OwnGame:
    """One game.

    Attributes:
        column: number of players.
        seats: who sat where.
        deal: of the game; games on one deal count as alike.
        points: cards in the fireworks at the end, None of a forfeited game.
        strict: nothing after a third bomb or a forfeit.
    """

    column: str
    seats: tuple[SeatSetting, ...]
    deal: int
    points: float | None
    strict: float

    @property
    def alone(self) -> bool:
        """Whether all seats are of one kind."""
        return len(set(self.seats)) == 1


def stored(folder: Path) -> list[OwnGame]:
    """Returns the finished games of full Hanabi in a folder of games, or in several below it.

    Raises:
        StoreError: there are no games, or a file is damaged.
        UsageError: none of the folders holds a finished game.
    """
    columns = {game: column for column, game in GAMES.items()}
    found = []
    for place in walk.played(folder):
        if place.name in columns:
            specs = {spec.name: spec for spec in place.config.agents}
            found += [_own(columns[place.name], record, specs, ", stored") for record in place.games.values()]
    return found


def recorded() -> list[OwnGame]:
    """Returns the games of language models that ship."""
    return [_own(column, record, {}) for column, game in GAMES.items() for record in recorded_games.every_game(game)]


def bot_plans(decks: Sequence[str], columns: Iterable[str] = tuple(GAMES)) -> dict[str, TournamentConfig]:
    """Returns every bot's games with itself on named decks, by column.

    Args:
        decks: names, as for `arena.matches.game_source.named_decks`.
        columns: numbers of players.

    Raises:
        UsageError: a deck is named twice.
        GameError: there is no such deck.
    """
    return {column: _plan(GAMES[column], decks) for column in columns}


def bots(
    plans: Mapping[str, TournamentConfig], workers: int = 1, on_game: Callable[[int, int], None] | None = None
) -> Iterator[OwnGame]:
    """Plays the games of bots and yields them.

    Args:
        plans: as `bot_plans` returned them.
        workers: processes.
        on_game: told after each game how many are finished and how many there are.
    """
    total = sum(len(tournament.plan(config)) for config in plans.values())
    done = 0
    for column, config in plans.items():

        def progress(state: Progress, before: int = done) -> None:
            if on_game is not None:
                on_game(before + state.done, total)

        result = tournament.open_and_run(None, config, workers=workers, on_game=progress)
        specs = {spec.name: spec for spec in config.agents}
        yield from (_own(column, record, specs) for record in result.records)
        done += len(result.records)


def estimates(games: Iterable[OwnGame]) -> tuple[Estimate | None, Estimate | None, int, int]:
    """Returns points and strict with a deal as the unit, the number of games, and of those that were forfeited."""
    every = list(games)
    points: dict[int, list[float]] = {}
    strict: dict[int, list[float]] = {}
    for game in every:
        strict.setdefault(game.deal, []).append(game.strict)
        if game.points is not None:
            points.setdefault(game.deal, []).append(game.points)
    found = (mean_estimate([sum(values) / len(values) for values in by.values()]) for by in (points, strict))
    kept, counted = found
    return kept, counted, len(every), sum(game.points is None for game in every)


def _plan(game: str, decks: Sequence[str]) -> TournamentConfig:
    with open_game(game) as made:
        dealt = named_decks(made, decks)
    agents = tuple(parse(f"partner:{name}") for name in partners(game))
    return tournament.prepare(TournamentConfig(game, agents, len(dealt), pairing="self", decks=dealt))


def _own(column: str, record: GameRecord, specs: dict[str, AgentSpec], mark: str = "") -> OwnGame:
    """Returns a game; `mark` follows the names of players that are no language models."""
    seats = tuple(_setting(name, record.accounts.get(str(seat)), specs, mark) for seat, name in enumerate(record.seats))
    points = None if record.outcome is None else float(record.outcome["points"])
    return OwnGame(column, seats, record.deal_seed, points, record.won_score)


def _setting(name: str, account: dict[str, Any] | None, specs: dict[str, AgentSpec], mark: str) -> SeatSetting:
    if account is not None and "options" in account:
        options = account["options"]
        return SeatSetting(
            ", ".join(account["models"]) or account["asked"],
            options.get("scaffold", PLAIN),
            options.get("k", 1),
            options.get("mixture", False),
        )
    spec = specs.get(name)
    return SeatSetting(f"{name}{mark}", bot=spec.model if spec is not None and spec.kind == "partner" else None)
