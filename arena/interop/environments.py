"""Games and models as environments of Gymnasium and PettingZoo, with agents of the arena at the other seats."""

import importlib
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from types import ModuleType
from typing import Any, Final, NamedTuple, Protocol, TypeAlias, cast

from arena.agents.specs import AgentSpec, parse
from arena.interop.seated import SeatedAgent
from arena.machine import shipped
from arena.machine.runtime import Runtime
from arena.matches import seating
from arena.matches.game_source import MODEL_PREFIX, is_model, model_of, open_game
from arena.pipeline import recorded_models
from arena.usage import UsageError
from cwm.model.codec import VectorCodec, open_codec
from cwm.observations.values import ObservationVectorError
from cwm.observations.vectors import ObservationVectors, infer
from cwm.sandbox.parent.host import Sandbox
from games import registry
from games.adapters.observed import ObservationEncoder, Samples, sample_games
from games.adapters.seats import Opponent, posg_in
from games.api import Action, Game, Json
from games.extras import install
from games.posg.api import Vectors

SAMPLE_GAMES: Final = 50
"""From so many random games it is inferred how observations become vectors."""


class MadeRun(Protocol):
    """A run that came to a model."""

    @property
    def folder(self) -> Path: ...


Sitting: TypeAlias = str | AgentSpec | Opponent
"""Who sits at another seat: an agent, as for the commands, or a function of `games.adapters.seats.Asked`."""


def gymnasium_env(
    game: str | MadeRun | Game,
    seat: int = 0,
    opponents: Sitting | Sequence[Sitting] = "random",
    *,
    encoder: ObservationEncoder | None = None,
    actions: Sequence[Action] | None = None,
    sample: int = SAMPLE_GAMES,
    seed: int = 0,
    most: int | None = None,
    render_mode: str | None = None,
) -> Any:
    """Returns one seat of a game, or of a model, as a `gymnasium.Env`; `action_mask` in info says what is legal.

    Examples:
        >>> env = cwm.gymnasium_env("cwm:runs/mine", seat=0, opponents="random")
        >>> stable_baselines3.PPO("MlpPolicy", env).learn(10_000)

    Args:
        game: registry id, `cwm:RUN`, a run, or a game.
        seat: the learner's, from 0.
        opponents: one for all other seats, or one for each in their order: agents (`random`, `mcts:sims=50`, …) or
            functions of what they are asked (`games.adapters.seats.Asked`) that return an action.
        encoder: of observations; None for the game's own vectors, else a schema that is inferred from sample games.
        actions: the learner's, by number; None for those that the rules state, or that searches and samples meet.
        sample: random games to infer from.
        seed: of these games.
        most: actions of players (of simultaneous moves: steps) after which a game is cut; None for its own limit.
        render_mode: None or `ansi`.

    Raises:
        UsageError: the extra `interop` is not installed, or an agent cannot sit there.
        GameError: there is no such seat, or the opponents are too few or too many.
    """
    module = _loaded("games.adapters.gymnasium")
    with ExitStack() as stack:
        opened = _opened(game, stack)
        told = _told(game, opened, encoder, seat, stack, sample, seed)
        return module.SeatEnv(
            opened,
            seat,
            _opponents(opponents, opened, stack),
            encoder=told.encoder,
            actions=told.actions if actions is None else actions,
            most=most,
            render_mode=render_mode,
            on_close=stack.pop_all().close,
        )


def pettingzoo_env(
    game: str | MadeRun | Game,
    *,
    encoder: ObservationEncoder | None = None,
    actions: Sequence[Action] | None = None,
    sample: int = SAMPLE_GAMES,
    seed: int = 0,
    most: int | None = None,
    render_mode: str | None = None,
) -> Any:
    """Returns a game, or a model, as a `pettingzoo.AECEnv`; one of simultaneous moves as a `pettingzoo.ParallelEnv`.

    Examples:
        >>> env = cwm.pettingzoo_env("leduc_poker")

    Args:
        game: registry id, `cwm:RUN`, a run, or a game.
        encoder: of observations, the same for all; None for the game's own vectors, else an inferred schema.
        actions: of a game of turns, by number; None as for `gymnasium_env`.
        sample: random games to infer from.
        seed: of these games.
        most: actions of players (of simultaneous moves: steps) after which a game is cut; None for its own limit.
        render_mode: None or `ansi`.

    Raises:
        UsageError: the extra `interop` is not installed.
    """
    module = _loaded("games.adapters.pettingzoo")
    with ExitStack() as stack:
        opened = _opened(game, stack)
        told = _told(game, opened, encoder, None, stack, sample, seed)
        common = {"encoder": told.encoder, "most": most, "render_mode": render_mode}
        if posg_in(opened) is not None:
            return module.PosgParallelEnv(opened, **common, on_close=stack.pop_all().close)
        named = told.actions if actions is None else actions
        return module.GameAecEnv(opened, actions=named, **common, on_close=stack.pop_all().close)


