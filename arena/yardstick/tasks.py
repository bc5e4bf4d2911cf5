"""All games of the yardstick, and what a synthesis of each is asked: as `cwm synthesize` asks a live model."""

from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path
from typing import Final, Literal, TypeAlias

from arena.machine.user_cache import cache_folder
from arena.runs import inputs as run_inputs
from arena.runs.folder import INPUTS
from arena.runs.how_told import HowTold
from arena.runs.inputs import INFO_FILE, Inputs
from arena.runs.settings import DEFAULT_LLM, FURTHER_GAMES, MOST_FURTHER_ROUNDS, RunSettings
from arena.usage import UsageError
from arena.yardstick import games, registered
from arena.yardstick.games import Yardstick, YardstickError, YardstickGame, games_hash
from arena.yardstick.registered import RegisteredGame
from cwm.interface.wording import USUAL, Wording
from cwm.llm import recordings
from cwm.llm.recordings import PACKED
from cwm.synthesis.config import NEW, SynthesisConfig
from games import registry

Group: TypeAlias = Literal["paper", "unprepared"]
KIND: Final = "yardstick"
"""Of the record of all syntheses together."""
SHIPPED: Final = "careful"
"""The row of the standings whose recordings are replayed unless others are named: of the paper's games those that ship
under their names."""
FILES: Final = ("replay", "scripted")
"""Providers of files: of these a folder may be named that holds one for each synthesis."""
SEEDS: Final = 5
"""Syntheses of a game at most, with the seeds from 0 on: so many are fixed."""
SUFFIX: Final = ".jsonl"


@dataclass(frozen=True)
class Answerer:
    """Who is asked, and how it is to think.

    Attributes:
        llm: `PROVIDER:MODEL`, `replay:FOLDER`, `replay:ROW` for recordings that ship of a row of the standings; None
            for those of the careful one.
        base_url: address of a server that speaks the provider's API, None for the provider's own.
        temperature: None for the provider's default.
        reasoning_effort: None for the provider's default.
        wording: of the prompts.
    """

    llm: str | None = None
    base_url: str | None = None
    temperature: float | None = None
    reasoning_effort: str | None = None
    wording: Wording = USUAL


@dataclass(frozen=True)
class YardstickTask:
    """One game of the yardstick.

    Attributes:
        name: in tables, of its folder and of its recordings.
        title: for people.
        group: of the CWM paper and Yōkai, or nobody prepared it.
        version: of the yardstick.
        source: what is fixed of it.
        table: holds the game, if nobody prepared it.
    """

    name: str
    title: str
    group: Group
    version: int
    source: RegisteredGame | YardstickGame
    table: Yardstick

    def fixed(self, seed: int) -> dict[str, str | None]:
        """Returns the hashes of what a synthesis is given and tested on; of a test that nobody has fixed, None."""
        source = self.source
        if isinstance(source, YardstickGame):
            return {"rule_book": source.rule_book_sha256, "learn": source.games_sha256, "held_out": source.games_sha256}
        one = source.seeds[seed]
        return {"rule_book": source.rule_book_sha256, "learn": one.learn_sha256, "held_out": one.held_out_sha256}

    def inputs(self, folder: Path, seed: int, wording: Wording = USUAL) -> Inputs:
        """Returns what a synthesis starts from, checked; games that nobody prepared are written into `folder` for it.

        Args:
            folder: of the synthesis.
            seed: of the synthesis.
            wording: of the prompts.

        Raises:
            YardstickError: it is not what the yardstick fixes.
        """
        if isinstance(self.source, RegisteredGame):
            inputs = self.source.inputs(seed, self.version)
        else:
            asked = self.table.write(self.source, folder)
            inputs = run_inputs.own(asked.rules, asked.trajectories, asked.held_out, asked.stated, "open", asked.how)
        return replace(inputs, telling=replace(inputs.telling, wording=wording))

    def stored_inputs(self, run: Path, settings: RunSettings) -> Inputs | None:
        """Returns what a synthesis that was begun started from, checked; None if it was not begun.

        Raises:
            YardstickError: it is not what the yardstick fixes.
        """
        if not (run / INPUTS / INFO_FILE).exists():
            return None
        inputs = run_inputs.load(run / INPUTS, settings)
        if games_hash([*inputs.train, *inputs.held_out]) != self.fixed(settings.seed)["learn"]:
            raise YardstickError(
                f"The games in {run / INPUTS} are not those that version {self.version} of the yardstick fixes: "
                "restore them from a copy, or begin in another folder."
            )
        return inputs

    def check_held_out(self, inputs: Inputs, settings: RunSettings, workers: int) -> str:
        """Returns the hash of the held-out games, checked; those of a registered game are played for it, and kept.

        Raises:
            YardstickError: they are not what the yardstick fixes.
        """
        if isinstance(self.source, YardstickGame):
            return self.source.games_sha256
        return self.source.check_held_out(inputs, settings, self.version, workers, cache_folder())

    def settings(self, inputs: Inputs, seed: int, llm: str, asked: Answerer) -> RunSettings:
        """Returns the settings of one synthesis.

        Args:
            inputs: of the synthesis.
            seed: of the synthesis.
            llm: who is asked, see `llm_of`.
            asked: how it is to think.
        """
        how = self.how
        is_registered = isinstance(self.source, RegisteredGame)
        return RunSettings(
            game=inputs.info.id,
            registered=is_registered,
            llm=llm,
            base_url=asked.base_url,
            seed=seed,
            train_games=len(inputs.train),
            held_out_games=len(inputs.held_out),
            synthesis=SynthesisConfig.from_json({"seed": seed, **NEW}),
            further_games=FURTHER_GAMES if is_registered else 0,
            further_rounds=MOST_FURTHER_ROUNDS,
            temperature=asked.temperature,
            reasoning_effort=asked.reasoning_effort,
            rules_detail=how.detail,
            vocabulary=how.names,
            chance=how.chance,
            wording=asked.wording,
        )

    @property
    def hidden(self) -> bool:
        """Returns whether something is hidden from players."""
        return not registry.make(self.source.id).info.perfect_information

    @property
    def how(self) -> HowTold:
        """Returns how the game is told."""
        return self.source.how if isinstance(self.source, RegisteredGame) else games.HOW


