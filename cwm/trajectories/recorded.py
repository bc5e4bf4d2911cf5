"""Recorded games: what happened at every step, as versioned JSON lines."""

import gzip
import json
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias

from cwm.storage.files import utf8, write_whole
from games.api import CHANCE, TERMINAL, Action, Game, Json, ObsActionHistory, Observation, State, state_to_json

FORMAT_VERSION = 1
MAX_STEPS = 100_000
"""A game that has not ended by then is given up as endless."""

Policy: TypeAlias = Callable[[Game, State, ObsActionHistory, int, random.Random], Action]
"""Chooses an action: (game, state, the player's own history, player, rng). May look at the whole state."""


class EndlessGameError(RuntimeError):
    """A game did not end within `MAX_STEPS`: a model may have such games though it passes its tests."""


class TrajectoryFormatError(ValueError):
    """A trajectory file breaks the schema; the message names the file, the line and the field."""


@dataclass(frozen=True)
class Step:
    """One state of a game and what was done there.

    Attributes:
        state: the hidden state as JSON; None where it was not recorded, in the closed deck.
        player: who moves: 0, 1, …, -1 (chance) or -4 (over).
        legal_actions: of the player to move; chance's outcomes at a chance node; [] at the end.
        chance: (action, probability) at a chance node, else [].
        rewards: what the action before paid, one float a player.
        observations: what each player sees, by player id.
        action: what was done; None at the end.

    In a game that was recorded from one seat, {} and 0.0 stand for what the others saw and were paid.
    """

    state: Json
    player: int
    legal_actions: tuple[Action, ...]
    chance: tuple[tuple[Action, float], ...]
    rewards: tuple[float, ...]
    observations: tuple[Observation, ...]
    action: Action | None


@dataclass(frozen=True)
class Trajectory:
    """A whole game, from the initial state to the end.

    Attributes:
        game: id of the game.
        index: number within its file.
        seed: what the game was drawn with, None if unknown.
        player_names: by player id.
        steps: the last one has `action` None.
        seat: the one player whose turns, observations and rewards were recorded; None if everybody's were.
    """

    game: str
    index: int
    seed: int | None
    player_names: tuple[str, ...]
    steps: tuple[Step, ...]
    seat: int | None = None

    @property
    def returns(self) -> list[float]:
        """Sum of the rewards, shape [num_players]; of a game that was recorded from one seat only that is known."""
        return [sum(column) for column in zip(*(step.rewards for step in self.steps), strict=True)]

    def history(self, player: int, end: int) -> list[tuple[Observation, Action | None]]:
        """Returns `player`'s own decision points among steps 0..end, the last action None.

        Args:
            player: whose.
            end: index of a step at which `player` moves.
        """
        own = [(step.observations[player], step.action) for step in self.steps[: end + 1] if step.player == player]
        return [*own[:-1], (own[-1][0], None)]

    def to_records(self) -> Iterator[dict[str, Any]]:
        """Yields one JSON object a step, as `write` stores them."""
        for number, step in enumerate(self.steps):
            record: dict[str, Any] = {
                "version": FORMAT_VERSION,
                "game": self.game,
                "trajectory": self.index,
                "step": number,
                "player": step.player,
                "action": step.action,
                "state": step.state,
                "observations": self._known(step.observations),
                "legal_actions": list(step.legal_actions),
                "chance": [list(outcome) for outcome in step.chance],
                "rewards": self._known(step.rewards),
            }
            if number == 0:
                record |= {"seed": self.seed, "player_names": list(self.player_names)}
                record |= {} if self.seat is None else {"seat": self.seat}
            yield record

    def _known(self, values: Sequence[Json]) -> list[Json]:
        """Returns one value a player, None for those that were not recorded."""
        return [value if self.seat in (None, player) else None for player, value in enumerate(values)]


@dataclass(frozen=True)
class ClosedDeckTrajectory:
    """What one player alone learned from a game (the CWM paper, section 4.4).

    Attributes:
        game: id of the game.
        index: number of the recording.
        player: whose view this is.
        initial_state: the static state before any chance node, which the closed deck knows too.
        decisions: the player's own observations and actions.
        final_observation: what it saw at the end.
        total_reward: its return.
    """

    game: str
    index: int
    player: int
    initial_state: Json
    decisions: tuple[tuple[Observation, Action], ...]
    final_observation: Observation
    total_reward: float


