"""What a set of finished games says about the agents: rates, payoffs, cooperative figures, and the pairing matrix.

The independent unit of a mean is a deal: the value of a deal is the mean over its seat rotations.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, TypeAlias

from arena.figures import metrics
from arena.figures.intervals import Estimate, mean_estimate, rate_estimate
from arena.figures.metrics import Cooperation, GameFacts
from arena.matches.match import GameRecord
from games.api import GameInfo

Lineup: TypeAlias = tuple[str, ...]
"""Agent names at one table, sorted: all seatings of one lineup are measured together."""


@dataclass(frozen=True)
class Side:
    """One agent's results over some games.

    Attributes:
        agent: its name.
        games: games counted (a game in which it holds two seats counts once).
        win: share of its seats with the one highest return of the game, mean over the deals.
        draw: share of its seats that share the highest return.
        loss: share of its other seats.
        payoff: return, mean over its seats and over the rotations of a deal.
        seats: payoff by seat; None where it never sat.
    """

    agent: str
    games: int
    win: Estimate
    draw: Estimate
    loss: Estimate
    payoff: Estimate
    seats: tuple[Estimate | None, ...]


@dataclass(frozen=True)
class LineupResult:
    """Results of one lineup over all its seatings and deals.

    Attributes:
        lineup: names.
        games: counted.
        deals: of them.
        sides: results of each agent.
        cooperation: figures of a game of identical interest that says how it ended, else None.
        length: players' actions in a game.
        further: means of the further numbers that the game's outcomes list as `figures`, by name, over the games that
            were played to their end.
    """

    lineup: Lineup
    games: int
    deals: int
    sides: tuple[Side, ...]
    cooperation: Cooperation | None
    length: Estimate
    further: dict[str, Estimate] = field(default_factory=dict)


@dataclass(frozen=True)
class AgentResult:
    """One agent over all lineups.

    Attributes:
        agent: its name.
        cross: against or with others; None if it met none.
        self_play: cooperative figures with its own kind alone; None if not played or not a cooperative game.
        cross_play: cooperative figures with at least one other; None likewise.
        forfeits: games that it forfeited, by kind.
        fallbacks: moves at which its own method gave up, by reason.
        moves: moves that it made.
        seconds: mean wall-clock seconds of a move, None if it made none.
        bad_answers: of a language model: answers that could not be played, by kind, those that a retry mended too.
    """

    agent: str
    cross: Side | None
    self_play: Cooperation | None
    cross_play: Cooperation | None
    forfeits: dict[str, int]
    fallbacks: dict[str, int]
    moves: int
    seconds: float | None
    bad_answers: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Standings:
    """Everything that a tournament's table shows. A function of the records alone.

    Attributes:
        game: id of the game.
        utility: the game's kind of payoff (`GameInfo.utility`).
        games: games counted.
        agents: in the order asked for.
        lineups: in the order of the names.
        matrix: [row][column], in the order of `agents`: the row agent's payoff (R in cooperative games) when seated
            with the column agent; None where they did not meet. Empty unless the game has two players.
    """

    game: str
    utility: str
    games: int
    agents: tuple[AgentResult, ...]
    lineups: tuple[LineupResult, ...]
    matrix: tuple[tuple[Estimate | None, ...], ...]

    def further(self) -> list[str]:
        """Returns the names of the game's further figures, in its own order."""
        return list(dict.fromkeys(name for result in self.lineups for name in result.further))

    def to_json(self) -> dict[str, Any]:
        """Returns the standings as JSON; of games without further figures as they were before there were any."""
        data = asdict(self)
        for lineup in data["lineups"]:
            if not lineup["further"]:
                del lineup["further"]
        return data


