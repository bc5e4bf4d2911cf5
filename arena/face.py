"""The public face: what `import cwm` gives, loaded when a name of it is first asked for.

`NAMES` is all that other programs may build on; everything else is internal and may move. Nothing here prints or does
work of its own: each function calls what the commands call. An error of the kinds that commands explain (an unknown
game, a damaged file, a cap) is raised as it is, with one sentence that says what was given and what to do.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, TypeAlias

from arena.agents.specs import AgentSpec, parse
from arena.commands.finishing import run_stages, stored_end, stored_report
from arena.interop.environments import gymnasium_env, pettingzoo_env
from arena.language_players.models import PlayerModels
from arena.machine import shipped as shipped_models
from arena.machine.runtime import Runtime
from arena.matches import match, seating, tournament
from arena.matches.game_source import MODEL_PREFIX, game_info, open_game
from arena.matches.lineups import Pairing
from arena.matches.match import GameRecord
from arena.matches.plan import TournamentConfig
from arena.matches.replay import make_position
from arena.matches.store import write_standings
from arena.matches.tournament import Progress, TournamentResult
from arena.pipeline import recorded_models
from arena.pipeline.function_choice import functions_asked
from arena.pipeline.synthesis import SynthesisRun
from arena.report import arena_view, run_tables
from arena.report.run_tables import Row
from arena.runs import folder as run_folder
from arena.runs import inputs as run_inputs
from arena.runs import language_model
from arena.runs import shipped as shipped_recordings
from arena.runs.inputs import Inputs, Stated
from arena.runs.settings import FURTHER_ROUNDS, RunSettings
from arena.runs.wished import Start, Ways, begin
from arena.usage import UsageError
from cwm.llm.caps import Caps
from cwm.model.bundle import ModelBundle
from cwm.model.world_model import WorldModel
from cwm.record.record import RunRecord
from cwm.sandbox.parent.host import Sandbox
from cwm.storage.keys import derive
from cwm.trajectories.writer import TrajectoryWriter
from games import registry
from games.api import Game
from search import planner as planners
from search.api import Planner, PlannerConfig

Place: TypeAlias = Path | str | None


def _silent(_: object) -> None:
    """Hears of progress and says nothing."""


@dataclass(frozen=True)
class OpenedRun:
    """A synthesis that came to a model.

    Attributes:
        folder: of the run.
        model: the program with what stands beside it; `model.source` is its text, `model.hash` its name.
    """

    folder: Path
    model: ModelBundle

    def game(self) -> WorldModel:
        """Returns the model as a game, played in a worker process; a context manager, or call its `close()`.

        Examples:
            >>> with cwm.open_recording("tic_tac_toe").game() as game:
            ...     game.legal_actions(game.initial_state())

        Raises:
            SandboxUnavailableError: programs that a language model wrote may not run on this machine.
            WorldModelError: the program does not load.
        """
        return WorldModel(self.model, Sandbox(level=shipped_models.level_of([self.model.hash])))

    def tables(self) -> dict[str, list[Row]]:
        """Returns the tables of the run's report by name, those of its folder `tables/`.

        `accuracy` (tests passed, by split and kind), `usage` (calls and tokens by purpose), `tree` (every candidate),
        `standings` (matches of the model), `similarity` (to our own source). A table of what was not done is empty.

        Examples:
            >>> cwm.open_run("runs/mine").tables()["accuracy"][0]["accuracy"]
            1.0

        Raises:
            RunRecordError: the run's record is damaged.
        """
        with RunRecord.read(self.folder) as record:
            return run_tables.tables(stored_report(record, RunSettings.from_record(record.info.config)))

    def records(self, table: str = "accuracy") -> list[Row]:
        """Returns one of `tables()`; raises a `UsageError` where there is no such table."""
        tables = self.tables()
        if table not in tables:
            raise UsageError(f"A run has the tables {', '.join(tables)}, not {table!r}.")
        return tables[table]


@dataclass(frozen=True)
class PlayedTournament:
    """A tournament's games and tables; `result` is all that is known of it."""

    result: TournamentResult

    def records(self) -> list[Row]:
        """Returns a row for each agent of each lineup: wins, draws, losses, payoff, figures of cooperative games."""
        config = self.result.config
        return run_tables.standings([arena_view.view(config.game, config, self.result)])

    def games(self) -> list[Row]:
        """Returns a row for each game: deal, seats, actions, returns, who forfeited, seconds of every move."""
        return [record.to_json() for record in self.result.records]


