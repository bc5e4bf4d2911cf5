"""`cwm synthesize`: from rules and played games to a tested model."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from arena.commands import continuing, several
from arena.commands.finishing import finish
from arena.matches.rejection import RejectionConfig
from arena.pipeline.function_choice import functions_asked
from arena.pipeline.several import SeveralSettings
from arena.pipeline.synthesis import first_prompt
from arena.runs import inputs as run_inputs
from arena.runs import language_model, shipped, wished
from arena.runs.folder import DEFAULT_CALLS, capped, open_record
from arena.runs.hidden_information import HiddenInformation
from arena.runs.inputs import Inputs, Stated
from arena.runs.settings import FURTHER_GAMES, MOST_FURTHER_ROUNDS, RunSettings
from arena.runs.wished import Start, Ways
from arena.terminal import console
from arena.terminal.options import (
    NO_CAPS,
    AsJson,
    BaseUrl,
    ChanceGiven,
    DeckGiven,
    Effort,
    FasterVersions,
    HowPriorsPlay,
    InferenceAsked,
    ModelSpec,
    PromptTestsShown,
    Record,
    Refinement,
    RulesDetail,
    SeedGiven,
    Temperature,
    TournamentBudget,
    TournamentDeals,
    VocabularyGiven,
    WordingGiven,
    Workers,
    takes_caps,
)
from arena.usage import UsageError
from cwm.functions.joint.kinds import every_kind
from cwm.interface import wording as wordings
from cwm.llm.caps import Caps
from cwm.llm.line import effort_of
from cwm.trajectories.recorded import Deck


@takes_caps
def command(
    game: Annotated[str | None, typer.Argument(help="Id of a registered game; none for a game of your own.")] = None,
    rules: Annotated[Path | None, typer.Option("--rules", help="Your own game: its rules, as text.")] = None,
    no_rules: Annotated[
        bool, typer.Option("--no-rules", help="Give the model no rules text: it has the played games alone.")
    ] = False,
    trajectories: Annotated[
        Path | None, typer.Option("--trajectories", help="Your own game: played games, JSON lines, one a step.")
    ] = None,
    held_out: Annotated[
        int | None, typer.Option("--held-out", min=0, help="Your own game: keep so many games for the test.")
    ] = None,
    perfect_information: Annotated[
        bool | None,
        typer.Option(
            "--perfect-information/--hidden-information", help="Your own game: default, read off the played games."
        ),
    ] = None,
    min_utility: Annotated[
        float | None, typer.Option("--min-utility", help="Your own game: least return; default, the least recorded.")
    ] = None,
    max_utility: Annotated[
        float | None,
        typer.Option("--max-utility", help="Your own game: highest return; default, the highest recorded."),
    ] = None,
    deck: DeckGiven = None,
    inference: InferenceAsked = None,
    rules_detail: RulesDetail = None,
    vocabulary: VocabularyGiven = None,
    chance: ChanceGiven = None,
    wording: WordingGiven = None,
    go_on: Annotated[
        Path | None,
        typer.Option(
            "--continue",
            help="Go on from the model of a finished run, by its settings, in a run of its own: its games and those of "
            "--add-games are tested, and only what fails is refined.",
        ),
    ] = None,
    add_games: Annotated[
        Path | None,
        typer.Option("--add-games", help="With --continue: further played games, as `cwm trajectories from` writes."),
    ] = None,
    llm: ModelSpec = None,
    base_url: BaseUrl = None,
    temperature: Temperature = None,
    reasoning_effort: Effort = None,
    run: Annotated[
        Path | None,
        typer.Option("--run", help="Folder of the run; default: runs/GAME-SEED. The same command goes on with it."),
    ] = None,
    games: Annotated[
        int | None, typer.Option("--games", min=1, help="Registered games: random games to learn from; default 5.")
    ] = None,
    seed: SeedGiven = None,
    method: Annotated[
        str | None, typer.Option("--method", help="tree_search or conversation; default tree_search.")
    ] = None,
    retries: Annotated[
        int | None, typer.Option("--retries", min=0, help="Refinement steps, at most; default 500.")
    ] = None,
    programs: Annotated[
        int | None, typer.Option("--programs", min=1, help="Programs asked for in one answer; default 1.")
    ] = None,
    values: Annotated[
        int | None, typer.Option("--values", min=0, help="Value functions to choose from; 0, the default, for none.")
    ] = None,
    priors: Annotated[
        int | None, typer.Option("--priors", min=0, help="Policy priors to choose from; 0, the default, for none.")
    ] = None,
    vectors: Annotated[
        int | None,
        typer.Option(
            "--vectors",
            min=0,
            help="Observations as lists of floats: pairs of functions to choose from beside a schema; 0, the default, "
            "for none.",
        ),
    ] = None,
    function: Annotated[
        list[str] | None,
        typer.Option(
            "--function",
            metavar="KIND=NUMBER",
            help=f"Functions of a kind beside the model to choose from, may be given several times: "
            f"{', '.join(kind.name for kind in every_kind())}. --values, --priors and --vectors are short for theirs.",
        ),
    ] = None,
    faster: FasterVersions = None,
    tournament_deals: TournamentDeals = None,
    tournament_budget: TournamentBudget = None,
    priors_play: HowPriorsPlay = "tree",
    max_output_tokens: Annotated[
        int | None, typer.Option(min=1, help="Cap of one answer, reasoning included; default 32768.")
    ] = None,
    prompt_tests: PromptTestsShown = None,
    refinement: Refinement = None,
    config: Annotated[
        Path | None, typer.Option("--config", help="JSON file with further settings of the synthesis, by name.")
    ] = None,
    test_transitions: Annotated[
        int | None, typer.Option(min=0, help="Held-out transitions of a registered game; default 10000.")
    ] = None,
    further_games: Annotated[
        int | None,
        typer.Option(
            "--further-games",
            min=0,
            help=f"Registered games: play on with a model that passes its tests, so many games of its planner on the "
            f"model itself and so many real ones; what it gets wrong there is added to the tests, and refinement goes "
            f"on. 0 for none, default {FURTHER_GAMES}. Of a game of your own there is nothing to play on.",
        ),
    ] = None,
    further_rounds: Annotated[
        int | None,
        typer.Option(
            "--further-rounds",
            min=1,
            help=f"Rounds of further games, at most, while they find failures; default {MOST_FURTHER_ROUNDS}.",
        ),
    ] = None,
    syntheses: Annotated[
        int,
        typer.Option(
            "--syntheses",
            min=1,
            help="Independent syntheses, with the seeds from --seed on, within the same caps; the best model is "
            "chosen, where information is hidden after bad ones were rejected by matches between them.",
        ),
    ] = 1,
    repetitions: several.Repetitions = several.DEFAULT.repetitions,
    simulations: several.Simulations = several.DEFAULT.simulations,
    record: Record = None,
    caps: Caps = NO_CAPS,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the first prompt, its tokens and cost; no call.")
    ] = False,
    workers: Workers = 2,
    as_json: AsJson = False,
) -> None:
    """Have a language model write a game as a program, by at most 50 calls unless --max-calls is given, and test it."""
    if add_games is not None and go_on is None:
        raise UsageError("--add-games adds to a run: name it by --continue RUN.")
    if go_on is not None:
        if game is not None or rules is not None or trajectories is not None or dry_run:
            raise UsageError("--continue goes on from a run: leave out game, --rules, --trajectories and --dry-run.")
        settings, inputs = continuing.asked(go_on, add_games, llm, base_url)
        _run(run or continuing.folder_for(go_on), settings, inputs, caps, workers, record, as_json)
        return
    stated = Stated(perfect_information, min_utility, max_utility)
    worded = wordings.load(wording) if wording else None
    ways = Ways(not no_rules, rules_detail, vocabulary, chance, worded, deck, inference, method)
    start = wished.begin(game, llm, base_url, seed, ways)
    seed, deck = start.settings.seed, deck or start.settings.deck
    no_rules = no_rules or not (start.settings.told or rules)
    games, held_out = games or start.settings.train_games, start.held_out(held_out)
    inputs = _inputs(game, rules, no_rules, trajectories, held_out, stated, games, seed, deck, start)
    numbers = {"value": values, "prior": priors, "vectors": vectors}
    beside = functions_asked(numbers, function or [], seed, start.settings.joint)
    settings = start.settled(
        inputs,
        numbers,
        beside,
        {
            "method": method,
            "num_retries": retries,
            "programs_per_answer": programs,
            "max_output_tokens": max_output_tokens,
            "prompt_tests": prompt_tests,
            "refinement": refinement,
            **_further(config),
        },
        faster,
        test_transitions=test_transitions,
        tournament_deals=tournament_deals,
        deck=deck,
        inference=inference,
        further_games=_further_games(inputs, further_games, start.settings.further_games),
        further_rounds=further_rounds,
        temperature=temperature,
        reasoning_effort=None if reasoning_effort is None else effort_of(reasoning_effort),
    )
    wished.check_single(settings, syntheses)
    HiddenInformation.asked(inputs.info, settings.deck, settings.inference, settings.prior is not None)
    settings = settings.with_budget(tournament_budget, tournament_deals)
    if priors_play == "blueprint":
        settings = settings.with_blueprint(inputs.info.perfect_information)
    if dry_run:
        _show_first_prompt(inputs, settings, caps, syntheses, as_json)
        return
    folder = run or Path("runs") / (f"{settings.game}-{seed}" + (f"-of-{syntheses}" if syntheses > 1 else ""))
    if syntheses > 1:
        language_model.check(settings, caps)
        settings = shipped.settings_for(settings)
        rejection = RejectionConfig(repetitions=repetitions, simulations=simulations, seed=seed)
        caps = capped(folder, caps, syntheses)
        several.synthesize(
            folder, SeveralSettings(settings, syntheses, rejection), inputs, caps, workers, record, as_json
        )
        return
    _run(folder, settings, inputs, caps, workers, record, as_json)


def _run(
    folder: Path, asked: RunSettings, inputs: Inputs, caps: Caps, workers: int, recording: Path | None, as_json: bool
) -> None:
    language_model.check(asked, caps)
    settings = shipped.settings_for(asked)
    _say_where_answers_go(settings)
    caps = capped(folder, caps)
    with open_record(folder, settings, inputs, caps) as opened:
        finish(opened, settings, inputs, caps, workers, recording, as_json)


def _say_where_answers_go(settings: RunSettings) -> None:
    """Says of a language model of files where its questions lie and where its answers are awaited."""
    provider, _, place = (settings.llm or "").partition(":")
    if provider == "spool":
        console.notices.print(
            f"questions: {place}/requests; each answer is awaited in {place}/answers, see {place}/README.txt",
            soft_wrap=True,
        )


def _inputs(
    game: str | None,
    rules: Path | None,
    no_rules: bool,
    trajectories: Path | None,
    held_out: int | None,
    stated: Stated,
    games: int,
    seed: int,
    deck: str,
    start: Start,
) -> Inputs:
    if game is not None:
        if rules is not None or trajectories is not None:
            raise UsageError("Give either the id of a registered game, or --rules and --trajectories of your own.")
        if held_out is not None or stated != Stated():
            raise UsageError(
                f"{game} is a registered game, whose test games are played and whose information is known: "
                "leave out --held-out, --perfect-information/--hidden-information, --min-utility and --max-utility."
            )
        return run_inputs.registered(game, games, seed, not no_rules, start.how, _deck(deck), start.settings.joint)
    if rules is not None and no_rules:
        raise UsageError(f"Give either the rules {rules} or --no-rules, not both.")
    if trajectories is None or (rules is None and not no_rules):
        raise UsageError(
            "Name a registered game, or give both --rules FILE (or --no-rules) and --trajectories FILE of your own."
        )
    return run_inputs.own(rules, trajectories, held_out, stated, _deck(deck), start.how)


def _deck(asked: str) -> Deck:
    return "closed" if asked == "closed" else "open"


def _further_games(inputs: Inputs, asked: int | None, usual: int) -> int:
    if inputs.game is not None:
        return usual if asked is None else asked
    if asked:
        raise UsageError(
            f"{inputs.info.id} is a game of your own, of which nothing but the recorded games can be played: leave out "
            "--further-games. To learn from more games, add them to the file of --trajectories."
        )
    return 0


def _further(path: Path | None) -> dict[str, Any]:
    if path is None:
        return {}
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(f"The settings {path} cannot be read ({error}); give a JSON object.") from error
    if not isinstance(data, dict):
        raise UsageError(f'The settings {path} are no JSON object; write e.g. {{"heuristic_weight": 5.0}}.')
    return data


def _show_first_prompt(inputs: Inputs, settings: RunSettings, caps: Caps, syntheses: int, as_json: bool) -> None:
    first = first_prompt(inputs, settings, caps)
    cap = DEFAULT_CALLS * syntheses if caps.calls is None else caps.calls
    figures: dict[str, Any] = {
        "input_tokens_estimated": first.input_tokens,
        "max_output_tokens": first.max_output_tokens,
        "first_call_costs_at_most": first.first_call_cost,
        "calls_at_most": min(first.most_calls * syntheses, cap),
    }
    remarks = run_inputs.remarks(inputs, first.input_tokens)
    if as_json:
        console.print_json(figures | {"remarks": remarks, "prompt": first.prompt})
        language_model.check_cap_on_money(settings, caps)
        return
    console.out.print(first.prompt)
    for name, value in figures.items():
        shown = "unknown: give --price-in and --price-out" if value is None else value
        console.notices.print(f"{name.replace('_', ' ')}: {shown}")
    for remark in remarks:
        console.notices.print(remark, soft_wrap=True)
    language_model.check_cap_on_money(settings, caps)