def standings(records: Sequence[GameRecord], info: GameInfo, agents: Sequence[str]) -> Standings:
    """Returns the tables of finished games.

    Args:
        records: in any order; the result does not depend on it, but for the last digits of the mean times.
        info: of the game.
        agents: names, in the order of the tables.
    """
    ordered = sorted(records, key=lambda record: (record.deal_seed, record.seats))
    lineups = sorted({lineup_of(record) for record in ordered})
    results = tuple(_lineup_result([r for r in ordered if lineup_of(r) == lineup], lineup, info) for lineup in lineups)
    return Standings(
        game=info.id,
        utility=info.utility,
        games=len(ordered),
        agents=tuple(_agent_result(agent, ordered, info) for agent in agents),
        lineups=results,
        matrix=_matrix(results, agents) if info.num_players == 2 else (),
    )


def without_forfeits(records: Iterable[GameRecord]) -> list[GameRecord]:
    """Returns the games that were played to their end."""
    return [record for record in records if record.forfeit is None]


def lineup_of(record: GameRecord) -> Lineup:
    """Returns the names at the table, sorted."""
    return tuple(sorted(record.seats))


def side(agent: str, records: Sequence[GameRecord], players: int) -> Side | None:
    """Returns one agent's results over the games at which it sat, None if there are none."""
    own = [record for record in records if agent in record.seats]
    payoff = _over_deals(own, lambda record: _mean(_own_returns(agent, record)))
    win, draw, loss = (_standing_rate(agent, own, kind) for kind in ("win", "draw", "loss"))
    if payoff is None or win is None or draw is None or loss is None:
        return None
    seats = tuple(_seat_payoff(agent, own, seat) for seat in range(players))
    return Side(agent, len(own), win, draw, loss, payoff, seats)


def cooperation(records: Sequence[GameRecord]) -> Cooperation | None:
    """Returns the cooperative figures, None for no games. A forfeited game is lost and not ended early."""
    deals = [[metrics.taken(_facts(record)) for record in deal] for deal in _by_deal(records)]
    sums = {key: [sum(game[key] for game in deal) for deal in deals] for key in metrics.TAKEN}
    means = {key: [total / len(deal) for total, deal in zip(sums[key], deals, strict=True)] for key in sums}
    return metrics.cooperation(lambda metric: metric.estimate(means, sums))


def _lineup_result(records: list[GameRecord], lineup: Lineup, info: GameInfo) -> LineupResult:
    sides = (side(agent, records, info.num_players) for agent in sorted(set(lineup)))
    length = _over_deals(records, lambda record: float(record.length))
    assert length is not None  # a lineup is taken from its records, so there is at least one
    return LineupResult(
        lineup=lineup,
        games=len(records),
        deals=len(_by_deal(records)),
        sides=tuple(found for found in sides if found is not None),
        cooperation=cooperation(records) if _reports_outcome(records, info) else None,
        length=length,
        further=further(records),
    )


def further(records: Sequence[GameRecord]) -> dict[str, Estimate]:
    """Returns the means of what outcomes list as `figures`, by name, over the games that were played to their end."""
    ended = [record for record in records if record.outcome is not None]
    names = dict.fromkeys(name for record in ended for name in (record.outcome or {}).get("figures", ()))
    found = {name: _further(name, ended) for name in names}
    return {name: estimate for name, estimate in found.items() if estimate is not None}


def _further(name: str, records: Sequence[GameRecord]) -> Estimate | None:
    own = [record for record in records if record.outcome is not None and name in record.outcome]
    shares = all(isinstance((record.outcome or {})[name], bool) for record in own)
    over_deals = _rate_over_deals if shares else _over_deals
    return over_deals(own, lambda record: float((record.outcome or {})[name]))


