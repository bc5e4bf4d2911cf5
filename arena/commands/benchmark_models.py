"""`cwm benchmark models`: a language model on the yardstick's games, and beside others that were measured by it."""

import re
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from arena.agents.api import InfrastructureError
from arena.commands.exit_codes import EXIT_PROVIDER, EXIT_SYSTEM
from arena.commands.finishing import complete
from arena.machine.process_pool import WorkerDiedError
from arena.pages import yardstick_page
from arena.pipeline import several
from arena.pipeline.synthesis import first_prompt
from arena.runs import language_model, shipped
from arena.runs.folder import DEFAULT_CALLS, open_record
from arena.runs.inputs import Inputs
from arena.runs.settings import RunSettings
from arena.runs.turns import Among, WorkTurn, side_by_side
from arena.terminal import console
from arena.terminal.live_view import LiveView, LiveViews
from arena.terminal.options import (
    NO_CAPS,
    AsJson,
    BaseUrl,
    Effort,
    ModelSpec,
    Temperature,
    WordingGiven,
    Workers,
    takes_caps,
)
from arena.yardstick import attempts, games, standings, tasks
from arena.yardstick.line import Attempt, GameResult, YardstickLine, read_lines
from arena.yardstick.tasks import Answerer, YardstickTask
from cwm.interface import wording as wordings
from cwm.llm.api import ReplayMissError
from cwm.llm.budget import Budget, Price
from cwm.llm.caps import Caps, write_elapsed
from cwm.llm.line import effort_of
from cwm.record.record import RUN_FILE, RunRecord
from cwm.storage.files import write_whole
from cwm.suite.contract import ContractCheckError
from cwm.synthesis.candidate import TesterError

LINE_FILE: Final = "line.json"
FAULTS: Final = (TesterError, InfrastructureError, WorkerDiedError, ContractCheckError)
"""Faults of the sandbox or of ours: they end one synthesis, and the same command tries it again."""


@takes_caps
def command(
    chosen: Annotated[
        str | None, typer.Option("--games", metavar="NAME,…", help="Names of games, with commas. Default: all.")
    ] = None,
    llm: ModelSpec = None,
    base_url: BaseUrl = None,
    temperature: Temperature = None,
    reasoning_effort: Effort = None,
    wording: WordingGiven = None,
    row: Annotated[
        str, typer.Option("--row", metavar="NAME", help="What the settings are called in the standings, e.g. careful.")
    ] = "",
    syntheses: Annotated[
        int,
        typer.Option(
            "--syntheses", min=1, max=tasks.SEEDS, help="Independent syntheses of each game, with the seeds from 0 on."
        ),
    ] = 1,
    run: Annotated[
        Path | None,
        typer.Option("--run", help="Folder of all runs; default: runs/models-LLM. The same command goes on with it."),
    ] = None,
    record: Annotated[
        Path | None, typer.Option("--record", help="Folder that gets a recording of each synthesis, e.g. mnk-s1.jsonl.")
    ] = None,
    lines: Annotated[
        Path | None, typer.Option("--lines", help="Lines of other language models, for the standings: JSON lines.")
    ] = None,
    caps: Caps = NO_CAPS,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print syntheses, tokens and cost of their first prompts; no call.")
    ] = False,
    workers: Workers = 2,
    as_json: AsJson = False,
) -> None:
    """Measure how a language model writes 31 games told by rule books; --max-calls is of each synthesis, usually 50."""
    effort = None if reasoning_effort is None else effort_of(reasoning_effort)
    answerer = Answerer(llm, base_url, temperature, effort, wordings.load(wording) if wording else wordings.USUAL)
    tasks.check_llm(answerer)
    asked = _Wanted(tasks.chosen(chosen), syntheses, answerer, caps, row)
    others = [*standings.shipped(), *([] if lines is None else read_lines(lines))]
    asked.check()
    if dry_run:
        _show_first_prompts(asked, as_json)
        return
    folder = run or Path("runs") / f"models-{_slug(llm)}"
    if record is not None:
        record.mkdir(parents=True, exist_ok=True)
    with RunRecord.create_or_resume(folder, tasks.KIND, asked.config()) as opened:
        found, unfinished = _measured(opened, asked, workers, record)
        placed = standings.standings([*others, found])
        write_whole(folder / LINE_FILE, found.text())
        yardstick_page.write(opened.report_path, found, placed)
    if as_json:
        console.print_json(found.to_json() | {"run": str(folder), "standings": [one.to_json() for one in placed]})
    else:
        tables = (yardstick_page.games_table(found), yardstick_page.reasons_table(found))
        for table in (*filter(None, tables), *yardstick_page.standing_tables(placed)):
            console.out.print(table)
    console.notices.print(f"run: {folder}   line: {folder / LINE_FILE}   report: {opened.report_path}")
    _leave(found, unfinished)


