"""Does a planner on a code world model play as well as the same planner on the true game?

Both search with the same settings and judge positions alike, by random rollouts: the value function that a model may
have was written by somebody else than the one that the true game may have, and a difference between these two says
nothing about the model. Where players compete, they meet head to head on common deals, in all seatings, and the
difference of their payoffs is taken deal by deal. Where players cooperate, each plays with itself on the same deals,
and the difference is that of R. Seeds depend on deal and seat alone, so that two planners which decide alike play the
same game whichever of them sits there.

Equality is shown, not assumed: the 95 % interval of the difference has to hold 0 and to lie inside ±δ, and δ was
written down in `games.registry` before any game was played. The paper (section 5.2) compares win rates and mean
payoffs without such a margin.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from statistics import fmean
from typing import Any, Final, Literal, TypeAlias

from arena.agents.specs import AgentSpec
from arena.figures.intervals import Estimate, mean_estimate, wilson
from arena.machine.runtime import Runtime
from arena.matches import tournament
from arena.matches.match import GameRecord
from arena.matches.plan import TournamentConfig, TournamentError
from arena.matches.store import Games
from arena.matches.tournament import Progress
from arena.runs.settings import planner_config
from cwm.storage.keys import content_key
from games import registry
from games.api import GameInfo
from games.registry import Margin

CWM: Final = "cwm"
TRUE: Final = "true game"
FEW_DIFFERENT: Final = 5
"""With fewer deals than this on which the two differ at all, Student's interval says too much."""
Verdict: TypeAlias = Literal["equal", "inside ±δ, not zero", "different", "not shown"]


def margin_of(info: GameInfo) -> Margin:
    """Returns the margin of a game, a tenth of its range of payoffs where none was stated for it."""
    stated = registry.describe(info.id).margin if registry.knows(info.id) else None
    tenth = (info.max_utility - info.min_utility) / 10
    return stated or Margin(tenth, "a tenth of the range of payoffs.")


@dataclass(frozen=True)
class EquivalenceConfig:
    """What is compared.

    Attributes:
        game: registry id.
        model: folder of the code world model.
        deals: deals, each in every distinct seating.
        simulations: simulations a move of both planners; several times as many as a position has legal actions, because
            with fewer many of these tie, and ties go to the action that a program happens to list first.
        rollouts: rollouts a leaf of both.
        seed: of deals and moves.
        runtime: limits of the model's worker.
    """

    game: str
    model: str
    deals: int = 100
    simulations: int = 100
    rollouts: int = 1
    seed: int = 0
    runtime: Runtime = field(default_factory=Runtime)

    def prepared(self) -> TournamentConfig:
        """Returns the games as a tournament.

        Raises:
            TournamentError: there is nothing to play.
            AgentSpecError: the model cannot be read, or is of another game.
            UnknownGameError: no game has this id.
        """
        info = registry.make(self.game).info
        config = planner_config(None, info.perfect_information, self.simulations).to_json()
        algorithm = config.pop("algorithm")
        # The true game has no policy prior: neither planner uses one.
        config |= {"rollouts": self.rollouts, "leaf": "rollout", "selection": "ucb"}
        agents = (
            AgentSpec("cwm", CWM, view=info.views[0], planner=config, model=self.model),
            AgentSpec(algorithm, TRUE, view=info.views[0], planner=config),
        )
        others = info.num_players - 1
        head_to_head, alone = ((0, *[1] * others),), ((0,) * info.num_players, (1,) * info.num_players)
        return tournament.prepare(
            TournamentConfig(
                game=self.game,
                agents=agents,
                deals=self.deals,
                seed=self.seed,
                lineups=alone if info.utility == "identical" else head_to_head,
                runtime=self.runtime,
                common_seeds=True,
            )
        )


