"""An agent that was trained on a model, at the table: it sees its own observations, and the legal actions.

Its memory is fed with its own decision points alone, as in training. What the policy does not know is left to chance,
and said: an observation that is no vector, a decision none of whose actions is in its table.
"""

import copy
import random
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from arena.agents.api import InfrastructureError, Move, Needs, Turn
from arena.agents.planner import PlannerAgent
from arena.agents.specs import AgentSpec, AgentSpecError
from arena.checkpoints import on_model, places, vectors
from arena.checkpoints.on_model import Player, SeatPolicy
from arena.machine.runtime import Runtime
from cwm.model.codec import VectorCodec
from cwm.observations.values import ObservationVectorError
from cwm.observations.vectors import ObservationVectors
from cwm.sandbox.parent.host import Sandbox
from cwm.sandbox.wire.api import SandboxUnavailableError
from games.api import Action, Game, GameInfo, State, observe
from search.api import PlannerConfig, PlannerConfigError
from search.learn.errors import CheckpointError, LearnError
from search.planner import check

MOST_ASKED: Final = 100_000
"""States of which a search keeps what the networks said."""


def resolve(spec: AgentSpec, info: GameInfo) -> AgentSpec:
    """Returns a `learned` agent with the view that it was trained on and the hash of its policies.

    Args:
        spec: as it was asked for.
        info: of the game that is to be played.

    Raises:
        AgentSpecError: there is no policy for some seat, it is damaged, or it was trained on another game.
    """
    try:
        folder = places.folder_of(spec.model or "", info.id)
        told = [places.read_about(folder, seat) for seat in range(info.num_players)]
        found = places.seats_hash(folder, info.num_players)
        for seat, about in enumerate(told):
            if about["game"] != info.id:
                raise AgentSpecError(f"agent {spec.name!r}: it was trained on {about['game']}, the game is {info.id}.")
            _check(places.seat_folder(folder, seat), seat, found)
    except (LearnError, OSError) as error:
        raise AgentSpecError(f"agent {spec.name!r}: {error}") from error
    return replace(spec, view=str(told[0]["view"]), model_hash=found)


def _check(folder: Path, seat: int, content: str) -> None:
    """Refuses a policy that could not play: before games begin, not in the middle of them.

    Raises:
        LearnError: it is damaged, or another seat's.
    """
    about = _loaded(folder, content).about
    if about["seat"] != seat:
        raise CheckpointError(
            f"The policy in {folder} was trained for seat {about['seat']}: it cannot play seat {seat}."
        )
    try:
        width = vectors.width_of(about["vectors"])
    except (KeyError, TypeError, ObservationVectorError) as error:
        raise CheckpointError(
            f"The {places.ABOUT} in {folder} does not say how observations become vectors ({error}): restore it."
        ) from error
    if width != about["width"] or not isinstance(about.get("info"), dict):
        raise CheckpointError(
            f"The {places.ABOUT} in {folder} is damaged: its vectors have {width} numbers and its network reads "
            f"{about['width']}, or it lacks the game's `info`; restore it."
        )


def build(spec: AgentSpec, info: GameInfo, runtime: Runtime) -> "ModelPolicyAgent":
    """Builds an agent that `resolve` returned.

    Raises:
        AgentSpecError: its policies cannot be read any more, or changed since it was resolved.
    """
    folder = places.folder_of(spec.model or "", info.id)
    try:
        content = places.seats_hash(folder, info.num_players)
    except OSError as error:
        raise AgentSpecError(f"agent {spec.name!r}: no policy can be read from {folder} ({error}).") from error
    spec.check_unchanged(content, f"the policies in {folder}")
    return ModelPolicyAgent(folder, content, runtime, spec.name, spec.view, spec.greedy)


def searching(spec: AgentSpec, game: Game, runtime: Runtime | None) -> PlannerAgent:
    """Builds an agent that searches the true game, guided by its policies.

    Args:
        spec: as `resolve` returned it, with `simulations`.
        game: the true one.
        runtime: limits of a language model's functions, where these write observations as vectors.

    Raises:
        AgentSpecError: the policies cannot be read, or the game is none for such a search.
    """
    info = game.info
    if not info.perfect_information or info.num_players != 2 or info.utility == "identical":
        raise AgentSpecError(
            f"agent {spec.name!r}: sims= searches games of two players against each other who see everything, and "
            f"{info.id} is none: leave it out."
        )
    config = PlannerConfig(algorithm="mcts", selection="puct", prior="policy", leaf="value", **spec.planner)
    try:
        check(config)
        folder = places.folder_of(spec.model or "", info.id)
        content = places.seats_hash(folder, info.num_players)
        seats = [_loaded(places.seat_folder(folder, seat), content) for seat in range(info.num_players)]
    except (LearnError, OSError, PlannerConfigError) as error:
        raise AgentSpecError(f"agent {spec.name!r}: {error}") from error
    spec.check_unchanged(content, f"the policies in {folder}")
    if any("schema" not in seat.about["vectors"] for seat in seats):
        raise AgentSpecError(f"agent {spec.name!r}: sims= needs policies whose vectors follow a schema: leave it out.")
    return PlannerAgent(guided(game, seats, spec.view), config, spec.name, spec.view)


