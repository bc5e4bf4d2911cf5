"""`cwm arena`: matches between agents over all seat rotations on common deals, resumable."""

import json
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from arena.agents.kinds import AT_A_TABLE
from arena.agents.specs import AgentSpec, parse
from arena.commands.exit_codes import EXIT_PROVIDER, EXIT_SYSTEM
from arena.language_players.models import PlayerModels
from arena.machine import shipped
from arena.matches import tournament
from arena.matches.game_source import decks_for, game_info
from arena.matches.lineups import Pairing
from arena.matches.plan import TournamentConfig, decks_of
from arena.matches.store import Games, write_standings
from arena.matches.tournament import UNANSWERED, TournamentResult
from arena.matches.verification import verify_games
from arena.pages import tournament_page
from arena.pipeline import recorded_models
from arena.pipeline.online_learning import Learners
from arena.report.arena_view import view
from arena.report.tables import arena_tables, paper_table
from arena.runs.folder import read_caps, write_caps
from arena.terminal import console
from arena.terminal.bar import counted_bar
from arena.terminal.live_view import costs
from arena.terminal.options import (
    GAME,
    MOST_GAMES,
    NO_CAPS,
    NOT_KEPT,
    AsJson,
    Decks,
    Effort,
    KeepSearch,
    Record,
    Seed,
    Temperature,
    Workers,
    takes_caps,
)
from arena.usage import UsageError
from cwm.llm.budget import Tally
from cwm.llm.caps import Caps
from cwm.llm.line import effort_of

CONFIG_FILE = tournament.ASKED_FILE
SHOWN_FAULTS = 3
DEALS = 10
"""So many deals where nobody says how many."""

PLAYERS = (
    "A language model plays as llm:PROVIDER:MODEL,OPTION=VALUE,... with the models llm:openai:MODEL, llm:google:MODEL, "
    "llm:spool:DIR, llm:replay:FILE, llm:scripted:FILE. It gets the rules, recorded games and its own observations and "
    'actions, and answers with JSON, {"move": ...}: the last object counts, prose is never read. Options, which every '
    "game's record keeps: show_legal=true lists the legal moves in the prompt (default false). retries=N sends a bad "
    "answer back with the reason (default 1; the CWM paper: 0). votes=N asks N times and plays the most frequent move "
    "(default 1). history=json shows whole observations, history=table the fields that changed (default json). "
    "trajectories=N and trajectories_seed=N choose the recorded games (default 5 and 0). max_output_tokens=N caps an "
    "answer (default 32768). temperature=X and reasoning_effort=WORD (default the provider's; --temperature and "
    "--reasoning-effort are short for them). timeout=SECONDS makes a later answer a bad one "
    "(default none: the provider is at fault). send_seed=true sends the seed of each answer (default false). "
    "base_url=ADDRESS is a server that speaks OpenAI's API. scaffold=NAME asks for more than a move (default plain): "
    "rated and rated-memory in every game, for ratings of all moves and a reason, and a game's own, such as watson, "
    "spin, sherlock, mycroft and exact in Hanabi. With one, k=N asks N times (default 1) and choose=model has the "
    "model choose among answers that differ, choose=rating takes the move rated highest on average, choose=search the "
    "one that is worth most by play-outs (default model); "
    "mixture=true has several roles report before one decides (default false); memory=N shows it its own last N turns"
    " with its answers (default the scaffold's). wording=FOLDER puts templates in the place of ours (default none). A"
    " replay needs the recorded name= and options. "
    "An answer that is illegal, unparsable, empty, truncated, refused or late forfeits the game when no retry is left; "
    "tables are shown with and without such games. Where a provider gives no answer or a cap is reached, the game is "
    "void: in no table, and played by the next run. With --run every answer is kept before it is used, none is asked "
    "for twice. Games with a language model run in threads of one process."
)
"""What `cwm arena --help` says of language models at the table."""
LEARNING = (
    "An agent cwm:RUN,learn=openai:MODEL learns from game to game (off unless it asks): after each game in which it "
    "sat, its model is tested on that game, and where it fails, the failed tests are added to those that it was made "
    "with and the language model is asked to mend the program, with at most learn_calls=N calls a game (default 3; "
    "temperature=X and reasoning_effort=WORD as for players). "
    "learn=true asks the language model that wrote the model. What it is shown of a finished game is what a synthesis "
    "is shown of its training games: in the open deck the true states and what every player saw, in the closed deck "
    "what its own seat saw. While it plays it sees its own observations alone. Games are then played one at a time, in "
    "order; a resumed tournament goes on with the model of that moment. Each game's record names the model that "
    "played; models, calls and lessons are kept in learned/ in the folder of --run. The caps hold for learning and for "
    "language models as players, each by itself."
)
"""What `cwm arena --help` says of agents that learn."""
EPILOG = f"{PLAYERS}\n\n{LEARNING}"