def open_run(folder: Path | str) -> OpenedRun:
    """Returns the run of a folder that `synthesize` or `cwm synthesize` made.

    Examples:
        >>> cwm.open_run("runs/mine").records("usage")

    Raises:
        RunMissingError: the folder holds no run.
        UsageError: it is no synthesis, or has no model yet.
        RunRecordError: its record is damaged.
    """
    place = Path(folder)
    with RunRecord.read(place) as record:
        if record.info.kind != run_folder.KIND:
            raise UsageError(f"{place} holds a run of kind {record.info.kind!r}; give the folder of a synthesis.")
    bundle = run_folder.read_bundle(place)
    if bundle is None:
        raise UsageError(f"The run {place} has no model yet; `cwm resume {place}` goes on with it.")
    return OpenedRun(place, bundle)


def open_recording(game: str, seed: int = 0, *, on_stage: Callable[[str], None] = _silent) -> OpenedRun:
    """Returns the run of a recording that ships with the project: replayed once, then kept in the user's cache.

    Examples:
        >>> run = cwm.open_recording("leduc_poker")

    Args:
        game: registry id, or that of a recording by another method, e.g. `leduc_poker+closed`.
        seed: of the recording.
        on_stage: told in words what begins.

    Raises:
        UsageError: no such recording ships.
    """
    return open_run(recorded_models.folder_of(game, seed, on_stage))


def synthesize(
    game: str | None = None,
    *,
    folder: Path | str,
    rules: Place = None,
    trajectories: Place = None,
    llm: str | None = None,
    base_url: str | None = None,
    seed: int = 0,
    games: int | None = None,
    held_out: int | None = None,
    test_transitions: int | None = None,
    values: int | None = None,
    priors: int | None = None,
    settings: Mapping[str, Any] | None = None,
    caps: Caps | None = None,
    workers: int = 2,
    on_stage: Callable[[str], None] = _silent,
) -> OpenedRun:
    """Has a language model write a game as a program; the same call goes on with a run that was stopped.

    Examples:
        >>> cwm.synthesize("mnk", folder="runs/mnk", llm="openai:MODEL", caps=cwm.Caps(calls=20))
        >>> cwm.synthesize(rules="rules.md", trajectories="games.jsonl", folder="runs/mine", llm="openai:MODEL")

    Args:
        game: registry id; None for a game of the user's own, which has `rules` and `trajectories`.
        folder: of the run.
        rules: text file.
        trajectories: played games, as JSON lines.
        llm: `PROVIDER:MODEL`; None for the completions that ship for the game.
        base_url: address of a server that speaks the provider's API.
        seed: everything random derives from it.
        games: of a registered game: random ones to learn from, 5; None, as below, for what was recorded or this.
        held_out: of a game of the user's own: recorded games kept for the test; None for a fifth of them.
        test_transitions: of a registered game: held-out ones, 10,000.
        values: value functions to choose from, 0.
        priors: policy priors to choose from, 0.
        settings: further ones of the synthesis by name, see `cwm.synthesis.config.SynthesisConfig`.
        caps: hard limits on calls, tokens, money and time; without one on calls a new run makes at most 50.
        workers: processes side by side.
        on_stage: told in words what begins.

    Raises:
        UsageError: game, rules or games cannot be had, or no program ever loaded; others as `cwm synthesize` does.
    """
    start = begin(game, llm, base_url, seed, Ways())
    inputs = _inputs(game, rules, trajectories, games or start.settings.train_games, held_out, seed, start)
    numbers = {"value": values, "prior": priors}
    wished = start.settled(
        inputs,
        numbers,
        functions_asked(numbers, (), seed, start.settings.joint),
        settings or {},
        test_transitions=test_transitions,
        further_games=0 if inputs.game is None else start.settings.further_games,
        further_rounds=None if start.replayed else FURTHER_ROUNDS,
    )
    return _synthesized(Path(folder), wished, inputs, caps or Caps(), workers, on_stage)


