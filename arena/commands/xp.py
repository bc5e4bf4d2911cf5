"""`cwm xp`: self-play and cross-play of independent agents of one game, with what they believed along the way."""

from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from arena.agents.specs import AgentSpec, parse
from arena.commands import learned_xp
from arena.commands.exit_codes import EXIT_SYSTEM
from arena.commands.train import on_twin
from arena.commands.train.on_model import is_recorded, model_of
from arena.comparison import belief_probe, partner_fit, team_figures
from arena.comparison.team_figures import TeamFigures
from arena.machine import shipped
from arena.machine.runtime import Runtime
from arena.matches import cross_play
from arena.matches.cross_play import CrossPlay, CrossPlayConfig
from arena.matches.game_source import bundle_of, decks_for, game_info, open_game
from arena.matches.lineups import shared
from arena.pages import cross_play_page, folder_page
from arena.pipeline import recorded_models
from arena.report.cross_play import ablation_table, belief_tables, fit_tables, lineup_tables, summary_table, team_tables
from arena.terminal import console
from arena.terminal.bar import counted_bar
from arena.terminal.options import (
    GAME,
    MOST_GAMES,
    MOST_SIMULATIONS,
    NOT_KEPT,
    AsJson,
    Decks,
    Seed,
    Workers,
    require_folders,
)
from arena.usage import UsageError
from cwm.storage.files import write_whole

GAMES: Final = 40
ABLATIONS: Final[dict[str, dict[str, Any]]] = {
    "full": {"selection": "puct", "prior": "policy", "belief_temper": 1.0, "leaf": "value"},
    "no weights": {"selection": "puct", "prior": "policy", "belief_temper": 0.0, "leaf": "value"},
    "no prior": {"selection": "ucb", "belief_temper": 1.0, "leaf": "value"},
    "no value": {"selection": "puct", "prior": "policy", "belief_temper": 1.0, "leaf": "rollout"},
    "plain": {"selection": "ucb", "belief_temper": 0.0, "leaf": "value"},
}
"""What is taken away from every agent with a model: the weights of the belief, the prior in the search, the value
function, or weights and prior both."""