@takes_caps
def command(
    game: Annotated[
        str,
        typer.Argument(help=f"{GAME} Of cwm:PLACE the model itself decides what is legal and who wins."),
    ],
    agent: Annotated[
        list[str],
        typer.Option(
            "--agent",
            help=f"One option an agent: {AT_A_TABLE}. Below: more of language models, and of "
            "cwm:RUN,learn=openai:MODEL, whose model is refined between games.",
        ),
    ],
    deals: Annotated[
        int | None,
        typer.Option(min=1, max=MOST_GAMES, help="Deals a lineup, each played in all seat rotations (default: 10)."),
    ] = None,
    deck: Decks = None,
    pairing: Annotated[
        str, typer.Option(help="all, cross (different agents only) or self (each with itself).")
    ] = "all",
    seed: Seed = 0,
    workers: Workers = 2,
    run: Annotated[
        Path | None,
        typer.Option(
            help="Folder that keeps the games, so that a run goes on after a kill, and their page, report.html."
        ),
    ] = None,
    record: Record = None,
    temperature: Temperature = None,
    reasoning_effort: Effort = None,
    keep_search: KeepSearch = False,
    caps: Caps = NO_CAPS,
    as_json: AsJson = False,
) -> None:
    """Play a tournament and print the tables."""
    if pairing not in ("all", "cross", "self"):
        raise UsageError(f"--pairing is {pairing!r}; it must be all, cross or self.")
    effort = None if reasoning_effort is None else effort_of(reasoning_effort)
    asked = {"temperature": temperature, "reasoning_effort": effort}
    agents = tuple(_asked_with(parse(text), asked) for text in agent)
    if deck and deals is not None:
        raise UsageError("--deck names the deals and --deals counts deals by seed: give one of the two.")
    decks = decks_for(game, deck or ())
    count = len(decks) or deals or DEALS
    config = TournamentConfig(game, agents, count, seed, _pairing(pairing), explain=keep_search, decks=decks)
    if not asks_models(config) and (caps != NO_CAPS or record is not None or effort or temperature is not None):
        raise UsageError(
            "No language model plays or refines a model, and nothing is asked: leave out caps, prices, --record and "
            "the options of the way to a model."
        )
    play(config, run, workers, as_json, caps, record)


def asks_models(config: TournamentConfig) -> bool:
    """Tells whether a language model is asked anything: it plays, or refines a model between games."""
    return any(spec.traits.asks or spec.learn is not None for spec in config.agents)


def play(
    config: TournamentConfig,
    folder: Path | None,
    workers: int,
    as_json: bool,
    caps: Caps | None = None,
    recording: Path | None = None,
) -> None:
    """Plays what is missing, prints the tables, writes the page of kept games, and says which could not be played.

    Args:
        config: what is played.
        folder: keeps the games, and the calls to language models; None to keep nothing.
        workers: games side by side.
        as_json: print one JSON document.
        caps: of all calls to language models together.
        recording: file that every answer of a language model is added to.

    Raises:
        typer.Exit: games are missing, since a language model gave no answer or through a fault of ours.
    """
    agents = tuple(recorded_models.filled_in(config.agents, game_info(config.game).id))
    prepared = tournament.prepare(replace(config, agents=agents))
    level = shipped.level_of(prepared.programs())
    prepared = replace(prepared, runtime=replace(prepared.runtime, level=level))
    result, used, learned = _played(config, prepared, folder, workers, caps or NO_CAPS, recording)
    _print(prepared, result, as_json, learned)
    if used.calls:
        console.notices.print(f"language models: {costs(used)}")
    for line in learned:
        console.notices.print(Text(f"learned: {line}"))
    if folder is not None:
        console.notices.print(tournament_page.write(folder, tournament_page.read(folder, verify_games(folder))))
    _say_missing(result, folder)


def _played(
    config: TournamentConfig,
    prepared: TournamentConfig,
    folder: Path | None,
    workers: int,
    caps: Caps,
    recording: Path | None,
) -> tuple[TournamentResult, Tally, list[str]]:
    agents, game = prepared.agents, prepared.game_identity
    if asks_models(config) and folder is not None:
        caps = read_caps(folder).raised(caps)
    with ExitStack() as stack:
        store = stack.enter_context(tournament.opened(folder, prepared.to_json()))
        players = stack.enter_context(PlayerModels(agents, folder, caps, recording, game))
        learners = None
        if any(spec.learn is not None for spec in agents):
            learners = stack.enter_context(Learners(prepared, folder, caps, workers))
        play = _Play(prepared, store, workers, players, learners, folder is not None)
        if folder is None:
            result = play.run()
        else:
            tournament.write_asked(folder, config)
            if asks_models(config):
                write_caps(folder, caps)
            result = _kept(play, folder)
            write_standings(folder, result.table.to_json())
        return result, play.used(), [] if learners is None else learners.summary()


