"""From a run's record to what its report shows: everything is rebuilt from the folder, nothing is asked again."""

import json
import platform
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from arena.machine import own_source
from arena.pipeline.synthesis import Outcome
from arena.report import functions, inputs_view
from arena.report.data import (
    Accuracy,
    ArenaView,
    CallView,
    CandidateView,
    FailedTest,
    ProgramView,
    Replay,
    ReportData,
    SimilarityRow,
    UsageRow,
)
from arena.runs import language_model
from arena.runs.folder import RESULT_FILE, read_bundle, read_caps, read_result
from arena.runs.hidden_information import LIKELIHOOD
from arena.runs.inputs import Inputs
from arena.runs.settings import RunSettings
from cwm.functions.joint.kinds import kinds_for
from cwm.llm.budget import Budget, Tally
from cwm.model.bundle import ModelBundle
from cwm.quality.similarity import SharedRun, longest_shared_runs
from cwm.record.record import RunRecord
from cwm.storage.files import write_whole
from cwm.storage.keys import content_key, program_hash
from cwm.suite.evaluation import LIKELIHOOD_GAP, LikelihoodGap
from cwm.suite.likelihood import LikelihoodBound
from cwm.synthesis.candidate import SuiteReport
from cwm.synthesis.driver import STREAM
from cwm.synthesis.events import CandidateTested
from cwm.synthesis.further import describe

"""Ours, whose source a program is compared with."""
SIMILARITY_FILE = "similarity.json"
"""Comparisons of programs with our source, which take a good part of a second each; it may be deleted."""
SHOWN_FAILURES = 5
SPLIT_ORDER = ("train", "test", "planner", "online")


def build(
    record: RunRecord,
    settings: RunSettings,
    arenas: Sequence[ArenaView],
    replays: Sequence[Replay],
    inputs: Inputs | None = None,
) -> ReportData:
    """Returns the report of a run.

    Args:
        record: open for reading or writing.
        settings: as stored.
        arenas: tournaments that were played with the model.
        replays: sample games as text.
        inputs: what the model was written from; None to show nothing of them.
    """
    result = read_result(record.folder)
    calls = _calls(record)
    bundle = read_bundle(record.folder)
    similarity = _similarity(record, bundle)
    tallies = _tallies(record, settings)
    return ReportData(
        title=f"Code world model of {settings.game}",
        game=settings.game,
        created=datetime.fromtimestamp(record.info.created, UTC).strftime("%Y-%m-%d %H:%M UTC"),
        sandbox=settings.level,
        summary=(*_summary(result, calls, bundle), *_most_similar(similarity)),
        notices=_notices(settings, result, bundle, sum(tally.lost for tally in tallies.values())),
        config=_config(record, settings),
        accuracy=tuple(_accuracy(result)),
        candidates=tuple(_candidates(record, result)),
        calls=tuple(calls),
        usage=tuple(
            UsageRow(purpose, tally.calls, tally.input_tokens, tally.output_tokens, tally.money, tally.estimated)
            for purpose, tally in tallies.items()
        ),
        arenas=tuple(arenas),
        replays=tuple(replays),
        programs=tuple(_programs(bundle, similarity)),
        similarity=tuple(similarity),
        functions=tuple(functions.views(record, result)),
        facts=() if inputs is None else inputs_view.facts(inputs),
        seen=() if inputs is None else inputs_view.seen(inputs, settings),
        rules="" if inputs is None else inputs.rules,
    )


def write_result(folder: Path, outcome: Outcome) -> None:
    """Stores what a run came to; a resumed run with higher caps replaces it."""
    data = {
        "synthesis": outcome.synthesis.to_json(),
        **{name: None if found is None else found.to_json() for name, found in outcome.beside.results.items()},
        "model": None if outcome.bundle is None else outcome.bundle.hash,
        "evaluations": outcome.evaluations,
        "tally": outcome.tally,
    }
    if outcome.faster is not None:
        data["faster"] = outcome.faster.to_json() | {"words": outcome.faster.in_words()}
    write_whole(folder / RESULT_FILE, json.dumps(data, indent=1, sort_keys=True, allow_nan=False) + "\n")