@dataclass(frozen=True)
class _Wanted:
    """What was asked for: games, how many syntheses of each, of whom, and under which caps."""

    tasks: Sequence[YardstickTask]
    syntheses: int
    answerer: Answerer
    caps: Caps
    row: str

    @property
    def most_calls(self) -> int:
        """Of one synthesis."""
        return DEFAULT_CALLS if self.caps.calls is None else self.caps.calls

    @property
    def common(self) -> Caps:
        """Caps of all syntheses together."""
        return replace(self.caps, calls=None)

    @property
    def own(self) -> Caps:
        """Caps that a synthesis keeps in its folder."""
        return replace(self.caps, calls=self.most_calls, tokens=None, money=None, minutes=None)

    @property
    def price(self) -> Price | None:
        """What tokens cost, None if nobody said."""
        given = self.caps.price_in, self.caps.price_out
        return None if given[0] is None or given[1] is None else Price(given[0], given[1])

    def each(self) -> list[tuple[YardstickTask, int, str]]:
        """Returns game, seed and language model of every synthesis that can be made."""
        every = [(task, seed) for seed in range(self.syntheses) for task in self.tasks]
        named = [(task, seed, tasks.llm_of(task, seed, self.answerer)) for task, seed in every]
        return [(task, seed, llm) for task, seed, llm in named if llm is not None]

    def settings(self, task: YardstickTask, seed: int, llm: str) -> RunSettings:
        """Returns what names the language model of a synthesis, before its games are played."""
        about = RunSettings(task.source.id, task.group == "paper", llm, self.answerer.base_url, seed)
        return replace(about, rules_detail=task.how.detail)

    def check(self) -> None:
        """Checks names, keys, prices and the sandbox before anything is made."""
        for task, seed, llm in self.each():
            settings = self.settings(task, seed, llm)
            language_model.check(settings, self.common)
            shipped.settings_for(settings)

    def config(self) -> dict[str, Any]:
        """Returns what may not change when the same folder is gone on with."""
        return {"yardstick": self.tasks[0].version, **asdict(self.answerer)}


@dataclass(frozen=True)
class _Ended:
    task: str
    seed: int
    state: str = ""
    problem: str = ""
    goes_on: bool = True


@dataclass(frozen=True)
class _Synthesis:
    """One synthesis, ready to be made."""

    record: RunRecord
    asked: _Wanted
    task: YardstickTask
    seed: int
    llm: str
    common: Budget
    workers: int
    recordings: Path | None
    views: LiveViews

    @property
    def folder(self) -> Path:
        """Its own run's folder."""
        return _folder(self.record.folder, self.task, self.seed)

    def __call__(self, turn: WorkTurn | None) -> _Ended:
        """Makes it, or goes on with it, unless it is finished."""
        name = f"{self.task.name} s{self.seed}"
        ended = _Ended(self.task.name, self.seed)
        spent = attempts.used(self.folder, None)
        if self.recordings is None and attempts.is_finished(self.folder, spent, self.asked.most_calls):
            return ended
        with self.views.of(name) as view:
            try:
                return replace(ended, goes_on=self._made(turn, view))
            except FAULTS as error:
                view.say(f"broken off: {error}")
                return replace(ended, state="error", problem=str(error))
            except ReplayMissError as error:
                view.say(str(error))
                return replace(ended, state="not recorded", problem="its recording answers other requests")

    def _made(self, turn: WorkTurn | None, view: LiveView) -> bool:
        """Returns whether others may begin: a cap on all together may be reached."""
        inputs, settings = self._begun() or self._fresh()
        view.stage("checking the held-out games")
        held_out = self.task.check_held_out(inputs, settings, self.workers)
        self.record.put_evaluation(_key(self.task, self.seed), {"sha256": held_out})
        file = None if self.recordings is None else tasks.recording_file(self.recordings, self.task, self.seed)
        among = Among(self.common, self.record.folder, turn, self.asked.most_calls)
        with open_record(self.folder, settings, inputs, self.asked.own) as opened:
            end = complete(opened, settings, inputs, self.asked.own, self.workers, file, view, among).end
        view.say(end.message)
        calls = attempts.used(self.folder, None).tally.calls
        return end.cap is None or calls >= self.asked.most_calls

    def _begun(self) -> tuple[Inputs, RunSettings] | None:
        if not (self.folder / RUN_FILE).exists():
            return None
        with RunRecord.read(self.folder) as record:
            settings = RunSettings.from_record(record.info.config)
        inputs = self.task.stored_inputs(self.folder, settings)
        return None if inputs is None else (inputs, settings)

    def _fresh(self) -> tuple[Inputs, RunSettings]:
        with tempfile.TemporaryDirectory() as folder:
            inputs = self.task.inputs(Path(folder), self.seed, self.asked.answerer.wording)
        settings = self.task.settings(inputs, self.seed, self.llm, self.asked.answerer)
        return inputs, shipped.settings_for(settings)


def _folder(run: Path, task: YardstickTask, seed: int) -> Path:
    return run / task.name / f"s{seed}"


def _key(task: YardstickTask, seed: int) -> str:
    return f"held-out/{task.name}/{seed}"