def _synthesized(
    folder: Path, wished: RunSettings, inputs: Inputs, caps: Caps, workers: int, on_stage: Callable[[str], None]
) -> OpenedRun:
    language_model.check(wished, caps)
    settings = shipped_recordings.settings_for(wished)
    caps = run_folder.capped(folder, caps)
    with run_folder.open_record(folder, settings, inputs, caps) as record:
        end = stored_end(folder, settings)
        if end is None:
            run = SynthesisRun(record, settings, inputs, caps, workers, on_stage=on_stage)
            end = run_stages(run, None, on_stage).end
    bundle = run_folder.read_bundle(folder)
    if bundle is None:
        raise UsageError(f"{settings.game} came to no program that loads: {end.message}")
    return OpenedRun(folder, bundle)


def make_game(game: str, **params: Any) -> Game:
    """Returns a registered game; of a synthesised one, `OpenedRun.game` does.

    Examples:
        >>> game = cwm.make_game("leduc_poker")

    Raises:
        UnknownGameError: no game has this id; the message names the nearest.
    """
    return registry.make(game, **params)


def make_planner(game: Game, **settings: Any) -> Planner:
    """Returns a search on a game: MCTS, or ISMCTS where information is hidden.

    Examples:
        >>> planner = cwm.make_planner(game, simulations=200)
        >>> planner.choose(cwm.make_position(game, []), random.Random(0)).action

    Args:
        game: a registered one, or a model.
        settings: see `search.api.PlannerConfig`.

    Raises:
        PlannerConfigError: a setting is unknown, out of range, or asks for what the game does not offer.
    """
    algorithm = "mcts" if game.info.perfect_information else "ismcts"
    return planners.make(game, PlannerConfig.from_json({"algorithm": algorithm} | settings))


def make_agent(agent: str | OpenedRun, **settings: Any) -> AgentSpec:
    """Returns who may sit at a table.

    Examples:
        >>> cwm.make_agent("mcts:sims=200"), cwm.make_agent(run, sims=200, name="model")

    Args:
        agent: as for the commands: `random`, `mcts:sims=200`, `ismcts:…`, `cwm:FOLDER`, `cwm:recorded`,
            `llm:PROVIDER:MODEL`, `partner:NAME`; or a run, whose model the agent plans on.
        settings: further ones by name, as they may stand in the text.

    Raises:
        AgentSpecError: there is no such agent, or it has no such setting.
    """
    written = [f"{name}={str(value).lower() if isinstance(value, bool) else value}" for name, value in settings.items()]
    if isinstance(agent, OpenedRun):
        spec = parse(",".join((f"{MODEL_PREFIX}run", *written)))
        return replace(spec, name=settings.get("name", f"{MODEL_PREFIX}{agent.folder.name}"), model=str(agent.folder))
    return parse(",".join((agent if ":" in agent or not written else f"{agent}:{written.pop(0)}", *written)))