def _summary(result: dict[str, Any], calls: list[CallView], bundle: ModelBundle | None) -> tuple[tuple[str, str], ...]:
    rows = [("synthesis", str(result.get("synthesis", {}).get("message", "not finished")))]
    rows.append(("language model", ", ".join(sorted({call.model for call in calls})) or "–"))
    rows.append(("calls", str(len(calls))))
    for number, done in enumerate(result.get("synthesis", {}).get("rounds", []), start=1):
        told = describe(done["games"], done["tested"], done["failed"], tuple(done["added"]))
        rows.append((f"further games, round {number}", told))
    rows += functions.summaries(result, by_tournament=True)
    if result.get("faster") is not None:
        rows.append(("speed refinement", result["faster"]["words"]))
    rows += functions.summaries(result, by_tournament=False)
    for split, found in sorted(result.get("evaluations", {}).items(), key=lambda item: SPLIT_ORDER.index(item[0])):
        if LIKELIHOOD in found:
            bound = LikelihoodBound.from_json(found[LIKELIHOOD])
            rows.append((f"likelihood bound ({split})", bound.in_words()))
        if LIKELIHOOD_GAP in found:
            rows.append((f"likelihood gap ({split})", LikelihoodGap(**found[LIKELIHOOD_GAP]).in_words()))
    if bundle is not None:
        rows.append(("model (SHA-256)", bundle.hash))
    return tuple(rows)


def _notices(settings: RunSettings, result: dict[str, Any], bundle: ModelBundle | None, lost: int) -> tuple[str, ...]:
    notices = []
    if lost:
        what = "1 attempt to get an answer was" if lost == 1 else f"{lost} attempts to get an answer were"
        notices.append(
            f"{what} cut off after the request was sent and may be on the bill: among the calls of the language model "
            "each counts with the most tokens that it may have cost (~)."
        )
    if settings.level == "process":
        notices.append(
            "Programs ran at sandbox level process: contained against accidents (crashes, endless loops, memory), not "
            "against a program that means harm."
        )
    reason = result.get("synthesis", {}).get("reason")
    if reason is not None and reason != "all_tests_pass":
        shown = "no answer held a program" if bundle is None else "the best program so far is shown"
        notices.append(f"The synthesis ended before every training test passed; {shown}.")
    values = result.get("values")
    if values is not None and settings.value is not None and len(values["candidates"]) < settings.value.num_candidates:
        notices.append(f"Fewer value functions were written than were asked for: {values['message']}")
    vectors = result.get("vectors")
    if vectors is not None and vectors["chosen"] is None:
        notices.append(f"The model has no vectors of observations: {vectors['message']}.")
    return tuple(notices)


def _config(record: RunRecord, settings: RunSettings) -> tuple[tuple[str, str], ...]:
    rows: list[tuple[str, str]] = []
    for name, value in settings.to_json().items():
        if isinstance(value, dict):
            rows.extend((f"{name}.{key}", str(inner)) for key, inner in value.items())
        else:
            rows.append((name, str(value)))
    rows.extend((f"version of {name}", version) for name, version in sorted(record.info.versions.items()))
    rows.append(("git revision", record.info.git_revision or "none"))
    rows.append(("platform", f"{platform.system()} {platform.machine()}"))
    return tuple(rows)


def _accuracy(result: dict[str, Any]) -> list[Accuracy]:
    rows = []
    for split in sorted(result.get("evaluations", {}), key=SPLIT_ORDER.index):
        found = result["evaluations"][split]
        for kind, tally in found["kinds"].items():
            rows.append(Accuracy.of(split, kind, tally))
        for field, tally in found["fields"].items():
            rows.append(Accuracy.of(split, Accuracy.field_of(field), tally))
    return rows


def _calls(record: RunRecord) -> list[CallView]:
    views: list[CallView] = []
    for stored in record.calls.calls():
        completion = stored.completion
        if completion is None:
            continue
        views.append(
            CallView(
                number=len(views) + 1,
                purpose=stored.request.purpose,
                model=completion.model,
                outcome=completion.outcome,
                messages=tuple((message.role, message.text) for message in stored.request.messages),
                answer=completion.text,
                input_tokens=completion.usage.input_tokens,
                output_tokens=completion.usage.output_tokens,
                seconds=completion.latency_s,
            )
        )
    return views


def _tallies(record: RunRecord, settings: RunSettings) -> dict[str, Tally]:
    """Returns what each purpose used, counted from the stored calls: a killed run has no other account."""
    calls = list(record.calls.calls())
    counted = Budget()
    price = language_model.price(settings, read_caps(record.folder))
    counted.restore_from(calls, dict.fromkeys((call.model for call in calls), price))
    return counted.by_purpose()


def tree_of(record: RunRecord, result: dict[str, Any]) -> list[dict[str, Any]]:
    """Returns the candidates: those of the result, or more if the run has gone on since and was killed."""
    finished: list[dict[str, Any]] = result.get("synthesis", {}).get("tree", [])
    told = [payload for _, _, kind, payload in record.events(STREAM) if kind == CandidateTested.kind]
    if len(told) <= len(finished):
        return finished
    return [entry | {"id": entry["candidate"]} for entry in sorted(told, key=lambda entry: int(entry["candidate"]))]