class _Told(NamedTuple):
    """How a game is told; None: the adapter knows by itself."""

    encoder: ObservationEncoder | None
    actions: Sequence[Action] | None


class _AtSeat:
    """A model's own vectors of what one player sees."""

    def __init__(self, codec: VectorCodec, player: int) -> None:
        self._codec, self._player = codec, player
        self.width = codec.width

    def encode(self, observation: Json) -> Sequence[float]:
        return self._codec.encode(observation, self._player)


def _loaded(module: str) -> ModuleType:
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split(".")[0] not in ("gymnasium", "pettingzoo"):
            raise
        raise UsageError(
            f"Environments of other libraries need {error.name}, which is not installed: {install('interop')}."
        ) from error


def _opened(game: str | MadeRun | Game, stack: ExitStack) -> Game:
    """Returns a game; one that is none of a model holds nothing open, so that its environments can be copied."""
    game_id = _id_of(game)
    if game_id is None:
        return cast("Game", game)
    return stack.enter_context(open_game(game_id)) if is_model(game_id) else registry.make(game_id)


def _id_of(game: str | MadeRun | Game) -> str | None:
    """Returns by what a game is opened, None for one that is open."""
    if isinstance(game, str):
        return game
    folder = getattr(game, "folder", None)
    return None if folder is None else f"{MODEL_PREFIX}{folder}"


def _told(
    named: str | MadeRun | Game,
    game: Game,
    encoder: ObservationEncoder | None,
    seat: int | None,
    stack: ExitStack,
    sample: int,
    seed: int,
) -> _Told:
    """Returns how observations become vectors, and, of a model, which actions sample games met."""
    game_id = _id_of(named)
    is_ours = game_id is None or not is_model(game_id)
    if encoder is None and not is_ours:
        encoder = _of_model(str(game_id), seat, stack)
    if is_ours and (encoder is not None or isinstance(posg_in(game), Vectors)):
        return _Told(encoder, None)
    samples = sample_games(game, sample, seed)
    own = samples.actions if seat is None else samples.actions[seat : seat + 1]
    met = sorted({action for actions in own for action in actions})
    return _Told(encoder or _inferred(game, samples), None if is_ours or not met else met)


def _of_model(game_id: str, seat: int | None, stack: ExitStack) -> ObservationEncoder | None:
    """Returns the vectors that come with a model, None where it has none that serve all seats that are asked for."""
    bundle = model_of(game_id)
    if bundle.schema is not None:
        return ObservationVectors.from_json(bundle.schema)
    if bundle.vectors_source is None or seat is None:
        return None
    level = shipped.level_of([bundle.hash])
    return _AtSeat(stack.enter_context(open_codec(bundle, Sandbox(level=level))), seat)


def _inferred(game: Game, samples: Samples) -> ObservationVectors:
    try:
        return infer([observation for own in samples.observations for observation in own])
    except ObservationVectorError as error:
        raise UsageError(f"The observations of {game.info.id} cannot be written as vectors: {error}") from error


def _opponents(given: Sitting | Sequence[Sitting], game: Game, stack: ExitStack) -> Opponent | list[Opponent]:
    """Returns who sits at the other seats; agents sit at one seat each."""
    if isinstance(given, str | AgentSpec):
        given = [given] * (game.info.num_players - 1)
    if callable(given):
        return given
    return [one if callable(one) else _seated(one, game, stack) for one in given]


def _seated(agent: str | AgentSpec, game: Game, stack: ExitStack) -> SeatedAgent:
    spec = parse(agent) if isinstance(agent, str) else agent
    (spec,) = recorded_models.filled_in([spec], game.info.id, lambda _: None)
    if spec.traits.asks or spec.traits.terminal or spec.learn is not None:
        raise UsageError(
            f"The agent {spec.name!r} cannot be an opponent in an environment: learners ask too often for people and "
            "language models; give a planner, a policy or a function."
        )
    if spec.view != game.info.views[0]:
        raise UsageError(f"The agent {spec.name!r} sees the view {spec.view!r}; opponents see {game.info.views[0]!r}.")
    spec = seating.resolve(spec, game)
    level = shipped.level_of([spec.model_hash] if spec.traits.sandboxed else [])
    seated = SeatedAgent(seating.build(spec, game, Runtime(level)), game)
    stack.callback(seated.close)
    return seated