def _agent_result(agent: str, records: list[GameRecord], info: GameInfo) -> AgentResult:
    own = [record for record in records if agent in record.seats]
    alone = [record for record in own if set(record.seats) == {agent}]
    mixed = [record for record in own if set(record.seats) != {agent}]
    seconds = [s for record in own for seat in _own_seats(agent, record) for s in record.seconds[seat]]
    forfeits = [r.forfeit.kind for r in own if r.forfeit is not None and r.seats[r.forfeit.seat] == agent]
    fallbacks: Counter[str] = Counter()
    bad_answers: Counter[str] = Counter()
    for record in own:
        for seat in _own_seats(agent, record):
            fallbacks.update(record.fallbacks[seat])
            bad_answers.update(record.accounts.get(str(seat), {}).get("bad", {}))
    return AgentResult(
        agent=agent,
        cross=side(agent, mixed, info.num_players),
        self_play=cooperation(alone) if _reports_outcome(alone, info) else None,
        cross_play=cooperation(mixed) if _reports_outcome(mixed, info) else None,
        forfeits={kind: forfeits.count(kind) for kind in sorted(set(forfeits))},
        fallbacks=dict(sorted(fallbacks.items())),
        moves=len(seconds),
        seconds=_mean(seconds) if seconds else None,
        bad_answers=dict(sorted(bad_answers.items())),
    )


def _matrix(results: Sequence[LineupResult], agents: Sequence[str]) -> tuple[tuple[Estimate | None, ...], ...]:
    by_lineup = {result.lineup: result for result in results}

    def cell(row: str, column: str) -> Estimate | None:
        result = by_lineup.get(tuple(sorted((row, column))))
        if result is None:
            return None
        if result.cooperation is not None:
            return result.cooperation.score
        return next(found.payoff for found in result.sides if found.agent == row)

    return tuple(tuple(cell(row, column) for column in agents) for row in agents)


def _reports_outcome(records: Sequence[GameRecord], info: GameInfo) -> bool:
    """Tells whether cooperative figures can be had: every game that was played to its end says whether it was won."""
    return info.utility == "identical" and all(r.outcome is not None for r in without_forfeits(records))


def _facts(record: GameRecord) -> GameFacts:
    facts = {"score": 0.0, "won": 0.0, "ended_early": 0.0} | (record.outcome or {})
    return GameFacts(
        score=float(facts["score"]),
        won=float(facts["won"]),
        early=float(facts["ended_early"]),
        returns=record.returns[0],
        length=float(record.length),
    )


def _standing(returns: Sequence[float], seat: int) -> str:
    best = max(returns)
    if returns[seat] < best:
        return "loss"
    return "win" if sum(value == best for value in returns) == 1 else "draw"


def _standing_rate(agent: str, records: Sequence[GameRecord], kind: str) -> Estimate | None:
    """Returns how large a share of its seats an agent won, drew or lost, with a deal as the independent unit."""

    def share(record: GameRecord) -> float:
        return _mean([float(_standing(record.returns, seat) == kind) for seat in _own_seats(agent, record)])

    return _rate_over_deals(records, share)


def _seat_payoff(agent: str, records: Sequence[GameRecord], seat: int) -> Estimate | None:
    return _over_deals([r for r in records if r.seats[seat] == agent], lambda record: record.returns[seat])


def _own_seats(agent: str, record: GameRecord) -> list[int]:
    return [seat for seat, name in enumerate(record.seats) if name == agent]


def _own_returns(agent: str, record: GameRecord) -> list[float]:
    return [record.returns[seat] for seat in _own_seats(agent, record)]


def _by_deal(records: Sequence[GameRecord]) -> list[list[GameRecord]]:
    deals: dict[int, list[GameRecord]] = {}
    for record in records:
        deals.setdefault(record.deal_seed, []).append(record)
    return list(deals.values())


def _over_deals(records: Sequence[GameRecord], value: Callable[[GameRecord], float]) -> Estimate | None:
    return mean_estimate([_mean([value(record) for record in deal]) for deal in _by_deal(records)])


def _rate_over_deals(records: Sequence[GameRecord], value: Callable[[GameRecord], float]) -> Estimate | None:
    return rate_estimate([_mean([value(record) for record in deal]) for deal in _by_deal(records)])


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