@dataclass(frozen=True)
class Equivalence:
    """What came of it: a function of the games alone.

    Attributes:
        game: registry id.
        measure: what is compared, in words.
        margin: see `Margin`.
        cwm: mean of the CWM's planner over deals.
        true: the same of the true game's planner.
        difference: mean difference over deals with its 95 % interval.
        different_deals: deals on which the two did not come out the same.
        verdict: see `verdict`.
        games: games played.
        forfeits: games that an agent forfeited, by agent.
        fallbacks: moves for which the search gave up, by agent.
        missing: games that ours kept breaking, with the messages.
        settings: of both planners.
        model: hash of the model.
    """

    game: str
    measure: str
    margin: Margin
    cwm: Estimate | None
    true: Estimate | None
    difference: Estimate | None
    different_deals: int
    verdict: Verdict
    games: int
    forfeits: dict[str, int]
    fallbacks: dict[str, int]
    missing: dict[str, list[str]]
    settings: dict[str, Any]
    model: str

    @property
    def deals(self) -> int:
        """Deals that were finished in every seating."""
        return 0 if self.difference is None else self.difference.n

    def to_json(self) -> dict[str, Any]:
        """Returns everything as JSON."""
        return asdict(self) | {"deals": self.deals}


def run(
    config: EquivalenceConfig,
    folder: Path | None = None,
    workers: int = 1,
    on_game: Callable[[Progress], None] | None = None,
    minutes: float | None = None,
) -> Equivalence:
    """Plays the games that are missing and compares.

    Args:
        config: what to play.
        folder: keeps the games, so that a run goes on after a kill or with more deals; None keeps them in memory.
        workers: processes; they change no result.
        on_game: told after each game.
        minutes: no further deals are begun after so long; None for no limit.

    Raises:
        TournamentError: there is nothing to play.
        AgentSpecError: the model cannot be read, or is of another game.
        StoreError: the folder is in use, damaged, or of other games.
    """
    if config.deals < 1:
        raise TournamentError(f"A comparison needs at least one deal, not {config.deals}.")
    prepared = config.prepared()
    # Not the number of deals: the same folder goes on with more of them.
    kept = {name: value for name, value in prepared.to_json().items() if name != "deals"}
    place = None if folder is None else folder / f"{config.game}-{content_key(kept)[:12]}"
    with tournament.opened(place, kept) as store:
        return _played(prepared, store, workers, on_game, minutes)


def compare(
    prepared: TournamentConfig, records: Sequence[GameRecord], missing: Mapping[str, list[str]] | None = None
) -> Equivalence:
    """Returns what finished games show.

    Args:
        prepared: see `EquivalenceConfig.prepared`.
        records: finished games.
        missing: games that could not be played, with the messages.
    """
    info = registry.make(prepared.game).info
    cooperative = info.utility == "identical"
    margin = margin_of(info)
    pairs = list(_by_deal(prepared, records, cooperative))
    differences = [own - other for own, other in pairs]
    widest = info.max_utility if cooperative else info.max_utility - info.min_utility
    difference = difference_estimate(differences, widest)
    model = next(spec for spec in prepared.agents if spec.name == CWM)
    return Equivalence(
        game=prepared.game,
        measure=_measure(info),
        margin=margin,
        cwm=mean_estimate([own for own, _ in pairs]),
        true=mean_estimate([other for _, other in pairs]),
        difference=difference,
        different_deals=sum(value != 0 for value in differences),
        verdict=verdict(difference, margin.delta),
        games=len(records),
        forfeits=_forfeits(records),
        fallbacks=_fallbacks(records),
        missing=dict(missing or {}),
        settings=model.planner | {"seed": prepared.seed, "level": prepared.runtime.level},
        model=model.model_hash or "",
    )