def command(
    game: Annotated[str, typer.Argument(help=GAME)],
    agent: Annotated[
        list[str] | None,
        typer.Option(
            "--agent",
            help="One option an agent: cwm:RUN, partner:NAME, random, …; default: the recorded models of the game.",
        ),
    ] = None,
    checkpoint: Annotated[
        list[str] | None,
        typer.Option(
            "--checkpoint",
            help="Play trained policies instead, in batches: one option a policy, a folder (or a folder of such "
            "folders) or the name of one that ships.",
        ),
    ] = None,
    twin: Annotated[
        str | None,
        typer.Option(
            "--twin",
            help="With --checkpoint, whose policies were trained on this run's twin: play on it; `recorded`: on the "
            "one that ships.",
        ),
    ] = None,
    greedy: Annotated[
        bool, typer.Option("--greedy", help="Checkpoints take their likeliest action instead of a drawn one.")
    ] = False,
    probe_colours: Annotated[
        int,
        typer.Option(
            "--probe-colours",
            min=0,
            help="Read card colours off what checkpoints remember: linear probes, trained on so many games of each.",
        ),
    ] = 0,
    own_names: Annotated[
        int,
        typer.Option(
            "--own-names",
            min=0,
            help="Also play each checkpoint with itself, so many games, the players seeing colours and grid through "
            "symmetries of their own as in Other-Play: R by what their names share.",
        ),
    ] = 0,
    games: Annotated[
        int | None,
        typer.Option(
            "--games",
            min=1,
            max=MOST_GAMES,
            help="Games a lineup, over all its seatings (default 40); of checkpoints, games a seating (default 5000).",
        ),
    ] = None,
    deck: Decks = None,
    simulations: Annotated[
        int | None,
        typer.Option("--simulations", min=1, max=MOST_SIMULATIONS, help="Simulations a move of every planner."),
    ] = None,
    share: Annotated[
        str | None,
        typer.Option(
            "--share",
            help="Two agents at a table instead of all lineups: of each pair, the first named holds so many seats, 1 "
            "or 0..3, and the other the rest; each also plays alone.",
        ),
    ] = None,
    seed: Seed = 0,
    workers: Workers = 2,
    probe: Annotated[
        int, typer.Option("--probe", min=0, help="Read the beliefs along so many games of each lineup.")
    ] = 0,
    fit: Annotated[
        bool,
        typer.Option(
            "--fit",
            help="Fit temper and mix, by which planners read partners, to what partners did; with --probe the beliefs "
            "are read under them, too. Each lineup is judged by what the games of others choose.",
        ),
    ] = False,
    ablations: Annotated[
        int, typer.Option("--ablations", min=0, help="Also play so many games a lineup without each of the parts.")
    ] = 0,
    run: Annotated[
        Path | None,
        typer.Option(
            help="Folder that keeps the games, so that a run goes on after a kill, and their page, report.html."
        ),
    ] = None,
    html: Annotated[Path | None, typer.Option(help="Write the tables and a heat map to this page.")] = None,
    as_json: AsJson = False,
) -> None:
    """Play agents with themselves and with each other on common deals: R, return, SEE, EE, WEE, LEN, win rate."""
    require_folders(html)
    if twin is not None:
        if not checkpoint or agent or simulations or probe or fit or ablations or run or share or html:
            raise UsageError("--twin goes with --checkpoint, --games, --greedy, --seed and --json alone.")
        if probe_colours or own_names:
            raise UsageError("--probe-colours and --own-names are of the batched game: leave out --twin.")
        _play_on_twin(game, twin, checkpoint, games, seed, greedy, as_json)
        return
    if checkpoint:
        if agent or deck or simulations or probe or fit or ablations or run or share:
            raise UsageError(
                "--checkpoint goes with --games, --greedy, --probe-colours, --own-names, --seed, --html and --json "
                "alone."
            )
        asked = learned_xp.XpWishes(game, tuple(checkpoint), games, seed, greedy, probe_colours, own_names)
        learned_xp.show(asked, html, as_json)
        return
    if greedy or probe_colours or own_names:
        raise UsageError("--greedy, --probe-colours and --own-names are of checkpoints: name them with --checkpoint.")
    if deck and games is not None:
        raise UsageError(
            "--deck names the deals, each played in every seating, and --games counts games by seed: "
            "give one of the two."
        )
    agents = _agents(game, agent, simulations)
    level = shipped.level_of([bundle_of(spec).hash for spec in agents if spec.traits.sandboxed])
    chosen = None if share is None else _shared(game, len(agents), share)
    decks = decks_for(game, deck or ())
    config = CrossPlayConfig(game, agents, games or GAMES, seed, Runtime(level=level), chosen, decks)
    if fit:
        _refuse_a_fit_of_nothing(agents)
    found = _play(config, run, workers)
    fitted = _fitted(config, found, probe) if fit else None
    probes = _probes(config, found, probe)
    without = _ablations(config, ablations, run, workers)
    teams = _teams(config, found)
    if as_json:
        further = {} if fitted is None else fitted.to_json()
        further |= {} if teams is None else {"teams": teams.to_json()}
        console.print_json(_json(config, found, probes, without) | further)
    else:
        _print(found, probes, without)
        for table in [] if teams is None else team_tables(teams):
            console.out.print(table)
        for table in [] if fitted is None else fit_tables(fitted):
            console.out.print(table)
    if html is not None:
        write_whole(html, cross_play_page.render(found, probes, without, teams=teams))
    if run is not None:
        console.notices.print(
            folder_page.write(
                run, found.table.games, lambda: cross_play_page.render(found, probes, without, teams=teams)
            )
        )
    if found.missing:
        console.notices.print(f"{len(found.missing)} games could not be played; run the command again")
        raise typer.Exit(EXIT_SYSTEM)


def _play_on_twin(
    game: str, run: str, checkpoints: list[str], games: int | None, seed: int, greedy: bool, as_json: bool
) -> None:
    recorded = is_recorded(run)
    folder = model_of(run, game)[0] if recorded else Path(run)
    bundle, twin = on_twin.twin_of(folder, recorded)
    if bundle.info["id"] != game:
        raise UsageError(f"The game is {game}, but the model in {run} is of {bundle.info['id']}.")
    found = on_twin.played(bundle, twin, list(map(Path, checkpoints)), games or on_twin.GAMES, seed, greedy)
    if as_json:
        console.print_json(found.to_json())
    else:
        console.out.print(found.sheet())


def _shared(game: str, agents: int, share: str) -> tuple[tuple[int, ...], ...]:
    """Returns the lineups of `--share`: every agent alone, then two of them with so many seats of the first."""
    players = game_info(game).num_players
    first, dots, last = share.partition("..")
    ends = (first, last if dots else first)
    if not all(end.isdecimal() and int(end) <= players for end in ends) or int(ends[0]) > int(ends[1]):
        raise UsageError(
            f"--share is {share!r}: give how many seats the first of two agents holds, from 0 to {players}, as 1 or "
            f"0..{players}."
        )
    if agents < 2:
        raise UsageError("--share is of two agents at one table: give two with --agent.")
    return tuple(shared(agents, players, range(int(ends[0]), int(ends[1]) + 1)))


def _teams(config: CrossPlayConfig, found: CrossPlay) -> TeamFigures | None:
    with open_game(config.game) as game:
        return team_figures.figures(game, found.records, [spec.name for spec in config.agents])