def _candidates(record: RunRecord, result: dict[str, Any]) -> list[CandidateView]:
    synthesis = result.get("synthesis", {})
    best, suite = synthesis.get("best"), synthesis.get("suite")
    views = []
    for entry in tree_of(record, result):
        report = report_of(record, entry["hash"], suite)
        failing = [] if report is None else [item for item in report.results if item.status != "pass"]
        views.append(
            CandidateView(
                id=entry["id"],
                parent=entry["parent"],
                call=entry["step"] + 1,
                status=entry["status"],
                heuristic=entry["heuristic"],
                pass_rates=entry["pass_rates"],
                problems=tuple(entry.get("problems", ())) if report is None else report.problems,
                failing=tuple(
                    FailedTest(item.id, item.kind, item.field, str(item.expected), str(item.got), item.message)
                    for item in failing[:SHOWN_FAILURES]
                ),
                failing_total=len(failing),
                chosen=entry["hash"] == best,
                source=record.program_source(entry["hash"]),
            )
        )
    return views


def report_of(record: RunRecord, program: str, suite: str | None) -> SuiteReport | None:
    """Returns what tests said of a model, None if it was never tested.

    Args:
        record: of the run.
        program: hash.
        suite: key of the tests; where the run has not got so far, it is the largest suite that the model was tested on:
            further rounds add to it.
    """
    stored = None if suite is None else record.test_report(program, suite)
    if stored is not None:
        return SuiteReport.from_json(stored)
    reports = [SuiteReport.from_json(report) for report in record.test_reports(program)]
    return max(reports, key=lambda report: sum(count.total for count in report.counts.values()), default=None)


def _similarity(record: RunRecord, bundle: ModelBundle | None) -> list[SimilarityRow]:
    """Returns how much every recorded program, not the result's alone, shares with our own source."""
    stored = record.programs()
    runs = _shared_runs(record, [program.hash for program in stored])
    result = [] if bundle is None else [program_hash(source) for source in _sources(bundle)]
    return [
        SimilarityRow(
            sha256=program.hash,
            kind=program.kind,
            chosen=program.hash in result,
            shared_run=run.length,
            program_tokens=run.program_tokens,
            shared_with=f"{run.file}, line {run.file_line}" if run.file else "",
            shared_text=run.text,
        )
        for program, run in zip(stored, runs, strict=True)
    ]


def _shared_runs(record: RunRecord, programs: Sequence[str]) -> list[SharedRun]:
    """Returns what each program shares with our source; what was compared before with the same source is kept.

    Args:
        record: open for reading or writing.
        programs: hashes.

    Raises:
        RunCorruptError: a program is missing or was changed.
    """
    files = own_source.files()
    sources = {program: record.program_source(program) for program in programs}
    key = content_key(files)
    known = _known_runs(record.folder / SIMILARITY_FILE, key)
    new = [program for program in programs if program not in known]
    if new:
        runs = longest_shared_runs([sources[program] for program in new], files)
        known |= dict(zip(new, runs, strict=True))
        kept = {"source": key, "programs": {program: asdict(run) for program, run in known.items()}}
        write_whole(record.folder / SIMILARITY_FILE, json.dumps(kept, sort_keys=True) + "\n")
    return [known[program] for program in programs]


def _known_runs(path: Path, key: str) -> dict[str, SharedRun]:
    """Returns stored comparisons by program, {} if our source has changed since or the file cannot be read."""
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
        if kept["source"] != key:
            return {}
        return {program: SharedRun(**run) for program, run in kept["programs"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        # It holds nothing that cannot be made anew.
        return {}


def _sources(bundle: ModelBundle) -> tuple[str, ...]:
    beside = (getattr(bundle, f"{kind.name}_source", bundle.further.get(kind.name)) for kind in kinds_for(bundle.joint))
    return bundle.source, *(source or "" for source in beside)


def _most_similar(rows: Sequence[SimilarityRow]) -> list[tuple[str, str]]:
    if not rows:
        return []
    most = max(rows, key=lambda row: row.shared_run)
    where = f" ({most.shared_with})" if most.shared_with else ""
    return [("longest run shared with our source", f"{most.shared_run} tokens{where}, of {len(rows)} programs")]


def _programs(bundle: ModelBundle | None, similarity: Sequence[SimilarityRow]) -> list[ProgramView]:
    if bundle is None:
        return []
    titles = ("model", *(kind.title for kind in kinds_for(bundle.joint)))
    sources = [(title, source) for title, source in zip(titles, _sources(bundle), strict=True) if source]
    measured = {row.sha256: row for row in similarity}
    views = []
    for title, source in sources:
        digest = program_hash(source)
        row = measured.get(digest, SimilarityRow(digest, "", True, 0, 0))
        views.append(
            ProgramView(
                title=title,
                source=source,
                sha256=digest,
                shared_run=row.shared_run if digest in measured else None,
                program_tokens=row.program_tokens,
                shared_with=row.shared_with,
                shared_text=row.shared_text,
            )
        )
    return views