def load() -> tuple[YardstickTask, ...]:
    """Returns all games of the yardstick in the order of tables; plays nothing."""
    table = games.load()
    prepared = [
        YardstickTask(game.id, registry.describe(game.id).title, "paper", table.version, game, table)
        for game in registered.load()
    ]
    unprepared = [
        YardstickTask(game.name, game.title, "unprepared", table.version, game, table) for game in table.games
    ]
    return (*prepared, *unprepared)


def chosen(names: str | None) -> tuple[YardstickTask, ...]:
    """Returns the games of a list of names with commas, all for None.

    Raises:
        YardstickError: the yardstick has no such game, or it is named twice.
    """
    every = {task.name: task for task in load()}
    if names is None:
        return tuple(every.values())
    words = [word.strip() for word in names.split(",")]
    for number, word in enumerate(words):
        if word not in every:
            raise YardstickError(f"The yardstick has no game {word!r}; it has {', '.join(every)}.")
        if word in words[:number]:
            raise YardstickError(f"{word} is given twice: name each game once.")
    return tuple(task for name, task in every.items() if name in words)


def recording_file(folder: Path, task: YardstickTask, seed: int) -> Path:
    """Returns the recording of one synthesis in a folder of recordings, e.g. `FOLDER/mnk-s1.jsonl`."""
    return folder / (recordings.name_of(task.name, seed) + SUFFIX)


def llm_of(task: YardstickTask, seed: int, asked: Answerer) -> str | None:
    """Returns the language model of one synthesis, None where it was not recorded."""
    provider, _, place = _spec(asked).partition(":")
    if provider in FILES and Path(place).is_dir():
        file = recording_file(Path(place), task, seed)
        return f"{provider}:{file}" if file.is_file() else None
    if provider != "replay" or _is_file(place):
        return asked.llm
    if task.group == "unprepared":
        file = _row(place) / (recordings.name_of(task.name, seed) + PACKED)
        return f"replay:{file}" if file.is_file() else None
    name = task.name if place == SHIPPED else f"{task.name}{recordings.VARIANT}{place}"
    if seed not in recordings.bundled_seeds(name):
        return None
    # Programs of the usual recordings run anywhere; they are known by their game and seed.
    return DEFAULT_LLM if place == SHIPPED else f"replay:{recordings.name_of(name, seed)}"


def check_llm(asked: Answerer) -> None:
    """Checks that recordings are there under the name that was given.

    Raises:
        UsageError: neither a folder nor a recording has it.
    """
    provider, _, place = _spec(asked).partition(":")
    if asked.llm in (None, DEFAULT_LLM) or provider != "replay" or Path(place).is_dir() or _is_file(place):
        return
    if not _row(place).is_dir():
        rows = ", ".join(sorted(entry.name for entry in _row("").iterdir() if entry.is_dir()))
        raise UsageError(
            f"{place!r} is neither a folder of recordings (one a synthesis: GAME{SUFFIX}, or GAME-s1{SUFFIX} for seed "
            f"1) nor a row of which recordings ship ({rows})."
        )


def _row(name: str) -> Path:
    """Returns the folder of shipped recordings of the games that nobody prepared, of one row of the standings."""
    return Path(str(resources.files("cwm") / "recordings" / "yardstick")) / name


def no_single_run(folder: Path) -> UsageError:
    """Returns what is said to who takes the folder of all syntheses for that of one run."""
    one = next((str(place) for place in sorted(folder.glob("*/s*")) if place.is_dir()), f"{folder}/GAME/s0")
    return UsageError(
        f"{folder} holds syntheses of the yardstick, each a run of its own: give one of them, e.g. {one}; the same "
        "`cwm benchmark models` command goes on with all and makes their page."
    )


def _spec(asked: Answerer) -> str:
    return f"replay:{SHIPPED}" if asked.llm in (None, DEFAULT_LLM) else str(asked.llm)


def _is_file(place: str) -> bool:
    return place.endswith(SUFFIX) or len(Path(place).parts) > 1
