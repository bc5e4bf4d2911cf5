"""`cwm llm`: list and show what is recorded, ask a model one question, explain why a replay has no answer."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Final

import typer

from arena.commands.exit_codes import EXIT_NEGATIVE
from arena.figures import formatting
from arena.figures.sheet import Sheet
from arena.machine import own_source
from arena.pipeline import packing
from arena.runs import stored_calls
from arena.runs.stored_calls import Call
from arena.terminal import console
from arena.terminal.options import AsJson, BaseUrl, Effort, Headers, Seed, Stream, Temperature, Timeout, line
from arena.usage import UsageError
from cwm.llm import recordings
from cwm.llm.api import Message, ReplayMissError, Request
from cwm.llm.line import ANSWER_S, effort_of
from cwm.llm.provider_table import FORMS
from cwm.llm.providers import factory
from cwm.llm.providers.replay import Replay
from cwm.llm.requests import request_from_json
from cwm.quality.recorded_answers import likenesses

DISCARDED: Final = "Calls on record; those of prompts that were discarded are counted in arena/papers/cwm/RESULTS.md."

app = typer.Typer(no_args_is_help=True, help="List and show recorded calls, ask one question, explain a replay miss.")


@app.command("list")
def list_recordings(as_json: AsJson = False) -> None:
    """List the recorded completions that ship with the project."""
    summaries = [recording.summary() for recording in recordings.bundled()]
    if as_json:
        console.print_json(summaries)
        return
    table = Sheet("", ["name", "game", "model", "date", "calls", "tokens in", "tokens out"], note=DISCARDED)
    for item in summaries:
        about = "~" if item["tokens_estimated"] else ""
        table.add(
            item["name"],
            item["game"],
            ", ".join(item["models"]),
            item["first_date"][:10],
            str(item["calls"]),
            f"{about}{item['input_tokens']:,}",
            f"{about}{item['output_tokens']:,}",
        )
    console.out.print(table)


@app.command()
def show(
    place: Annotated[
        str,
        typer.Argument(
            help="Name of a bundled recording, a .jsonl or .jsonl.xz file, or the folder of a run or a tournament."
        ),
    ],
    call: Annotated[int | None, typer.Argument(min=1, help="Number of a call; default: a list of all.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show a recorded request and its answer; without a number, the list of calls."""
    calls = stored_calls.calls_of(place)
    if call is None:
        if as_json:
            console.print_json([item.summary() for item in calls])
        else:
            console.out.print(_calls_table(place, calls))
        return
    if call > len(calls):
        raise UsageError(f"{place} has no call {call}, its last is {len(calls)}: `cwm llm show {place}` lists them.")
    chosen = calls[call - 1]
    if as_json:
        console.print_json(chosen.to_json())
        return
    for message in chosen.request.messages:
        console.out.print(f"--- {message.role}, {len(message.text):,} characters ---")
        console.out.print(console.plain(message.text))
    console.notices.print(
        f"--- answer of {console.plain(chosen.model)}: {chosen.ended}, {chosen.characters[1]:,} characters ---"
    )
    console.out.print(console.plain(chosen.message if chosen.completion is None else chosen.completion.text))


def _calls_table(place: str, calls: Sequence[Call]) -> Sheet:
    numbers = ["messages", "characters asked", "characters answered", "tokens in", "tokens out"]
    table = Sheet(f"Calls of {place}", ["call", "purpose", "model", "ended", "date"], numbers)
    for call in calls:
        usage = None if call.completion is None else call.completion.usage
        about = "~" if usage is not None and usage.estimated else ""
        table.add(
            str(call.number),
            call.request.purpose,
            console.plain(call.model),
            call.ended,
            call.date[:10],
            str(len(call.request.messages)),
            *(formatting.whole(count) for count in call.characters),
            formatting.NONE if usage is None else f"{about}{usage.input_tokens:,}",
            formatting.NONE if usage is None else f"{about}{usage.output_tokens:,}",
        )
    return table