def guided(game: Game, seats: Sequence[SeatPolicy], view: str) -> Game:
    """Returns a game of two opposed players with the prior and the values of policies, of the seat that is to move.

    Args:
        game: of perfect information.
        seats: the policies.
        view: of the game, that they read.
    """
    schemas = [ObservationVectors.from_json(seat.about["vectors"]["schema"]) for seat in seats]
    numbers = [{name: number for number, name in enumerate(seat.actions)} for seat in seats]

    @lru_cache(maxsize=MOST_ASKED)
    def asked(seat: int, vector: tuple[float, ...]) -> tuple[NDArray[np.float32], float]:
        own = seats[seat]
        seen = np.asarray([vector], np.float32)
        logits, value = own.policy.judged(own.params, own.policy.network.initial_memory(1), seen, np.ones(1, np.bool_))
        return np.asarray(logits)[0], float(value[0])

    def of_state(state: State) -> tuple[NDArray[np.float32], float] | None:
        seat = game.current_player(state)
        try:
            return asked(seat, tuple(schemas[seat].encode(observe(game, state, seat, view))))
        except ObservationVectorError:
            return None

    def value(self: Game, state: State, player: int) -> float:
        paid = game.rewards(state)[player]
        mover = game.current_player(state)
        found = of_state(state) if mover >= 0 else None
        if found is None:
            return paid
        return paid + (found[1] if mover == player else -found[1])

    def policy(self: Game, state: State, actions: Sequence[Action], player: int) -> list[float]:
        found = of_state(state)
        known = [numbers[player].get(action) for action in actions]
        if found is None or None in known:
            return [1 / len(actions)] * len(actions)
        logits = found[0][np.asarray(known, np.int64)].astype(np.float64)
        likely = np.exp(logits - logits.max())
        shares: list[float] = (likely / likely.sum()).tolist()
        return shares

    # A subclass, not a wrapper: the optional protocols are told by the methods that a game has.
    base = type(game)
    found = copy.copy(game)
    found.__class__ = type(f"{base.__name__}Guided", (base,), {"value": value, "policy": policy})
    return found


@lru_cache(maxsize=places.MOST_POLICIES)
def _loaded(folder: Path, content: str) -> SeatPolicy:
    """Returns a policy; one of the same content is compiled once a process."""
    return on_model.load(folder)


class ModelPolicyAgent:
    """Plays one game with the policy of its seat."""

    needs = Needs(legal_actions=True)

    def __init__(self, folder: Path, content: str, runtime: Runtime, name: str, view: str, greedy: bool) -> None:
        """Args:
        folder: of the training.
        content: hash of its policies.
        runtime: limits of a language model's functions, where these write observations as vectors.
        name: label in tables.
        view: which of the game's views it is shown.
        greedy: take the likeliest action; else draw one.
        """
        self.name = name
        self.view = view
        self._folder = folder
        self._content = content
        self._runtime = runtime
        self._greedy = greedy
        self._player: Player | None = None
        self._codec: VectorCodec | None = None

    def start(self, info: GameInfo, seat: int, seed: int) -> None:
        self.close()
        try:
            own = _loaded(places.seat_folder(self._folder, seat), self._content)
        except LearnError as error:
            raise InfrastructureError(str(error)) from error
        self._player = Player(own, self._greedy)
        sandbox = Sandbox(self._runtime.limits, self._runtime.level)
        self._codec = vectors.codec(own.about["vectors"], own.about["info"], sandbox)

    def act(self, turn: Turn) -> Move:
        if self._player is None or self._codec is None:
            raise InfrastructureError(f"{self.name} was asked for a move before the game began.")
        legal = self._player.legal(turn.legal_actions)
        if not legal:
            return _by_chance(turn, "no legal action is in the table of actions that it was trained with")
        try:
            vector = self._codec.encode(turn.observation, turn.player)
        except ObservationVectorError as error:
            return _by_chance(turn, f"the observation is none that it was trained with: {error}")
        except SandboxUnavailableError as error:
            raise InfrastructureError(str(error)) from error
        return Move(self._player.choose(vector, legal, turn.seed))

    def close(self) -> None:
        self._player = None
        if self._codec is not None:
            self._codec.__exit__(None, None, None)
            self._codec = None


def _by_chance(turn: Turn, why: str) -> Move:
    return Move(random.Random(turn.seed).choice(turn.legal_actions), fallback=why[:200])