def play_match(game: str | OpenedRun, agents: Sequence[str | AgentSpec], *, seed: int = 0) -> GameRecord:
    """Plays one game; the record says what was paid (`returns`) and done (`records()`).

    Examples:
        >>> cwm.play_match("tic_tac_toe", ["mcts:sims=200", "random"]).returns

    Args:
        game: registry id; or a run, whose model decides what is legal and who wins.
        agents: by seat.
        seed: deal and agents' choices derive from it.

    Raises:
        UsageError: there are not as many agents as seats.
        AgentSpecError: an agent does not fit the game.
    """
    with open_game(_game_id(game)) as table:
        specs = [seating.resolve(spec, table) for spec in _specs(agents, table.info.id)]
        if len(specs) != table.info.num_players:
            raise UsageError(f"{table.info.id} seats {table.info.num_players}, but {len(specs)} agents were given.")
        models = [spec.model_hash for spec in specs if spec.traits.sandboxed]
        runtime = Runtime(shipped_models.level_of(models))
        seated = [seating.build(spec, table, runtime) for spec in specs]
        seeds = [derive("agent", seed, seat) for seat in range(len(seated))]
        deal = derive("deal", table.info.id, seed)
        return match.play(table, seated, deal, seeds, runtime.level if models else None)


def play_tournament(
    game: str | OpenedRun,
    agents: Sequence[str | AgentSpec],
    *,
    deals: int = 10,
    pairing: Pairing = "all",
    seed: int = 0,
    folder: Place = None,
    workers: int = 1,
    caps: Caps | None = None,
    on_game: Callable[[Progress], None] = _silent,
) -> PlayedTournament:
    """Plays a tournament: every lineup on the same deals, in all rotations of the seats.

    Examples:
        >>> cwm.play_tournament("tic_tac_toe", ["mcts:sims=50", "random"], deals=5).records()

    Args:
        game: see `play_match`.
        agents: with distinct names.
        deals: deals a lineup.
        pairing: `all`; `cross` (different agents only); `self` (each with itself).
        seed: every deal derives from it.
        folder: keeps the games, so that the same call goes on after a kill; None to keep nothing.
        workers: processes side by side.
        caps: of all calls to language models at the table together.
        on_game: told after each game.

    Raises:
        TournamentError: names are not distinct, an agent is to learn, or there is nothing to play.
        AgentSpecError: an agent does not fit the game.
        StoreError: the folder holds the games of another tournament.
    """
    game_id = _game_id(game)
    specs = tuple(_specs(agents, game_info(game_id).id))
    config = tournament.prepare(TournamentConfig(game_id, specs, deals, seed, pairing))
    level = shipped_models.level_of(config.programs())
    config = replace(config, runtime=replace(config.runtime, level=level))
    place = None if folder is None else Path(folder)
    with (
        tournament.opened(place, config.to_json()) as store,
        PlayerModels(config.agents, place, caps, None, config.game_identity) as players,
    ):
        if place is not None and config.referee is not None:
            tournament.write_asked(place, config)
        result = tournament.run(config, store, workers=workers, on_game=on_game, models=players)
        if place is not None:
            write_standings(place, result.table.to_json())
    return PlayedTournament(result)


def _inputs(
    game: str | None, rules: Place, trajectories: Place, games: int, held_out: int | None, seed: int, start: Start
) -> Inputs:
    if game is not None and rules is None and trajectories is None:
        return run_inputs.registered(game, games, seed, how=start.how, joint=start.settings.joint)
    if game is not None or rules is None or trajectories is None:
        raise UsageError("Name a registered game, or give both rules and trajectories of a game of your own.")
    return run_inputs.own(Path(rules), Path(trajectories), held_out, Stated(), how=start.how)


def _game_id(game: str | OpenedRun) -> str:
    return f"{MODEL_PREFIX}{game.folder}" if isinstance(game, OpenedRun) else game


def _specs(agents: Sequence[str | AgentSpec], game: str) -> list[AgentSpec]:
    specs = [parse(agent) if isinstance(agent, str) else agent for agent in agents]
    return recorded_models.filled_in(specs, game, _silent)


_CLASSES = (Caps, OpenedRun, PlayedTournament, TrajectoryWriter)
_FUNCTIONS = (open_run, open_recording, synthesize, make_game, make_planner, make_position, make_agent)
_PLAYS = (play_match, play_tournament, gymnasium_env, pettingzoo_env)
NAMES: Final[Mapping[str, Any]] = {item.__name__: item for item in (*_CLASSES, *_FUNCTIONS, *_PLAYS)}
"""What `import cwm` gives, by name."""