def _agents(game: str, given: list[str] | None, simulations: int | None) -> tuple[AgentSpec, ...]:
    texts = given or [f"cwm:{name},name={name}" for name in recorded_models.names_of(game)]
    if not texts:
        raise UsageError(f"No recorded model ships for {game}: give agents with --agent.")
    agents = [parse(text) for text in texts]
    if simulations is not None:
        agents = [
            replace(spec, planner=spec.planner | {"simulations": simulations}) if spec.traits.searches else spec
            for spec in agents
        ]
    return tuple(recorded_models.filled_in(agents, game))


def _play(config: CrossPlayConfig, folder: Path | None, workers: int, what: str = "games") -> CrossPlay:
    with counted_bar(what, "" if folder else NOT_KEPT) as show:
        return cross_play.run(config, folder, workers, lambda state: show(state.done, state.total))


def _probes(config: CrossPlayConfig, found: CrossPlay, games: int) -> list[belief_probe.Probe]:
    """Reads the beliefs along so many games of each lineup."""
    with open_game(config.game) as game:
        chosen = belief_probe.spread(found.records, games)
        return list(belief_probe.probe(game, chosen, _specs(config), config.runtime))


def _refuse_a_fit_of_nothing(agents: tuple[AgentSpec, ...]) -> None:
    if not any(spec.traits.sandboxed and bundle_of(spec).prior_source is not None for spec in agents):
        raise UsageError(
            "--fit reads partners by the policy prior of a model, and no agent has one: give agents whose models have, "
            "or leave --fit out."
        )


def _fitted(config: CrossPlayConfig, found: CrossPlay, games: int) -> partner_fit.PartnerFit | None:
    """Fits temper and mix, and reads the beliefs of so many games of each lineup again, under what the others chose."""
    specs = _specs(config)
    choices = partner_fit.scored(list(partner_fit.choices(found.records, specs, config.runtime)))
    fitted = partner_fit.fit(choices)
    if fitted is None:
        console.notices.print("Nothing to fit: no partner had a choice.")
        return None
    probes: list[belief_probe.Probe] = []
    with open_game(config.game) as game:
        for record in belief_probe.spread(found.records, games):
            setting = partner_fit.chosen_without(choices, record.seats)
            if setting is not None:
                under = partner_fit.under(specs, setting)
                probes += belief_probe.probe(game, [record], under, config.runtime)
    return replace(fitted, probes=tuple(probes))


def _specs(config: CrossPlayConfig) -> dict[str, AgentSpec]:
    return {spec.name: spec for part in config.tournaments().values() for spec in part.agents}


def _ablations(config: CrossPlayConfig, games: int, folder: Path | None, workers: int) -> dict[str, CrossPlay]:
    found = {}
    for name, settings in ABLATIONS.items() if games else ():
        agents = tuple(
            replace(spec, planner=spec.planner | settings) if spec.traits.sandboxed else spec for spec in config.agents
        )
        part = replace(config, agents=agents, games=games, decks=config.decks[:games])
        place = None if folder is None else folder / "ablations" / name.replace(" ", "-")
        found[name] = _play(part, place, workers, name)
    return found


def _json(
    config: CrossPlayConfig, found: CrossPlay, probes: list[belief_probe.Probe], without: dict[str, CrossPlay]
) -> dict[str, Any]:
    error = belief_probe.calibration_error(probes)
    return {
        "game": config.game,
        "agents": [spec.to_json() for spec in config.agents],
        "games": config.games if not config.decks else None,
        **({"decks": [deck.name for deck in config.decks]} if config.decks else {}),
        "seed": config.seed,
        "sandbox": config.runtime.level,
        **found.to_json(),
        "over_agents_and_deals": {
            name: value and asdict(value)
            for name, value in zip(("cross_play", "gap"), cross_play.for_others_like_them(found), strict=True)
        },
        "calibration": [asdict(item) for item in belief_probe.calibration(probes)],
        "calibration_error": error and asdict(error),
        "calibration_at_the_end": [asdict(item) for item in belief_probe.calibration(probes, ended=True)],
        "truth": {
            name: {str(number): asdict(value) for number, value in belief_probe.over_time(probes, alone).items()}
            for name, alone in (("self_play", True), ("cross_play", False))
        },
        "ablations": {name: part.to_json() for name, part in without.items()},
    }


def _print(found: CrossPlay, probes: list[belief_probe.Probe], without: dict[str, CrossPlay]) -> None:
    for table in lineup_tables(found):
        console.out.print(table)
    if found.self_play is not None or found.cross_play is not None:
        console.out.print(summary_table(found))
    if probes:
        for table in belief_tables(probes):
            console.out.print(table)
    if without:
        console.out.print(ablation_table(without))
