"""What a twin is written for: a verified program, what games by chance met, and how observations are laid out."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Self

from cwm.observations.schema import from_json
from cwm.observations.values import ObservationVectorError
from cwm.observations.vectors import ObservationVectors, infer
from cwm.sandbox.parent.host import Sandbox
from cwm.sandbox.wire.api import Level, Limits, ProgramSource
from cwm.storage.settings import Settings
from cwm.synthesis.candidate import TesterError, problem_of
from cwm.synthesis.config import Method, SynthesisConfig
from cwm.trajectories.telling import UNNAMED, Telling
from cwm.twins import oracle
from games.api import Action, GameInfo, Json

SAMPLED: Final = 200
ENDS: Final = 5
"""For each of these, so many games more are looked at where they end."""
MOST_OBSERVATIONS: Final = 4000
MOST_TABLE: Final = 16_384
"""Of actions and outcomes together: at so many, 1,024 games take half a GB, and the mask is most of a step's work."""
GROWING: Final = 0.1
"""A table that grows by this share in the last quarter of the sampled games has no end in sight."""
FEW: Final = 2000
"""Tables of fewer strings may still grow."""
MOST_CHARACTERS: Final = 60_000
"""Of a state as text; larger ones do not fit into the arrays of a twin."""
SAMPLE_S: Final = 300.0


class NoTwinError(Exception):
    """The game can have no twin; the message says why."""


class TwinConfigError(ValueError):
    """A setting of the synthesis of a twin is unknown or out of range."""


@dataclass(frozen=True)
class TwinConfig(Settings):
    """Settings.

    Attributes:
        method: how it is refined: `conversation` or `tree_search`.
        num_retries: refinement steps after the first prompt, at most.
        max_output_tokens: cap of an answer, reasoning included.
        max_truncated_retries: a truncated answer is asked for again, at most so often, with a larger cap.
        truncated_growth: how much larger, as a factor.
        temperature: sampling temperature, None for the provider's default.
        seed: of every random choice.
        transitions: that the proof compares at least.
    """

    error: ClassVar[type[Exception]] = TwinConfigError

    method: Method = "conversation"
    num_retries: int = 8
    max_output_tokens: int = 65_536
    max_truncated_retries: int = 2
    truncated_growth: float = 2.0
    temperature: float | None = None
    seed: int = 0
    transitions: int = 1_000_000

    def __post_init__(self) -> None:
        self._check_choice("method", Method)
        self._check_least(1, "max_output_tokens", "transitions")
        self._check_least(0, "num_retries", "max_truncated_retries")

    def refinement(self) -> SynthesisConfig:
        """Returns the settings of refinement, which is that of programs."""
        return SynthesisConfig(method=self.method, num_retries=self.num_retries, refinement="rotate", seed=self.seed)


