"""`cwm benchmark hanabi`: what is known, believed and dealt, what the bots get beside what was published, and times.

Games of bots are kept, so that it goes on after a kill; a change in the game's folder begins them anew.
"""

import hashlib
import math
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from time import process_time
from typing import Final

from arena.agents.specs import parse
from arena.benchmarks import hanabi_truth
from arena.benchmarks.measurement import Measurement
from arena.figures.intervals import Estimate
from arena.matches import tournament
from arena.matches.plan import TournamentConfig
from arena.matches.store import MemoryStore
from games.hanabi.config import VARIANTS
from games.hanabi.game import VIEWS, Hanabi
from games.hanabi.reading import read

GAMES: Final = 2000
SEED: Final = 2028
SPEED_GAMES: Final = 100
SECONDS: Final = 2.0
OBSERVED_GAMES: Final = 4


@dataclass(frozen=True)
class Band:
    """What the points of a bot are held to.

    Attributes:
        bot: a partner.
        players: at the table.
        published: mean points, None where only a range is known.
        low: of the range.
        high: of the range.
    """

    bot: str
    players: int
    published: float | None
    low: float
    high: float


def _around(bot: str, within: float, **points: float) -> list[Band]:
    """Returns bands around published points, by player count as `p2=16.92`."""
    return [
        Band(bot, int(count[1:]), mean, round(mean - within, 2), round(mean + within, 2))
        for count, mean in points.items()
    ]


BANDS: Final = (
    *_around("blind", 0.1, p2=1.25),
    *_around("simple", 0.25, p2=16.92, p3=18.48, p4=19.32, p5=18.50),
    *_around("value", 0.3, p2=19.79, p3=19.43, p4=19.39, p5=17.76),
    Band("hat", 3, 24.26, 24.2, 25.0),
    Band("hat", 4, 24.86, 24.8, 25.0),
    Band("hat", 5, 24.89, 22.0, 25.0),
    Band("iggi", 2, 15.99, 15.0, 18.0),
    Band("piers", 2, 16.99, 15.0, 18.0),
)
"""Points kept, in games that lost all lives too: O'Dwyer's table over 10^6 games; of iggi and piers Canaan et al. 2020,
who count a lost game as 0. Hat's 22 with five players is the least that is asked of it."""


def run(folder: Path, games: int, workers: int, say: Callable[[str], None]) -> Iterator[Measurement]:
    """Yields every figure as it comes.

    Args:
        folder: keeps the games.
        games: of a bot and player count.
        workers: processes.
        say: told what is done.
    """
    yield from hanabi_truth.run(games, say)
    for band in BANDS:
        yield from points(band, folder, games, workers, say)
    yield from speed(games, say)


def folder_in(cache: Path, games: int) -> Path:
    """Returns where the games are kept: the place depends on the program of the game and its bots."""
    sources = sorted(resources.files("games.hanabi").iterdir(), key=lambda file: file.name)
    program = hashlib.sha256()
    for file in sources:
        if file.name.endswith(".py"):
            program.update(file.read_bytes())
    return cache / "hanabi" / program.hexdigest()[:16] / f"{games}-games"


def points(band: Band, folder: Path, games: int, workers: int, say: Callable[[str], None]) -> Iterator[Measurement]:
    """Plays the games that are missing of a bot with itself, and yields its points beside the published ones."""
    game = f"hanabi-{band.players}p"
    config = tournament.prepare(TournamentConfig(game, (parse(f"partner:{band.bot}"),), games, SEED, "self"))
    result = tournament.open_and_run(
        folder / f"{band.bot}-{band.players}p",
        config,
        workers=workers,
        on_game=lambda state: say(f"{band.bot}, {band.players} players: game {state.done} of {state.total}"),
    )
    found = result.table.lineups[0].further
    mean, error = found["points"].mean, found["points"].standard_error
    spread = "" if error is None else f" ± {error:.2f}"
    note = (
        f"points{spread}, {verdict(band, found['points'])}; strict {found['strict'].mean:.2f}, "
        f"bombed {found['bombed'].mean:.1%}, {len(result.records)} games"
    )
    yield Measurement(f"hanabi/{band.bot}/{band.players}p", mean, "points", band.published, note=note)


def verdict(band: Band, points: Estimate) -> str:
    """Returns where a mean lies; one of too few games whose 95 % interval meets the band says nothing."""
    where = f"{band.low:g} to {band.high:g}"
    if band.low <= points.mean <= band.high:
        return f"within {where}"
    error = math.inf if points.standard_error is None else 1.96 * points.standard_error
    if points.n < GAMES and points.mean - error <= band.high and points.mean + error >= band.low:
        return f"too few games to tell from {where}"
    return f"outside {where}"


def speed(games: int, say: Callable[[str], None]) -> Iterator[Measurement]:
    """Yields random games, views and games of a bot in the arena by the second of one processor's time."""
    say("times")
    game = Hanabi(VARIANTS["hanabi-2p"])
    rng, state, played, begun = random.Random(0), game.initial_state(), 0, process_time()
    while process_time() - begun < SECONDS:
        game.playout(state, rng, 10_000)
        played += 1
    yield Measurement("hanabi/speed/random games", played / (process_time() - begun), "games/s", note="hanabi-2p")
    positions = [
        (state, player) for _, state, player, *_ in hanabi_truth.moves("hanabi-2p", OBSERVED_GAMES) if player >= 0
    ]
    for view in VIEWS:
        read.cache_clear()
        begun = process_time()
        for position, player in positions:
            game.observation(position, player, view)
        each = (process_time() - begun) / len(positions) * 1e6
        yield Measurement(f"hanabi/speed/view {view}", each, "µs", note=f"{len(positions)} positions of hanabi-2p")
    deals = min(games, SPEED_GAMES)
    config = tournament.prepare(TournamentConfig("hanabi-2p", (parse("partner:simple"),), deals, SEED, "self"))
    begun = process_time()
    tournament.run(config, MemoryStore())
    rate = deals / (process_time() - begun)
    yield Measurement("hanabi/speed/simple in the arena", rate, "games/s", note=f"hanabi-2p, {deals} games")