@app.command()
def pack(
    places: Annotated[
        list[str], typer.Argument(help="Folders of runs, or recordings: .jsonl files or names of bundled ones.")
    ],
    run: Annotated[
        Path | None,
        typer.Option("--run", help="The run that made an old recording, which tells nothing of its settings."),
    ] = None,
    into: Annotated[Path, typer.Option("--into", help="Folder for the packed recordings.")] = Path("recordings"),
    name: Annotated[
        str | None, typer.Option("--name", help="Name of the packed one; default: after its game, method and seed.")
    ] = None,
) -> None:
    """Pack recordings as those that ship: compressed, with the settings of their run, by which they are replayed."""
    if run is not None and len(places) > 1:
        raise UsageError("--run names the run of one recording: pack one at a time.")
    if name is not None and len(places) > 1:
        raise UsageError("--name names one recording: pack one at a time.")
    if name is not None and ("/" in name or not name.strip()):
        raise UsageError(f"{name!r} is no name of a recording: give one without a folder, e.g. leduc_poker+mine.")
    for place in places:
        file = packing.pack(place, run, into, name)
        console.notices.print(f"{file}: {file.stat().st_size:,} bytes")


@app.command()
def shared(
    names: Annotated[list[str] | None, typer.Argument(help="Bundled recordings or .jsonl files; default: all.")] = None,
    as_json: AsJson = False,
) -> None:
    """Say what recorded programs share with our source, outside their prompts, and what answers share among them."""
    every = {recording.name: recording for recording in recordings.bundled()}
    chosen = [every.get(name) or recordings.load(name) for name in names or every]
    found = []
    with console.notices.status("reading our source") as status:
        for item in likenesses(chosen, list(every.values()), own_source.files()):
            found.append(item)
            status.update(f"{item.recording}: {len(found)} of {len(chosen)} recordings")
    if as_json:
        console.print_json([asdict(item) for item in found])
        return
    numbers = ["programs", "with our source", "of it outside the prompt", "with other answers, outside the prompt"]
    table = Sheet("Longest run of tokens shared", ["recording", "the run outside the prompt stands in"], numbers)
    for item in found:
        where = f"{item.outside.file}, line {item.outside.file_line}" if item.outside.file else formatting.NONE
        others = formatting.NONE if item.others is None else str(item.others.length)
        counts = (item.programs, item.shared.length, item.outside.length)
        table.add(item.recording, where, *map(str, counts), others)
    console.out.print(table)


@app.command()
def ask(
    model: Annotated[str, typer.Argument(help=f"One of {FORMS}.")],
    question: Annotated[str, typer.Argument(help="The question.")],
    base_url: BaseUrl = None,
    timeout: Timeout = ANSWER_S,
    stream: Stream = None,
    header: Headers = None,
    temperature: Temperature = None,
    reasoning_effort: Effort = None,
    max_output_tokens: Annotated[int, typer.Option(min=1, help="Cap of the answer, reasoning included.")] = 4096,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Ask a model one question: the quickest check of a key, a model's name and an address."""
    effort = None if reasoning_effort is None else effort_of(reasoning_effort)
    request = Request(
        (Message("user", question),), "ask", max_output_tokens, temperature=temperature, reasoning_effort=effort
    )
    way = line(timeout, stream, header)
    completion = factory.make(model, base_url=base_url, line=way, seed=seed).complete(request)
    if as_json:
        console.print_json(
            {
                "text": completion.text,
                "outcome": completion.outcome,
                "model": completion.model,
                "input_tokens": completion.usage.input_tokens,
                "output_tokens": completion.usage.output_tokens,
                "seconds": completion.latency_s,
            }
        )
    else:
        console.out.print(completion.text)
        usage = completion.usage
        console.notices.print(
            f"{completion.model}: {completion.outcome}, {usage.input_tokens} tokens in, {usage.output_tokens} out, "
            f"{completion.latency_s:.1f} s",
        )
    if completion.outcome != "ok":
        raise typer.Exit(EXIT_NEGATIVE)


@app.command()
def explain(
    recording: Annotated[str, typer.Argument(help="Name of a bundled recording, or a .jsonl file.")],
    request: Annotated[Path, typer.Argument(help="A request as JSON, as a run's journal or a spool holds it.")],
) -> None:
    """Say whether a recording answers a request and, if not, which recorded one is nearest and where they differ."""
    replay = Replay(recordings.load(recording))
    try:
        asked = request_from_json(json.loads(request.read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UsageError(
            f"{request} is no request ({error}); give a file of a spool's requests/, ending in .json."
        ) from error
    try:
        completion = replay.complete(asked)
    except ReplayMissError as miss:
        console.out.print(str(miss))
        raise typer.Exit(EXIT_NEGATIVE) from None
    console.out.print(f"recorded: {completion.outcome}, {completion.model}, {len(completion.text)} characters")
