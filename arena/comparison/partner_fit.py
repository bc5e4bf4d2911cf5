"""How a belief should read its partners: temper and mix by the likelihood of what partners did in finished games.

An agent's model says how likely its policy prior takes every action that a partner had; mixed with the uniform policy
and tempered as in `search.likelihood`, that is a forecast of the partner's action, and the mean logarithm of what it
gave to the actions taken is a proper score of it. Choices between less than two actions are no part of it, nor are the
agent's own. A pair of settings is judged on games of which neither player sat in the games that it was fitted to.
"""

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from statistics import fmean
from typing import Any, Final, TypeAlias

from arena.agents.api import AgentFailure
from arena.agents.model import check
from arena.agents.specs import AgentSpec
from arena.comparison.belief_probe import Probe, calibration, calibration_error
from arena.figures.intervals import Estimate, mean_estimate
from arena.machine.runtime import Runtime
from arena.matches.game_source import bundle_of
from arena.matches.match import GameRecord
from cwm.sandbox.parent.host import Sandbox, Worker
from search import session
from search.api import PlannerConfig
from search.likelihood import log_forecast

Setting: TypeAlias = tuple[float, float]
"""Temper and mix."""
TEMPERS: Final = (0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0)
MIXES: Final = (0.01, 0.05, 0.2)
STANDARD: Final[Setting] = (1.0, PlannerConfig().belief_mix)
"""What recorded models with a policy prior play with."""
SETTINGS: Final = tuple((temper, mix) for temper in TEMPERS for mix in MIXES)


@dataclass(frozen=True)
class PartnerChoice:
    """One decision of a partner, as an agent's policy prior foretells it.

    Attributes:
        reader: the agent.
        mover: the partner.
        deal_seed: of the game.
        chances: the prior's probability of every legal action, two at least.
        taken: index of the action taken.
    """

    reader: str
    mover: str
    deal_seed: int
    chances: tuple[float, ...]
    taken: int


@dataclass(frozen=True)
class ScoredChoice:
    """A choice and its log-likelihood under every setting, in nats."""

    choice: PartnerChoice
    by_setting: Mapping[Setting, float]


@dataclass(frozen=True)
class SettingScore:
    """A setting's score.

    Attributes:
        setting: temper and mix.
        score: mean log-likelihood of a choice, the mean over deals, in nats.
        gain: less that of `STANDARD`, deal by deal.
        choices: how many.
    """

    setting: Setting
    score: Estimate
    gain: Estimate
    choices: int


@dataclass(frozen=True)
class HeldLineup:
    """A lineup, judged by the setting that the games without its agents chose.

    Attributes:
        lineup: names, sorted.
        judged: the setting, and its score in the games of this lineup.
    """

    lineup: tuple[str, ...]
    judged: SettingScore


def choices(records: Sequence[GameRecord], specs: Mapping[str, AgentSpec], runtime: Runtime) -> Iterator[PartnerChoice]:
    """Yields what partners did in finished games, as every agent with a policy prior foretells it.

    Args:
        records: games; forfeited ones are left out.
        specs: resolved agents by name.
        runtime: limits of the workers.

    Raises:
        InfrastructureError: a worker cannot be had.
        AgentFailure: a model failed.
    """
    for name in sorted(specs):
        spec = specs[name]
        own = [record for record in records if record.forfeit is None and name in record.seats]
        if own and spec.traits.sandboxed and bundle_of(spec).prior_source is not None:
            sandbox = Sandbox(limits=runtime.limits, level=runtime.level, payload=session.PAYLOAD)
            with sandbox.start(bundle_of(spec).program(), seed=0) as worker:
                check(worker.loaded)
                for record in own:
                    yield from _read(worker, name, record, runtime)


def _read(worker: Worker, name: str, record: GameRecord, runtime: Runtime) -> Iterator[PartnerChoice]:
    actions = [action for _, action in record.actions]
    for seat, sitting in enumerate(record.seats):
        if sitting == name:
            argument = {"actions": actions, "reader": seat}
            reply = worker.payload(
                "search.session", "foretold", argument, seed=0, timeout_s=runtime.move_timeout_s * len(actions)
            )
            found = check(reply)
            try:
                made = [
                    PartnerChoice(name, record.seats[mover], record.deal_seed, tuple(map(float, chances)), int(taken))
                    for mover, chances, taken in found["choices"]
                ]
                yield from (item for item in made if item.chances[item.taken] >= min(item.chances) >= 0.0)
            except (LookupError, TypeError, ValueError) as error:
                # The answer comes from a process in which an untrusted program runs.
                raise AgentFailure("unparsable", f"the worker's answer holds no choices: {str(found)[:200]}") from error


