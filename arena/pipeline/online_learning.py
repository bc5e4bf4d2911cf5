"""Agents that learn in the arena: between games their model is tested on what happened, and refined where it failed.

Off unless an agent asks for it with `learn=`. After each finished game in which it sat, a learning agent is shown the
game as a synthesis is shown its training games: in the open deck with the true states, the legal actions and what every
player saw, in the closed deck only what its own seat saw and was paid. That is more than it is told while it plays, as
a person is who looks at the cards after the game. Tests of the game that its model fails are added to its suite, for
good; then its language model may refine the program, with a few calls. The next game is played with the best program.

What is learned is a function of the games in their order. Each lesson is kept in the tournament's folder with its calls
and programs, and each game's record names the model that played, so that a resumed tournament goes on with that one.
"""

import tempfile
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Final

from arena.agents.specs import AgentSpec, AgentSpecError
from arena.evaluation import played_games
from arena.machine.runtime import Runtime
from arena.matches.game_source import bundle_of
from arena.matches.match import GameRecord
from arena.matches.plan import PlannedGame, TournamentConfig, TournamentError
from arena.runs import inputs, origins
from arena.runs.hidden_information import HiddenInformation
from arena.runs.settings import DEFAULT_LLM, RunSettings
from arena.runs.task import build_options, make_task
from cwm.llm.api import ConfigurationError, LanguageModel
from cwm.llm.budget import Budget, Budgeted, Tally
from cwm.llm.caps import Caps, budget, read_elapsed, write_elapsed
from cwm.llm.journaled import Journaled
from cwm.llm.line import AskedWith
from cwm.llm.providers import factory
from cwm.model.bundle import RUN_SUBFOLDER, ModelBundle
from cwm.quality import visited
from cwm.record.record import RUN_FILE, RunRecord
from cwm.sandbox.parent import levels
from cwm.sandbox.parent.host import Sandbox
from cwm.sandbox.wire.api import SandboxUnavailableError
from cwm.suite import failure_groups
from cwm.suite.execution import RunOptions
from cwm.suite.types import UnitTest
from cwm.synthesis.config import SynthesisConfig
from cwm.synthesis.driver import synthesize
from cwm.synthesis.testing import ProcessTester, TesterSettings

FOLDER: Final = "learned"
"""In the folder of a tournament: a run record for each learning agent, by its number."""
MODELS: Final = "models"
KIND: Final = "learning"
MOST_ADDED: Final = 50
"""Failed tests that one game adds: some of each way to fail, the smallest first."""
OWN: Final = "true"
"""Stands for the language model that wrote the agent's model."""


