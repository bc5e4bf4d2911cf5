"""What functions between observations and vectors are written for, and the settings of asking for them."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from cwm import closed_deck
from cwm.function_types import FunctionConfig, FunctionConfigError
from cwm.observation_structures import kind_of
from cwm.test_types import Deck
from cwm.trajectories import Trajectory
from games.api import GameInfo, Json, Observation

Sample: TypeAlias = tuple[int, Observation]
"""A player and what it saw."""

SHOWN_CHARACTERS: Final = 24_000
"""The examples of a prompt are about so long at most."""
MAX_CHECKED: Final = 2_000
"""So many different observations are put to a program at most."""


class VectorConfigError(FunctionConfigError):
    """A setting of the functions between observations and vectors is unknown or out of range."""


@dataclass(frozen=True)
class VectorConfig(FunctionConfig):
    """Settings of asking for functions between observations and vectors.

    Attributes:
        num_candidates: pairs of functions asked for, one call each.
        repairs: further calls for a pair whose checks fail.
        games: varied games that the model plays by itself, once for samples beside the recorded games, once to hold
            out.
        planner_games: games of a planner on the model, likewise: what players who think come to see.
        planner_simulations: of that planner, a move.
    """

    error = VectorConfigError

    num_candidates: int = 1
    min_calls_per_s: float = 200.0
    repairs: int = 3
    games: int = 20
    planner_games: int = 4
    planner_simulations: int = 20

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.repairs < 0 or self.games < 1 or self.planner_games < 0 or self.planner_simulations < 1:
            raise VectorConfigError(
                "repairs and planner_games must be at least 0, games and planner_simulations at least 1; given "
                f"repairs={self.repairs}, games={self.games}, planner_games={self.planner_games}, "
                f"planner_simulations={self.planner_simulations}"
            )


@dataclass(frozen=True)
class VectorTask:
    """What functions between observations and vectors are written for.

    Attributes:
        rules: the rules in words.
        info: players.
        source: the synthesised model.
        recorded: samples of the recorded games, which the prompt may show.
        samples: those and the model's own: every function must write and read them all.
        held_out: samples of other games: what decides.
    """

    rules: str
    info: GameInfo
    source: str
    recorded: tuple[Sample, ...]
    samples: tuple[Sample, ...]
    held_out: tuple[Sample, ...]


def samples_of(trajectories: Sequence[Trajectory], deck: Deck = "open") -> list[Sample]:
    """Returns what the players saw of recorded games; in the closed deck, what one player saw of each."""
    if deck == "open":
        return [seen for game in trajectories for step in game.steps for seen in enumerate(step.observations)]
    found: list[Sample] = []
    for game in trajectories:
        view = closed_deck.view(game)
        found += [(view.player, observation) for observation, _ in view.decisions]
        found.append((view.player, view.final_observation))
    return found


def distinct(samples: Sequence[Sample], most: int = MAX_CHECKED) -> list[Sample]:
    """Returns different samples in their order, spread evenly where there are more than `most`."""
    found = list({_text(sample): sample for sample in samples}.values())
    if len(found) <= most:
        return found
    return [found[place * len(found) // most] for place in range(most)]


def examples(samples: Sequence[Sample], characters: int = SHOWN_CHARACTERS) -> list[Sample]:
    """Returns samples for a prompt: the first, then each that shows something new, while there is room.

    New is a player, a key, a type, a length of a list, or a text at a place where it was not seen before.
    """
    chosen: list[Sample] = []
    known: set[tuple[str, str]] = set()
    room = characters
    for sample in distinct(samples):
        shown = {("player", str(sample[0])), *_features(sample[1], "")}
        length = len(repr(sample[1]))
        if (shown <= known and chosen) or (length > room and chosen):
            continue
        known |= shown
        room -= length
        chosen.append(sample)
    return chosen


def render(samples: Sequence[Sample]) -> str:
    """Returns samples as Python text for a prompt."""
    return "\n".join(f"(player_id={player}) {observation!r}" for player, observation in samples)


def _text(sample: Sample) -> str:
    return json.dumps(sample, sort_keys=True)


def _features(value: Json, path: str) -> Iterator[tuple[str, str]]:
    yield path, kind_of(value)
    if isinstance(value, str):
        yield path, f"={value}"
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _features(item, f"{path}.{key}")
    elif isinstance(value, list | tuple):
        yield path, str(len(value))
        for item in value:
            yield from _features(item, f"{path}[]")
