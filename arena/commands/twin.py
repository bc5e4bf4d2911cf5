"""`cwm twin`: ask for a run's model as a program on arrays, and keep it once it is proved equal."""

from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from arena.commands.exit_codes import EXIT_NEGATIVE, EXIT_PROVIDER
from arena.matches.game_source import in_turns
from arena.pipeline.twin import TwinStep
from arena.runs import inputs, language_model, shipped
from arena.runs.folder import INPUTS, KIND, read_bundle, read_caps, read_result, write_caps
from arena.runs.replayed import with_twin
from arena.runs.settings import RunSettings
from arena.runs.stage import Stage
from arena.terminal import bar, console
from arena.terminal.options import NO_CAPS, AsJson, BaseUrl, ModelSpec, Record, takes_caps
from arena.usage import UsageError
from cwm.llm.caps import Caps, budget, write_elapsed
from cwm.model.bundle import ModelBundle
from cwm.record.record import RunRecord
from cwm.synthesis.events import Event
from cwm.twins.refinement import TwinResult, TwinTested
from cwm.twins.task import NoTwinError, TwinConfig


@takes_caps
def command(
    run: Annotated[Path, typer.Argument(help="Folder of a run of `cwm synthesize`.")],
    transitions: Annotated[
        int, typer.Option("--transitions", min=1, help="Transitions of the model that the twin is compared with.")
    ] = 1_000_000,
    retries: Annotated[int, typer.Option("--retries", min=0, help="Refinements after the first answer, at most.")] = 8,
    method: Annotated[
        str, typer.Option("--method", help="How the twin is refined: conversation or tree_search.")
    ] = "conversation",
    llm: ModelSpec = None,
    base_url: BaseUrl = None,
    record: Record = None,
    caps: Caps = NO_CAPS,
    as_json: AsJson = False,
) -> None:
    """Ask for a run's model as a program on arrays (its twin), and keep it once it is proved equal."""
    with RunRecord.open(run) as opened:
        if opened.info.kind != KIND:
            raise UsageError(
                f"{run} holds a run of kind {opened.info.kind!r}; only runs of kind {KIND!r} have a model."
            )
        settings = RunSettings.from_record(opened.info.config)
        bundle = in_turns(_model(run))
        caps = read_caps(run).raised(caps)
        written_by = with_twin(settings) if llm is None else replace(settings, llm=llm, base_url=base_url)
        language_model.check(written_by, caps)
        shipped.check(written_by)
        write_caps(run, caps)
        given = inputs.load(run / INPUTS, settings)
        config = TwinConfig(
            method=method,  # type: ignore[arg-type]
            num_retries=retries,
            transitions=transitions,
            seed=settings.seed,
            temperature=settings.temperature,
        )
        spent = budget(caps)
        asked = language_model.compose(written_by, caps, opened, spent, record)
        try:
            with bar.worded_bar("twin", "begins") as show:

                def told(done: int, total: int) -> None:
                    show(done, total, f"{done:,} of {total:,} transitions compared")

                stage = Stage(opened, settings, given, 1, _on_event, lambda text: console.notices.print(text))
                result = TwinStep(stage, bundle, asked, config, told).run()
        except NoTwinError as error:
            raise NoTwinError(f"The game of {run} can have no twin: {error}.") from None
        except BaseException:
            console.notices.print(f"what was finished is kept in {run}; the same command goes on", markup=False)
            raise
        finally:
            with suppress(OSError):
                write_elapsed(opened.folder, spent)
    _tell(run, result, as_json)


def _model(run: Path) -> ModelBundle:
    bundle = read_bundle(run)
    if bundle is None:
        raise UsageError(f"{run} came to no model; `cwm resume {run}` goes on with it.")
    reason = read_result(run).get("synthesis", {}).get("reason")
    if reason != "all_tests_pass":
        raise UsageError(
            f"The model in {run} does not pass all its tests ({reason or 'it is not finished'}); a twin is made of one "
            f"that does. `cwm resume {run}` goes on with it."
        )
    return bundle


def _on_event(event: Event) -> None:
    if isinstance(event, TwinTested):
        what = "proved" if event.proved else "not yet right"
        console.notices.print(f"twin {event.candidate + 1}: {what}: {console.plain(event.message)}", markup=False)


def _tell(run: Path, result: TwinResult, as_json: bool) -> None:
    proof = None if result.report is None else result.report.proof
    if as_json:
        told = {"proved": result.proved, "reason": result.reason, "message": result.message, "calls": result.calls}
        tokens = {"input_tokens": result.input_tokens, "output_tokens": result.output_tokens}
        console.print_json({"run": str(run), **told, **tokens, "proof": None if proof is None else proof.to_json()})
    else:
        told_proof = "" if proof is None else f": {proof.in_words}"
        # What a language model wrote is part of both: its reasons, names of its arrays, lines of its program.
        console.out.print(f"{console.plain(result.message + told_proof)}; {result.calls} calls", markup=False)
        if proof is not None and proof.proved:
            for branch in proof.missed:
                text = console.plain(branch.text)
                console.out.print(f"no game met: line {branch.line}, {branch.kind}: {text}", markup=False)
    if result.reason == "budget":
        console.notices.print(f"a cap is reached ({console.plain(result.message)}); give `cwm twin {run}` a higher one")
        raise typer.Exit(EXIT_PROVIDER)
    if not result.proved:
        raise typer.Exit(EXIT_NEGATIVE)