def scored(found: Sequence[PartnerChoice]) -> list[ScoredChoice]:
    """Returns the choices with their log-likelihoods under all of `SETTINGS`."""
    return [
        ScoredChoice(item, {one: log_forecast(item.chances, item.taken, *one) for one in SETTINGS}) for item in found
    ]


def best(found: Sequence[ScoredChoice]) -> Setting | None:
    """Returns the setting under which the choices are likeliest, None for no choices; of equal ones the nearest to
    `STANDARD`."""
    if not found:
        return None
    totals = {one: math.fsum(item.by_setting[one] for item in found) for one in SETTINGS}
    return max(SETTINGS, key=lambda one: (totals[one], -abs(one[0] - STANDARD[0]), -abs(one[1] - STANDARD[1])))


def score_of(found: Sequence[ScoredChoice], setting: Setting) -> SettingScore | None:
    """Returns a setting's score, None for no choices."""
    score = mean_estimate(_by_deal((item.choice.deal_seed, item.by_setting[setting]) for item in found))
    gains = ((item.choice.deal_seed, item.by_setting[setting] - item.by_setting[STANDARD]) for item in found)
    gain = mean_estimate(_by_deal(gains))
    return None if score is None or gain is None else SettingScore(setting, score, gain, len(found))


def under(specs: Mapping[str, AgentSpec], setting: Setting) -> dict[str, AgentSpec]:
    """Returns agents whose planners read their partners by a setting."""
    settings = {"belief_temper": setting[0], "belief_mix": setting[1]}
    return {
        name: replace(spec, planner=spec.planner | settings) if spec.traits.sandboxed else spec
        for name, spec in specs.items()
    }


def chosen_without(found: Sequence[ScoredChoice], names: Collection[str]) -> Setting | None:
    """Returns the setting that is likeliest in the games in which none of these agents sits; None if there are none."""
    return best(
        _between_strangers([item for item in found if not {item.choice.reader, item.choice.mover} & set(names)])
    )


def _between_strangers(found: Sequence[ScoredChoice]) -> Sequence[ScoredChoice]:
    """Leaves out what agents did beside themselves, unless that is all there is."""
    return [item for item in found if item.choice.reader != item.choice.mover] or found


@dataclass(frozen=True)
class PartnerFit:
    """What was fitted.

    Attributes:
        scores: every setting's, the best first.
        chosen: the likeliest setting over all games of different agents, or, without such, of agents with themselves.
        held_out: lineups of different agents, judged by what the games of others chose; those without such games are
            left out.
        gain: of all held-out choices together, less `STANDARD`; None where none could be held out.
        probes: beliefs read again, each lineup's under what the games of others chose.
    """

    scores: list[SettingScore]
    chosen: Setting
    held_out: list[HeldLineup]
    gain: Estimate | None
    probes: tuple[Probe, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Returns the scores by setting, what was chosen, and the calibration under it."""
        data = {key: value for key, value in asdict(replace(self, probes=())).items() if key != "probes"}
        error = calibration_error(self.probes)
        return {
            "fit": data,
            "calibration_fitted": [asdict(item) for item in calibration(self.probes)],
            "calibration_error_fitted": error and asdict(error),
        }


def fit(found: Sequence[ScoredChoice]) -> PartnerFit | None:
    """Returns which setting foretells partners best, None for no choices."""
    strangers = _between_strangers(found)
    chosen = best(strangers)
    if chosen is None:
        return None
    every = [made for one in SETTINGS if (made := score_of(strangers, one)) is not None]
    held, gains = [], []
    for lineup in sorted({tuple(sorted({item.choice.reader, item.choice.mover})) for item in found}):
        setting = chosen_without(found, lineup)
        if setting is None or len(lineup) == 1:
            continue
        own = [item for item in found if {item.choice.reader, item.choice.mover} == set(lineup)]
        judged = score_of(own, setting)
        if judged is not None:
            held.append(HeldLineup(lineup, judged))
            gains += [(item.choice.deal_seed, item.by_setting[setting] - item.by_setting[STANDARD]) for item in own]
    ranked = sorted(every, key=lambda item: -item.score.mean)
    return PartnerFit(ranked, chosen, held, mean_estimate(_by_deal(gains)))


def _by_deal(values: Iterable[tuple[int, float]]) -> list[float]:
    """Returns the mean of each deal's values, since they are alike."""
    deals: dict[int, list[float]] = {}
    for deal, value in values:
        deals.setdefault(deal, []).append(value)
    return [fmean(own) for own in deals.values()]