@dataclass(frozen=True)
class OnlineLesson:
    """What one game taught.

    Attributes:
        game: key of the game.
        tested: tests made of it.
        added: those that the model failed and that were added to its suite.
        calls: answers of the language model.
        source: hash of the program from then on.
        reason: see `SynthesisResult.reason`.
    """

    game: str
    tested: int
    added: tuple[UnitTest, ...]
    calls: int
    source: str
    reason: str

    def to_json(self) -> dict[str, Any]:
        """Returns the lesson as JSON."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "OnlineLesson":
        """Returns what `to_json` wrote."""
        return cls(**{**data, "added": tuple(UnitTest(**test) for test in data["added"])})


class Learners:
    """The learning agents of one tournament. A context manager; games must be taken in the order of the plan.

    Args:
        config: of the tournament, as `tournament.prepare` returned it.
        folder: of the tournament; None to keep nothing.
        caps: for all calls that learning makes; the players' own calls are capped apart.
        workers: processes at once; changes no result.

    Raises:
        AgentSpecError: an agent cannot learn, or nothing is known of its language model.
        ConfigurationError: its language model cannot be reached by what is known of it.
        RunRecordError: what was learned before cannot be read.
    """

    def __init__(self, config: TournamentConfig, folder: Path | None, caps: Caps, workers: int = 1) -> None:
        self._stack = ExitStack()
        self._budget: Budget = budget(caps)
        self._learners: dict[str, Learner] = {}
        try:
            if folder is None:
                folder = Path(self._stack.enter_context(tempfile.TemporaryDirectory(prefix="cwm-learned-")))
            for number, spec in enumerate(config.agents):
                if spec.learn is not None:
                    self._learners[spec.name] = self._learner(config, spec, folder / FOLDER / str(number), workers)
            self._folder = folder / FOLDER
            self._model(config, caps)
        except BaseException:
            self._stack.close()
            raise

    def __enter__(self) -> "Learners":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # A full disk would hide what is wrong in truth: the cap on time then counts up to the last lesson.
        with suppress(OSError):
            self._keep_time()
        self._stack.close()

    def job(self, job: dict[str, Any]) -> dict[str, Any]:
        """Returns a planned game with the learning agents' models as they are now."""
        seats = [
            self._learners[seat["name"]].seated(seat) if seat["name"] in self._learners else seat
            for seat in job["seats"]
        ]
        return job | {"seats": seats}

    def learn(self, game: PlannedGame, record: GameRecord) -> None:
        """Lets the agents that played a game learn from it; what they learned before is not learned again.

        Raises:
            LanguageModelError: a language model gave no answer.
            TournamentError: the game was played with another model.
        """
        for name, learner in self._learners.items():
            if name in record.seats:
                learner.learn(game, record)
        self._keep_time()

    def used(self) -> Tally:
        """Returns calls and tokens so far, those before a resume included."""
        return self._budget.total()

    def left_s(self) -> float | None:
        """Returns the seconds that are left to learning, None if time is not capped."""
        return self._budget.left_s()

    def summary(self) -> list[str]:
        """Returns what each agent learned, in one sentence each."""
        return [f"{name}: {learner.summary()}" for name, learner in self._learners.items()]

    def _keep_time(self) -> None:
        if self._learners:
            write_elapsed(self._folder, self._budget)

    def _learner(self, config: TournamentConfig, spec: AgentSpec, folder: Path, workers: int) -> "Learner":
        if config.referee is not None:
            raise AgentSpecError(
                f"agent {spec.name!r}: learn= goes with a registered game, whose states are known, not with a model "
                "that decides the games: leave learn= out."
            )
        if config.runtime.level == "process" and not levels.process_allowed():
            raise SandboxUnavailableError(
                f"agent {spec.name!r} would have a language model's new programs run, and at isolation level 'process' "
                "nothing stops a hostile one; add the option `allow_unsafe_process`, or leave learn= out."
            )
        bundle = bundle_of(spec)
        source: dict[str, Any] = {
            "model": bundle.hash,
            "learn": spec.learn,
            "learn_calls": spec.learn_calls,
            "seed": config.seed,
        }
        # Those that were begun without options lack the key.
        source |= {"llm": spec.llm} if spec.llm else {}
        record = self._stack.enter_context(
            RunRecord.create_or_resume(folder, KIND, source, sandbox_level=config.runtime.level)
        )
        return Learner(spec, bundle, record, config.runtime, config.seed, workers)

    def _model(self, config: TournamentConfig, caps: Caps) -> None:
        """Composes the language models around one budget, which goes on from the calls made so far."""
        calls = [call for learner in self._learners.values() for call in learner.record.calls.calls()]
        prices = {call.model: factory.price_of(call.model, caps.price_in, caps.price_out) for call in calls}
        answered = sum(call.completion.latency_s for call in calls if call.completion is not None)
        self._budget.restore_from(calls, prices, elapsed_s=max(answered, read_elapsed(self._folder)))
        for learner in self._learners.values():
            name, base_url = learner.language_model()
            price = factory.price_of(name, caps.price_in, caps.price_out)
            used = sum(call.completion is not None for call in learner.record.calls.calls())
            provider = factory.make(name, base_url=base_url, line=caps.line, seed=config.seed, scripted_start=used)
            learner.ask(Journaled(Budgeted(provider, self._budget, price), learner.record.calls))