def difference_estimate(differences: Sequence[float], widest: float) -> Estimate | None:
    """Returns the mean of paired differences with its 95 % interval, None for no deals.

    Where the two came out the same on all deals but a few, the sample hardly shows how much they can differ: then
    Wilson's interval bounds how often they do, and the game's own range by how much.

    Args:
        differences: by deal.
        widest: the largest difference that the game allows.
    """
    plain = mean_estimate(differences)
    if plain is None:
        return None
    differing = sum(value != 0 for value in differences)
    if differing >= FEW_DIFFERENT and plain.n > 1:
        return plain
    bound = widest * wilson(differing, plain.n)[1]
    low = -bound if plain.low is None else min(-bound, plain.low)
    high = bound if plain.high is None else max(bound, plain.high)
    return replace(plain, low=low, high=high)


def verdict(difference: Estimate | None, delta: float) -> Verdict:
    """Returns what an interval says of a margin.

    `equal`: the interval lies inside ±δ and holds 0; `inside ±δ, not zero`: it lies inside, but the two do play
    differently; `different`: it lies outside; `not shown`: neither.
    """
    if difference is None or difference.low is None or difference.high is None:
        return "not shown"
    if -delta < difference.low and difference.high < delta:
        return "equal" if difference.low <= 0 <= difference.high else "inside ±δ, not zero"
    return "different" if difference.low > delta or difference.high < -delta else "not shown"


def _played(
    prepared: TournamentConfig,
    store: Games,
    workers: int,
    on_game: Callable[[Progress], None] | None,
    minutes: float | None,
) -> Equivalence:
    total = len(tournament.plan(prepared))

    def told(state: Progress) -> None:
        if on_game is not None:
            on_game(Progress(state.done, total, state.record))

    ends = None if minutes is None else time.monotonic() + 60.0 * minutes
    found = None
    for part in _parts(prepared, limited=ends is not None):
        found = tournament.run(part, store, workers=workers, on_game=told)
        if ends is not None and time.monotonic() >= ends:
            break
    assert found is not None
    return compare(prepared, found.records, found.missing)


def _parts(prepared: TournamentConfig, limited: bool) -> Iterator[TournamentConfig]:
    """Yields the tournament with ever more deals, the last one with all; where time is limited, a tenth more at most
    between two looks at the clock."""
    deals = 1
    while limited and deals < prepared.deals:
        yield replace(prepared, deals=deals)
        deals += max(1, deals // 10)
    yield prepared


def _by_deal(
    prepared: TournamentConfig, records: Sequence[GameRecord], cooperative: bool
) -> Iterator[tuple[float, float]]:
    """Yields (CWM, true game) of each deal that was finished in every seating, in the order of the deals."""
    whole = len(tournament.plan(replace(prepared, deals=1)))
    deals: dict[int, list[GameRecord]] = {}
    for record in records:
        deals.setdefault(record.deal_seed, []).append(record)
    for played in deals.values():
        if len(played) == whole:
            yield _values(played, CWM, cooperative), _values(played, TRUE, cooperative)


def _values(records: Sequence[GameRecord], agent: str, cooperative: bool) -> float:
    """Returns the mean over games of R, or of the mean payoff of the agent's seats."""
    if cooperative:
        return fmean(record.won_score for record in records if agent in record.seats)
    return fmean(
        fmean(paid for paid, name in zip(record.returns, record.seats, strict=True) if name == agent)
        for record in records
    )


def _measure(info: GameInfo) -> str:
    if info.utility == "identical":
        return "R in self-play"
    return "win 1, draw 0, loss -1" if info.utility == "win_loss_draw" else "payoff"


def _forfeits(records: Sequence[GameRecord]) -> dict[str, int]:
    counts = {CWM: 0, TRUE: 0}
    for record in records:
        if record.forfeit is not None:
            counts[record.seats[record.forfeit.seat]] += 1
    return counts


def _fallbacks(records: Sequence[GameRecord]) -> dict[str, int]:
    counts = {CWM: 0, TRUE: 0}
    for record in records:
        for seat, reasons in zip(record.seats, record.fallbacks, strict=True):
            counts[seat] += sum(reasons.values())
    return counts