def view(trajectory: Trajectory) -> ClosedDeckTrajectory:
    """Returns what is learned from a game in the closed deck: the view of one player, in turn over the games, or of the
    player from whose seat the game was recorded."""
    turn = trajectory.index % len(trajectory.player_names)
    return closed_deck(trajectory, turn if trajectory.seat is None else trajectory.seat)


def closed_deck(trajectory: Trajectory, player: int) -> ClosedDeckTrajectory:
    """Returns what `player` alone could know of a recording: no states, no chance, nobody else's observations."""
    return ClosedDeckTrajectory(
        game=trajectory.game,
        index=trajectory.index,
        player=player,
        initial_state=trajectory.steps[0].state,
        decisions=tuple(
            (step.observations[player], step.action)
            for step in trajectory.steps
            if step.player == player and step.action is not None
        ),
        final_observation=trajectory.steps[-1].observations[player],
        total_reward=trajectory.returns[player],
    )


def random_policy(game: Game, state: State, history: ObsActionHistory, player: int, rng: random.Random) -> Action:
    """Plays a uniformly random legal action."""
    return rng.choice(game.legal_actions(state))


def record_step(game: Game, state: State, action: Action | None) -> Step:
    """Returns the record of one state and of what was done there."""
    return Step(
        state=state_to_json(game, state),
        player=game.current_player(state),
        legal_actions=tuple(game.legal_actions(state)),
        chance=tuple((outcome, probability) for outcome, probability in game.chance_outcomes(state)),
        rewards=tuple(float(reward) for reward in game.rewards(state)),
        observations=tuple(game.observations(state)),
        action=action,
    )


def play(game: Game, policies: Sequence[Policy], seed: int, index: int = 0) -> Trajectory:
    """Plays one whole game.

    Args:
        game: the game.
        policies: one a player, shape [num_players].
        seed: everything random derives from it.
        index: number of the trajectory in its file.

    Raises:
        EndlessGameError: the game did not end within `MAX_STEPS`.
    """
    rng = random.Random(f"trajectory/{game.info.id}/{seed}")
    state = game.initial_state()
    histories: list[list[tuple[Observation, Action | None]]] = [[] for _ in range(game.info.num_players)]
    steps: list[Step] = []
    for _ in range(MAX_STEPS):
        player = game.current_player(state)
        if player == TERMINAL:
            steps.append(record_step(game, state, None))
            return Trajectory(game.info.id, index, seed, game.info.player_names, tuple(steps))
        if player == CHANCE:
            outcomes = game.chance_outcomes(state)
            action = rng.choices([name for name, _ in outcomes], [probability for _, probability in outcomes])[0]
            step = record_step(game, state, action)
        else:
            step = record_step(game, state, None)
            seen = step.observations[player]
            action = policies[player](game, state, [*histories[player], (seen, None)], player, rng)
            histories[player].append((seen, action))
            step = replace(step, action=action)
        steps.append(step)
        state = game.apply_action(state, action)
    raise EndlessGameError(f"A game of {game.info.id} (seed {seed}) did not end within {MAX_STEPS:,} steps.")


def collect(game: Game, games: int, seed: int, policy: Policy = random_policy) -> list[Trajectory]:
    """Plays `games` games, every seat with `policy`; game i depends on (seed, i) alone."""
    policies = [policy] * game.info.num_players
    return [play(game, policies, game_seed(seed, index), index) for index in range(games)]


def game_seed(seed: int, index: int) -> int:
    """Returns the seed of game `index` of a collection, so that collections of different seeds share no game."""
    return random.Random(f"game/{seed}/{index}").getrandbits(48)


def write(path: Path, trajectories: Iterable[Trajectory]) -> None:
    """Writes JSON lines, one a step, whole or not at all; compressed where the name ends in .gz."""
    write_records(path, (record for trajectory in trajectories for record in trajectory.to_records()))


def write_records(path: Path, records: Iterable[Mapping[str, Any]]) -> None:
    """Writes steps as `write` does."""
    text = "".join(json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n" for record in records)
    # Without its time, so that equal games give equal files.
    write_whole(path, gzip.compress(utf8(text), mtime=0) if path.suffix == ".gz" else text)


Deck: TypeAlias = Literal["open", "closed"]
"""Whether hidden states of the recorded games may be looked at (the CWM paper, 4.4)."""
Infers: TypeAlias = Literal["history", "state"]
"""What a program samples from what one player saw: the whole history (G.3), or the present state alone (G.4)."""