class Learner:
    """One agent that learns.

    Args:
        spec: the agent.
        bundle: the model that it begins with.
        record: keeps its lessons, calls and programs.
        runtime: of the tournament.
        seed: of the tournament.
        workers: processes at once.
    """

    model: LanguageModel
    """Set before the first lesson."""

    def __init__(
        self, spec: AgentSpec, bundle: ModelBundle, record: RunRecord, runtime: Runtime, seed: int, workers: int
    ) -> None:
        self.record = record
        self._spec = spec
        self._first = self._bundle = bundle
        self._runtime = runtime
        self._workers = workers
        self._origin = _run_of(Path(spec.model or ""))
        self._inputs = origins.of_model(self._origin, bundle)
        self._hidden = HiddenInformation.of(bundle)
        self._task = make_task(self._inputs, self._hidden)
        self._config = SynthesisConfig(num_retries=spec.learn_calls - 1, seed=seed)
        self._lessons: list[OnlineLesson] = []
        self._save()

    def ask(self, model: LanguageModel) -> None:
        """Takes the language model that it learns with, asked with the agent's options."""
        asked = self._spec.llm
        self.model = AskedWith(model, asked.get("temperature"), asked.get("reasoning_effort")) if asked else model

    def language_model(self) -> tuple[str, str | None]:
        """Returns the name of the language model, and the address of its server if the run named one.

        Raises:
            AgentSpecError: it is to be the run's own, and that is not known or cannot be asked anything new.
            ConfigurationError: there is no such provider.
        """
        asked = self._spec.learn or ""
        if asked != OWN:
            try:
                factory.split(asked)
            except ConfigurationError as error:
                raise AgentSpecError(f"agent {self._spec.name!r}: learn=: {error}") from error
            return asked, None
        if (self._origin / RUN_FILE).exists():
            with RunRecord.read(self._origin) as run:
                settings = RunSettings.from_record(run.info.config)
            if settings.llm != DEFAULT_LLM:
                return settings.llm, settings.base_url
        raise AgentSpecError(
            f"agent {self._spec.name!r}: the model in {self._spec.model} has no language model that could be asked "
            "anew (recorded completions answer only what they were asked): name one, e.g. learn=openai:MODEL."
        )

    def seated(self, seat: dict[str, Any]) -> dict[str, Any]:
        """Returns the agent's description for a game, with its model as it is now."""
        return seat | {"model": str(self._folder()), "model_hash": self._bundle.hash}

    def learn(self, game: PlannedGame, record: GameRecord) -> None:
        """Takes one finished game; see `Learners.learn`."""
        seat = record.seats.index(self._spec.name)
        played_with = record.accounts.get(str(seat), {}).get("model")
        if played_with != self._bundle.hash:
            raise TournamentError(
                f"Game {game.key[:12]} was played by {self._spec.name!r} with model {str(played_with)[:12]}, and the "
                f"games before it lead to {self._bundle.hash[:12]}: the folder was changed; restore it, or use another."
            )
        key = f"lesson/{game.key}"
        stored = self.record.evaluation(key)
        lesson = self._lesson(game, record, seat) if stored is None else OnlineLesson.from_json(stored)
        if stored is None:
            self.record.put_evaluation(key, lesson.to_json())
        self._lessons.append(lesson)
        self._task = replace(self._task, tests=(*self._task.tests, *lesson.added))
        self._bundle = replace(self._bundle, source=self.record.program_source(lesson.source))
        self._save()

    def summary(self) -> str:
        """Returns what was learned, in one sentence."""
        added = sum(len(lesson.added) for lesson in self._lessons)
        calls = sum(lesson.calls for lesson in self._lessons)
        told = f"{len(self._lessons)} games, {added} tests that its model failed, {calls} calls"
        capped = sum(lesson.reason == "budget" for lesson in self._lessons)
        told += f"; caps ended {capped} of the lessons" if capped else ""
        if self._bundle.hash == self._first.hash:
            return f"{told}; the model {self._first.hash[:12]} stays"
        return f"{told}; the model was {self._first.hash[:12]} and is {self._bundle.hash[:12]}"

    def _lesson(self, game: PlannedGame, record: GameRecord, seat: int) -> OnlineLesson:
        tests = self._tests(record, seat)
        program = self._bundle.program()
        options = RunOptions(workers=self._workers, seed=self._config.seed, per_test_s=self._config.test_seconds)
        failed = visited.failed(program, tests, Sandbox(level=self._runtime.level), options)
        source = self.record.add_program(program.source)
        if not failed:
            return OnlineLesson(game.key, len(tests), (), 0, source, "all_tests_pass")
        added = failure_groups.examples(failure_groups.grouped(tests, failed), MOST_ADDED)
        task = replace(self._task, tests=(*self._task.tests, *added))
        settings = TesterSettings.of(self._config, workers=self._workers, level=self._runtime.level)
        judge = self._hidden.judge(self._inputs.game)
        pairs = inputs.hidden_pairs(judge, self._inputs.train)
        tester = ProcessTester(task.tests, task.info, task.initial_state, settings, pairs)
        made = synthesize(
            task, self._config, self.model, tester, self.record, start=program.source, stream=f"lesson/{game.key}"
        )
        best = source if made.best is None else made.best.hash
        return OnlineLesson(game.key, len(tests), tuple(added), made.calls, best, made.reason)

    def _tests(self, record: GameRecord, seat: int) -> Sequence[UnitTest]:
        assert self._inputs.game is not None
        players = self._inputs.info.num_players
        # A game has a number of its own, and one that makes its view that of the agent's seat in the closed deck.
        first = 1 + max(trajectory.index for trajectory in self._inputs.train) // players + len(self._lessons)
        (played,) = played_games.trajectories(self._inputs.game, [record])
        options = build_options(self._inputs, False, self._hidden)
        return visited.of_games([replace(played, index=first * players + seat)], options, self._config.seed)

    def _folder(self) -> Path:
        return self.record.folder / MODELS / self._bundle.hash[:16]

    def _save(self) -> None:
        self.record.add_program(self._bundle.source)
        origin = {"began as": self._first.hash, "lessons": len(self._lessons)}
        replace(self._bundle, metadata={**self._bundle.metadata, "learned": origin}).save(self._folder())


def _run_of(model: Path) -> Path:
    """Returns the folder of the run that a model's folder belongs to, or the folder itself."""
    inside = model.name == RUN_SUBFOLDER and (model.parent / RUN_FILE).exists()
    return model.parent if inside else model