def _measured(record: RunRecord, asked: _Wanted, workers: int, recordings: Path | None) -> tuple[YardstickLine, bool]:
    """Makes all syntheses, or goes on with them; returns the line, and whether a common cap ended them."""
    each = asked.each()
    known = {_folder(record.folder, task, seed): asked.settings(task, seed, llm) for task, seed, llm in each}
    common = several.opened_budget(record.folder, known, asked.common)
    try:
        with LiveViews(console.notices) as views:
            made = [_Synthesis(record, asked, *one, common, workers, recordings, views) for one in each]
            ends = _ends(made, asked)
    except BaseException:
        console.notices.print(f"what was finished is kept in {record.folder}; the same command goes on")
        raise
    finally:
        # Where nothing can be written, the last event has counted before.
        with suppress(OSError):
            write_elapsed(record.folder, common)
    return _line(record, asked, ends), not all(end.goes_on for end in ends)


def _ends(made: Sequence[_Synthesis], asked: _Wanted) -> list[_Ended]:
    if not made:
        return []
    first = made[0]
    at_once = language_model.at_once(asked.settings(first.task, first.seed, first.llm), asked.caps)
    if at_once > 1:
        return side_by_side(made, min(at_once, len(made)), lambda end: end.goes_on)
    ends: list[_Ended] = []
    for one in made:
        ends.append(one(None))
        if not ends[-1].goes_on:
            break
    return ends


def _line(record: RunRecord, asked: _Wanted, ends: Sequence[_Ended]) -> YardstickLine:
    """Returns what is known now of all syntheses."""
    broken = {(end.task, end.seed): end for end in ends if end.state}
    spent, results = [], []
    for task in asked.tasks:
        found = []
        for seed in range(asked.syntheses):
            folder, llm = _folder(record.folder, task, seed), tasks.llm_of(task, seed, asked.answerer)
            used = attempts.used(folder, asked.price)
            spent.append(used)
            end = broken.get((task.name, seed), _Ended(task.name, seed))
            if llm is None or end.state == "not recorded":
                one = Attempt(seed, "not recorded", end.problem or "there is no recording of it")
            else:
                one = attempts.attempt(folder, seed, used, asked.most_calls, end.problem)
            fixed, stored = task.fixed(seed), record.evaluation(_key(task, seed))
            held_out = None if stored is None else stored["sha256"]
            found.append(replace(one, learn=fixed["learn"] or "", held_out=fixed["held_out"] or held_out))
        results.append(GameResult(task.name, task.group, task.hidden, str(task.fixed(0)["rule_book"]), tuple(found)))
    dates = sorted({date for used in spent for date in used.dates})
    began = f"{datetime.fromtimestamp(record.info.created, UTC):%Y-%m-%d}"
    table, answerer = games.load(), asked.answerer
    told: dict[str, Any] = {"llm": answerer.llm or "recorded", "temperature": answerer.temperature}
    return YardstickLine(
        yardstick=table.version,
        open_spiel=table.open_spiel,
        row=asked.row,
        model=", ".join(sorted({name for used in spent for name in used.models})) or told["llm"],
        date=dates[-1] if dates else began,
        asked=told | {"reasoning_effort": answerer.reasoning_effort, "max_calls": asked.most_calls},
        games=tuple(results),
    )


def _slug(llm: str | None) -> str:
    return re.sub(r"[^A-Za-z0-9.+-]+", "-", llm or "recorded").strip("-.") or "llm"


def _leave(found: YardstickLine, unfinished: bool) -> None:
    """Ends the command.

    Raises:
        typer.Exit: a common cap is reached, or a synthesis was broken off through a fault of ours.
    """
    if unfinished:
        console.notices.print("a cap on all games together is reached; the same command with a higher one goes on")
        raise typer.Exit(EXIT_PROVIDER)
    if any(attempt.state == "error" for result in found.games for attempt in result.syntheses):
        console.notices.print("a synthesis was broken off, see its reason; the same command tries it again")
        raise typer.Exit(EXIT_SYSTEM)


def _show_first_prompts(asked: _Wanted, as_json: bool) -> None:
    """Prints how much would be asked; plays no held-out game and calls nothing."""
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder, console.notices.status("playing the games to learn from") as status:
        for task, seed, llm in asked.each():
            status.update(f"{task.name}: playing the games to learn from")
            inputs = task.inputs(Path(folder), seed, asked.answerer.wording)
            settings = task.settings(inputs, seed, llm, asked.answerer)
            first = first_prompt(inputs, settings, asked.common)
            cost = first.first_call_cost
            rows.append({"game": task.name, "seed": seed, "input_tokens": first.input_tokens, "cost_at_most": cost})
    costs = [row["cost_at_most"] for row in rows]
    figures = {
        "syntheses": len(rows),
        "input_tokens_estimated": sum(row["input_tokens"] for row in rows),
        "first_calls_cost_at_most": None if None in costs else sum(costs),
        "calls_at_most": asked.most_calls * len(rows),
    }
    if as_json:
        console.print_json(figures | {"first_prompts": rows})
        return
    console.out.print(yardstick_page.prompts_table(rows))
    for name, value in figures.items():
        shown = "unknown: give --price-in and --price-out" if value is None else value
        console.notices.print(f"{name.replace('_', ' ')}: {shown}")
