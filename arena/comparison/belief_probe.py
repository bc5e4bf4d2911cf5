"""What an agent believed along finished games: how much of the hidden truth, and whether a win was at hand.

Each decision of an agent with a model is put to its planner's belief again, without a search. Two things are read off
the weighed states: the probability that they give to the parts of the true state that the player does not know (the
Yōkai Learning Environment paper, figure 5, but of an explicit belief; of cards' colours alone, where the game says so),
and the believed probability that the game
would be won if it ended now, beside whether it would be.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from arena.agents.model import check
from arena.agents.specs import AgentSpec
from arena.figures.intervals import Estimate, jackknife_estimate, mean_estimate, ratio_estimate
from arena.machine.runtime import Runtime
from arena.matches.game_source import bundle_of
from arena.matches.match import GameRecord
from arena.matches.replay import states
from cwm.sandbox.parent.host import Sandbox, Worker
from cwm.storage.keys import derive
from games.api import CHANCE, Action, Game, Observation, ReportsOutcome, State, observe, state_to_json
from games.posterior import NamesHiddenParts
from search import session

CALIBRATION_BINS: Final = 10
Path = tuple[str | int, ...]


@dataclass(frozen=True)
class Probe:
    """One decision of one agent.

    Attributes:
        agent: its name.
        alone: whether it played with itself alone.
        deal_seed: of the game.
        number: players' actions before it.
        truth: mean probability of the true value over the parts of the state that the belief leaves open, among those
            that the game names (`games.posterior.NamesHiddenParts`) or all; None if it leaves nothing open.
        win: believed probability that the game, ended now, is won; None if the game does not say.
        won: whether it would be.
        ended: whether the agent's next action ended the game.
        effective: effective sample size of the belief, as a share of its states.
    """

    agent: str
    alone: bool
    deal_seed: int
    number: int
    truth: float | None
    win: float | None
    won: bool | None
    ended: bool
    effective: float


@dataclass(frozen=True)
class Bin:
    """Decisions with a similar belief.

    Attributes:
        low: least believed probability.
        high: highest.
        believed: mean of them.
        real: how many would have been won, with a deal as the unit: decisions on one deal are alike.
        count: decisions.
    """

    low: float
    high: float
    believed: float
    real: Estimate
    count: int


def probe(
    game: Game, records: Sequence[GameRecord], specs: Mapping[str, AgentSpec], runtime: Runtime
) -> Iterator[Probe]:
    """Yields the decisions that open a turn, of every agent with a model, game by game.

    A decision opens a turn if another player, or chance, acted before it.

    Args:
        game: the true game.
        records: finished games.
        specs: resolved agents by name.
        runtime: limits of the workers.

    Raises:
        InfrastructureError: a worker cannot be had.
        AgentFailure: a model failed.
    """
    for record in records:
        if record.forfeit is None:
            yield from _probe_game(game, record, specs, runtime)


def _probe_game(game: Game, record: GameRecord, specs: Mapping[str, AgentSpec], runtime: Runtime) -> Iterator[Probe]:
    sandbox = Sandbox(limits=runtime.limits, level=runtime.level, payload=session.PAYLOAD)
    seats = {seat: specs[name] for seat, name in enumerate(record.seats) if specs[name].traits.sandboxed}
    workers: dict[int, Worker] = {}
    try:
        for seat, spec in seats.items():
            workers[seat] = sandbox.start(bundle_of(spec).program(), seed=derive("probe", record.deal_seed, seat))
            check(workers[seat].loaded)
        histories: list[list[tuple[Observation, Action | None]]] = [[] for _ in record.seats]
        before, number = CHANCE, 0
        following = [action for _, action in record.actions]
        for index, (state, player, action) in enumerate(states(game, record)):
            if player < 0 or action is None:
                before = player
                continue
            seen = observe(game, state, player, specs[record.seats[player]].view)
            if player in workers and before != player:
                found = _believe(
                    game, seats[player], workers[player], player, [*histories[player], (seen, None)], runtime
                )
                yield _reading(game, state, record, player, number, found, index == len(following) - 1)
            histories[player].append((seen, action))
            before, number = player, number + 1
    finally:
        for worker in workers.values():
            worker.close()


def _believe(
    game: Game,
    spec: AgentSpec,
    worker: Worker,
    player: int,
    history: Sequence[tuple[Observation, Action | None]],
    runtime: Runtime,
) -> list[tuple[float, Any]]:
    config = spec.planner_config(game.info.perfect_information)
    argument = {
        # One simulation: the belief alone is wanted.
        "config": config.to_json() | {"simulations": 1},
        "player": player,
        "history": [list(entry) for entry in history],
        "state": None,
        "report_belief": True,
    }
    reply = worker.payload(
        "search.session", "choose", argument, seed=derive("probe", len(history)), timeout_s=runtime.move_timeout_s
    )
    decision = check(reply)
    believed = decision.get("belief_states") if isinstance(decision, dict) else None
    if not isinstance(believed, list) or not believed:
        return []
    return [(float(weight), state) for weight, state in believed]


def _reading(
    game: Game,
    state: State,
    record: GameRecord,
    player: int,
    number: int,
    believed: Sequence[tuple[float, Any]],
    last: bool,
) -> Probe:
    total = sum(weight for weight, _ in believed)
    weights = [weight / total for weight, _ in believed] if total > 0 else []
    win: float | None = None
    won: bool | None = None
    if isinstance(game, ReportsOutcome) and weights:
        won = bool(game.outcome(state)["won"])
        try:
            win = sum(w for w, (_, guess) in zip(weights, believed, strict=True) if game.outcome(guess)["won"])
        except (LookupError, TypeError, ValueError, AttributeError):
            # States of a program that nobody trusts: one that the true game cannot read says nothing.
            win = None
    return Probe(
        agent=record.seats[player],
        alone=len(set(record.seats)) == 1,
        deal_seed=record.deal_seed,
        number=number,
        truth=truth_of_parts(game, state, [guess for _, guess in believed], weights),
        win=None if win is None else min(1.0, win),
        won=won,
        ended=last,
        effective=1 / (sum(w * w for w in weights) * len(weights)) if weights else 0.0,
    )


def truth_of_parts(game: Game, state: State, guesses: Sequence[Any], weights: Sequence[float]) -> float | None:
    """Returns `truth` of the parts that the game names, of all that a state holds where it names none.

    None, too, where the game cannot read a guess.
    """
    if not isinstance(game, NamesHiddenParts):
        return truth(state_to_json(game, state), guesses, weights)
    try:
        parts = [list(game.hidden_parts_of(guess)) for guess in guesses]
    except (LookupError, TypeError, ValueError, AttributeError):
        # States of a program that nobody trusts.
        return None
    return truth(list(game.hidden_parts_of(state)), parts, weights)


def truth(state: Any, guesses: Sequence[Any], weights: Sequence[float]) -> float | None:
    """Returns the mean probability that weighed guesses give to the true values of what they leave open.

    Args:
        state: the true state as JSON.
        guesses: states as JSON, of the same shape but for what is hidden.
        weights: one a guess, summing to 1.

    Returns:
        The mean over the leaves of the JSON on which the guesses differ from one another or from the truth; None if
        there is none.
    """
    leaves = dict(_leaves(state, ()))
    right = dict.fromkeys(leaves, 0.0)
    for guess, weight in zip(guesses, weights, strict=True):
        for path, value in _leaves(guess, ()):
            if path in leaves and leaves[path] == value:
                right[path] += weight
    is_open = [share for share in right.values() if share < 1 - 1e-9]
    return sum(is_open) / len(is_open) if is_open else None


def _leaves(value: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    if isinstance(value, dict):
        for key in value:
            yield from _leaves(value[key], (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _leaves(item, (*path, index))
    else:
        yield path, value


def calibration(probes: Sequence[Probe], ended: bool = False) -> list[Bin]:
    """Returns the believed probability of a win beside the real share, in bins that are not empty.

    Args:
        probes: decisions.
        ended: only those at which the agent ended the game.
    """
    found = []
    for number, members in enumerate(_bins(probes, ended)):
        by_deal: dict[int, list[bool]] = {}
        for item in members:
            by_deal.setdefault(item.deal_seed, []).append(bool(item.won))
        real = ratio_estimate([(float(sum(won)), float(len(won))) for won in by_deal.values()])
        if real is not None:
            believed = sum(item.win or 0.0 for item in members) / len(members)
            found.append(Bin(number / CALIBRATION_BINS, (number + 1) / CALIBRATION_BINS, believed, real, len(members)))
    return found


def _bins(probes: Sequence[Probe], ended: bool = False) -> list[list[Probe]]:
    bins: list[list[Probe]] = [[] for _ in range(CALIBRATION_BINS)]
    for item in probes:
        if item.win is not None and (item.ended or not ended):
            bins[min(CALIBRATION_BINS - 1, int(item.win * CALIBRATION_BINS))].append(item)
    return bins


def calibration_error(probes: Sequence[Probe]) -> Estimate | None:
    """Returns the expected calibration error of "ending now would win", with a deal as the unit; None for no decisions.

    It is the mean over decisions of how far their bin's believed probability lies from the share that was won. The
    standard error is that of leaving out one deal at a time.
    """
    deals = sorted({item.deal_seed for item in probes if item.win is not None})
    return jackknife_estimate(lambda left_out: _gap([item for item in probes if item.deal_seed != left_out]), [deals])


def _gap(probes: Sequence[Probe]) -> float | None:
    bins = _bins(probes)
    count = sum(map(len, bins))
    gaps = [abs(sum((item.win or 0.0) - float(bool(item.won)) for item in members)) for members in bins]
    return sum(gaps) / count if count else None


def spread(records: Sequence[GameRecord], games: int) -> list[GameRecord]:
    """Returns so many games of each lineup, or all it has; lineups get different deals, as far as there are any.

    Decisions on one deal are alike: the same number of them says more on many deals.
    """
    lineups: dict[tuple[str, ...], dict[int, list[GameRecord]]] = {}
    for record in records:
        lineups.setdefault(tuple(sorted(record.seats)), {}).setdefault(record.deal_seed, []).append(record)
    chosen = []
    for number, lineup in enumerate(sorted(lineups)):
        deals = [sorted(lineups[lineup][deal], key=lambda record: record.seats) for deal in sorted(lineups[lineup])]
        for turn in range(min(games, sum(map(len, deals)))):
            place = (number * games + turn) % len(deals)
            # Every round over the deals takes another seating of each.
            chosen.append(deals[place][(place + turn // len(deals)) % len(deals[place])])
    return chosen


def over_time(probes: Sequence[Probe], alone: bool) -> dict[int, Estimate]:
    """Returns the probability of the truth by number of players' actions, in self-play or in cross-play."""
    by_number: dict[int, list[float]] = {}
    for item in probes:
        if item.alone == alone and item.truth is not None:
            by_number.setdefault(item.number, []).append(item.truth)
    estimates = {number: mean_estimate(values) for number, values in sorted(by_number.items())}
    return {number: found for number, found in estimates.items() if found is not None}


def to_json(probes: Sequence[Probe]) -> list[dict[str, Any]]:
    """Returns the decisions as JSON."""
    return [asdict(item) for item in probes]