@dataclass(frozen=True)
class GameSample:
    """What games by chance on a program met.

    Attributes:
        games: how many.
        actions: of players.
        outcomes: of chance.
        counts: different strings after each game.
        largest: characters of the largest state.
        observations: different ones.
        history: a few games, moment by moment, see `cwm.twins.oracle.sample`.
    """

    games: int
    actions: tuple[Action, ...]
    outcomes: tuple[Action, ...]
    counts: tuple[int, ...]
    largest: int
    observations: tuple[Json, ...]
    history: tuple[tuple[dict[str, Any], ...], ...]

    @classmethod
    def of(
        cls,
        program: ProgramSource,
        seed: int,
        level: Level | None,
        games: int = SAMPLED,
        replays: Sequence[Sequence[Action]] = (),
    ) -> Self:
        """Plays games by chance on a verified program.

        Args:
            program: as a worker is given it.
            seed: of the games.
            level: isolation level, None for the best that this machine has.
            games: how many.
            replays: actions of further games, of which the observations count.

        Raises:
            TesterError: it fails.
            SandboxUnavailableError: no worker can be started.
        """
        asked: dict[str, Any] = {"games": games, "seed": seed, "max_length": 2000, "observations": MOST_OBSERVATIONS}
        asked |= {"replays": list(map(list, replays)), "ends": games * ENDS}
        limits = Limits(memory_mb=2048, reply_bytes=1 << 28)
        with Sandbox(limits, level, oracle.PAYLOAD).start(program) as worker:
            reply = worker.payload(oracle.MODULE, "sample", asked, seed=0, timeout_s=SAMPLE_S)
        problem = problem_of(reply)
        if problem is not None:
            raise TesterError(f"the verified program fails in games by chance: {problem}")
        told = reply.value
        try:
            return cls(
                games,
                tuple(map(str, told["actions"])),
                tuple(map(str, told["chance"])),
                tuple(map(int, told["counts"])),
                max(map(int, told["sizes"])),
                tuple(told["observations"]),
                tuple(tuple(dict(moment) for moment in game) for game in told["history"]),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise TesterError(f"the verified program's games cannot be read: {error}") from None

    def refusal(self) -> str | None:
        """Returns why the game can have no twin, None if nothing speaks against it."""
        met = self.counts[-1]
        if met > MOST_TABLE:
            return (
                f"{self.games} games by chance met {met:,} different actions and outcomes; at most {MOST_TABLE:,} are "
                "taken"
            )
        before = self.counts[len(self.counts) * 3 // 4 - 1] if len(self.counts) > 3 else met
        if met > FEW and met > before * (1 + GROWING):
            return (
                f"its actions and outcomes have no finite list in sight: {met:,} different ones in {self.games} games "
                f"by chance, {met - before:,} of them in the last quarter of these games"
            )
        if self.largest > MOST_CHARACTERS:
            return f"one of its states has {self.largest:,} characters; at most {MOST_CHARACTERS:,} are taken"
        return None


@dataclass(frozen=True)
class TwinTask:
    """What a twin is written for.

    Attributes:
        rules: the rules in words.
        telling: what the model is told beside the rules.
        program: the verified program, as a worker is given it.
        info: players, utility, bounds.
        sample: of its games.
        vectors: how observations are laid out.
    """

    rules: str
    telling: Telling
    program: ProgramSource
    info: GameInfo
    sample: GameSample
    vectors: ObservationVectors

    @classmethod
    def of(
        cls,
        program: ProgramSource,
        info: GameInfo,
        schema: Json,
        rules: str,
        seed: int,
        level: Level | None,
        telling: Telling = UNNAMED,
        replays: Sequence[Sequence[Action]] = (),
    ) -> Self:
        """Plays games by chance on a model and makes the task of them.

        Args:
            program: the verified program, as a worker is given it.
            info: players, utility, bounds.
            schema: of its observations, None to infer one from the games.
            rules: the rules in words.
            seed: of the games.
            level: isolation level, None for the best that this machine has.
            telling: what the model is told beside the rules.
            replays: actions of games of good players, which see what games by chance rarely come to.

        Raises:
            NoTwinError: the game can have none.
            TesterError: the model fails.
            SandboxUnavailableError: no worker can be started.
        """
        sample = GameSample.of(program, seed, level, replays=replays)
        why = sample.refusal()
        if why is not None:
            raise NoTwinError(why)
        vectors = infer(sample.observations) if schema is None else ObservationVectors(from_json(schema))
        try:
            for observation in sample.observations:
                vectors.encode(observation)
        except ObservationVectorError as error:
            raise NoTwinError(f"an observation of its model does not fit the layout of its vectors: {error}") from None
        return cls(rules, telling, program, info, sample, vectors)

    @property
    def schema(self) -> Json:
        """The layout of vectors as JSON."""
        return self.vectors.to_json()


def shown(values: Sequence[str], most: int = 400) -> str:
    """Returns strings for a prompt: all, or the first and the last where they are too many."""
    told = [json.dumps(value) for value in values]
    if len(told) <= most:
        return ", ".join(told)
    half = most // 2
    return ", ".join([*told[:half], f"… ({len(told) - 2 * half} more) …", *told[-half:]])