def _say_missing(result: TournamentResult, folder: Path | None) -> None:
    faults = sorted(result.faults.items(), key=lambda item: -item[1])
    unanswered = [item for item in faults if item[0].startswith(UNANSWERED)]
    # A language model that was away for a while is no news once every game is played.
    if result.missing and [message for message, _ in unanswered] != [result.stopped]:
        _say_faults(unanswered, "a language model gave no answer")
    _say_faults([item for item in faults if item not in unanswered], "a game broke through a fault of ours")
    if result.stopped is not None:
        console.notices.print(Text(f"error: {result.stopped.removeprefix(UNANSWERED)}"))
        kept = "" if folder is None else f"; `cwm resume {folder}` plays them"
        console.notices.print(f"{_games(len(result.missing))} not played{kept}")
        raise typer.Exit(EXIT_PROVIDER)
    if result.missing:
        console.notices.print(f"{_games(len(result.missing))} not played; run the command again to try once more")
        last = [messages[-1] for messages in result.missing.values() if messages]
        asked = bool(last) and all(message.startswith(UNANSWERED) for message in last)
        raise typer.Exit(EXIT_PROVIDER if asked else EXIT_SYSTEM)


def _say_faults(faults: Sequence[tuple[str, int]], what: str) -> None:
    if not faults:
        return
    count = sum(number for _, number in faults)
    console.notices.print(f"{what} {'once' if count == 1 else f'{count} times'}; such games are in no table:")
    for message, number in faults[:SHOWN_FAULTS]:
        console.notices.print(Text(f"  {number} x {message.removeprefix(UNANSWERED)}"))


def _games(count: int) -> str:
    return "1 game is" if count == 1 else f"{count} games are"


def resume(folder: Path, workers: int, as_json: bool, caps: Caps | None = None, recording: Path | None = None) -> None:
    """Goes on with the tournament of a folder."""
    config = read_asked(folder)
    if not asks_models(config) and (caps not in (None, NO_CAPS) or recording is not None):
        raise UsageError(
            f"{folder} holds a tournament, which makes no calls: leave out caps, prices, --base-url and --record."
        )
    if caps is not None and caps.line.base_url is not None:
        servers = {(spec.model, spec.llm_config().base_url) for spec in config.agents if spec.traits.asks}
        if len(servers) != 1 or any(spec.learn is not None for spec in config.agents):
            raise UsageError(
                f"{folder} holds a tournament of several language models: leave out --base-url, which would send all "
                "questions to one server."
            )
    play(config, folder, workers, as_json, caps, recording)


def read_asked(folder: Path) -> TournamentConfig:
    """Returns what the tournament of a folder was asked for.

    Raises:
        UsageError: the file is damaged.
    """
    try:
        data = json.loads((folder / CONFIG_FILE).read_text(encoding="utf-8"))
        agents = tuple(AgentSpec.from_json(item) for item in data["agents"])
        explain = data.get("explain") is True
        deals, seed, pairing = data["deals"], data["seed"], data["pairing"]
        return TournamentConfig(data["game"], agents, deals, seed, pairing, explain=explain, decks=decks_of(data))
    except (ValueError, KeyError, TypeError) as error:
        raise UsageError(
            f"{folder / CONFIG_FILE} is damaged ({error}); give the command of the tournament again."
        ) from error


def _asked_with(spec: AgentSpec, options: Mapping[str, Any]) -> AgentSpec:
    """Returns a language model with those of the options that are given and that it has no own value of."""
    if not spec.traits.asks and spec.learn is None:
        return spec
    given = {name: value for name, value in options.items() if value is not None}
    return replace(spec, llm={**given, **spec.llm})


def _pairing(text: str) -> Pairing:
    return "all" if text == "all" else "cross" if text == "cross" else "self"


def _kept(play: "_Play", folder: Path) -> TournamentResult:
    try:
        return play.run()
    except BaseException:
        console.notices.print(
            f"{len(play.store.games())} finished games are kept; `cwm resume {folder}` plays the rest"
        )
        raise


@dataclass(frozen=True)
class _Play:
    """A tournament with all that it needs."""

    config: TournamentConfig
    store: Games
    workers: int
    models: PlayerModels
    learners: Learners | None
    kept: bool

    def run(self) -> TournamentResult:
        with counted_bar("games", "" if self.kept else NOT_KEPT) as show:
            return tournament.run(
                self.config,
                self.store,
                workers=self.workers,
                on_game=lambda state: show(state.done, state.total),
                models=self.models,
                learners=self.learners,
            )

    def used(self) -> Tally:
        """Returns the calls of players and of learning together."""
        played = self.models.used()
        return played if self.learners is None else played.plus(self.learners.used())


def _print(config: TournamentConfig, result: TournamentResult, as_json: bool, learned: list[str]) -> None:
    if as_json:
        console.print_json(
            {
                "config": config.to_json(),
                "standings": result.table.to_json(),
                "standings_without_forfeits": None
                if result.table_without_forfeits is None
                else result.table_without_forfeits.to_json(),
                "missing": result.missing,
                "faults": result.faults,
                "stopped": result.stopped,
                **({"learned": learned} if learned else {}),
                "sandbox": config.runtime.level,
            }
        )
        return
    if not result.records:
        return
    for table in arena_tables(view(config.game, config, result)):
        console.out.print(table)
    published = paper_table(config.game)
    if published is not None:
        console.out.print(published)
    if any(spec.traits.sandboxed for spec in config.agents):
        console.notices.print(f"models ran at sandbox level {config.runtime.level}")
