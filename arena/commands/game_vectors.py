"""`cwm games vectors`: how long vectors of observations are, and how many unseen observations come back, by game."""

from typing import Annotated

import typer

from arena.figures.sheet import Sheet
from arena.matches.game_source import game_info, open_game
from arena.terminal import console
from arena.terminal.options import AsJson, Seed
from cwm.observations.samples import samples_of
from cwm.observations.vectors import RoundTrip, round_trip
from cwm.trajectories.recorded import game_seed
from cwm.trajectories.varied import varied_game
from games import registry
from games.api import Json

HELD_OUT_SEED_OFFSET = 4_000_037
"""Games that are tried have seeds of their own: no sample is among them."""


def command(
    games: Annotated[list[str] | None, typer.Argument(help="Ids of games; none for all that are registered.")] = None,
    samples: Annotated[int, typer.Option("--samples", min=1, help="Games that the schema is inferred from.")] = 50,
    held_out: Annotated[int, typer.Option("--held-out", min=1, help="Other games that it is tried on.")] = 50,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Infer how each game's observations become lists of floats, and say how many unseen ones come back exactly."""
    # Half of the games are played at random, half with rare kinds of action as likely as common ones.
    chosen = games or registry.ids()
    for game in chosen:
        game_info(game)
    found: dict[str, RoundTrip] = {}
    for game in chosen:
        console.notices.print(f"playing {samples} + {held_out} games of {game}")
        found[game] = round_trip(
            _seen(game, samples, seed), _seen(game, held_out, game_seed(seed, HELD_OUT_SEED_OFFSET))
        )
    if as_json:
        console.print_json({game: trip.to_json() for game, trip in found.items()})
        return
    table = Sheet("", ["game", "numbers", "samples", "held out", "come back", "changed", "first that does not fit"])
    for game, trip in found.items():
        figures = map(str, (trip.width, trip.samples, trip.held_out, f"{trip.share or 0.0:.4f}", trip.changed))
        table.add(game, *figures, trip.first_error)
    console.out.print(table)


def _seen(game: str, games: int, seed: int) -> list[Json]:
    with open_game(game) as made:
        played = [varied_game(made, seed, index) for index in range(games)]
    return [observation for _, observation in samples_of(played)]
