"""`cwm benchmark partners`: how far reading the partner holds with partners that play otherwise than the prior says.

The same agent plays with every partner that ships with the game and with a random one, under several settings of its
belief: temper β (0: the plain belief) and mix ε (share of the uniform policy in the likelihoods). All meet the same
deals, so that each setting is compared with the plain belief deal by deal. The setting for a partner is chosen by
the games with the other partners alone, and then judged with this one.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Final

from arena.agents.partner import partners
from arena.agents.specs import AgentSpec
from arena.benchmarks.measurement import Measurement
from arena.figures.intervals import Estimate, mean_estimate
from arena.matches import tournament
from arena.matches.match import GameRecord
from arena.matches.plan import TournamentConfig

GAME: Final = "yokai-9c-2p"
GAMES: Final = 20
SEED: Final = 2027
SETTINGS: Final = ((0.0, 0.05), (0.5, 0.05), (0.5, 0.2), (1.0, 0.05), (1.0, 0.2))
"""(β, ε); the first is the plain belief, under which ε plays no part."""
MEANING: Final = 2
"""One more whenever the settings come to mean something else: games that were kept before are then played anew."""
PLANNER: Final = {"simulations": 300, "belief_size": 256, "rollouts": 2, "selection": "puct", "prior": "policy"}

Setting = tuple[float, float]
Scores = Mapping[tuple[Setting, str], Mapping[int, float]]
"""R by deal, by setting and partner; a deal's seatings count the same."""


@dataclass(frozen=True)
class Held:
    """The setting that the other partners chose, with the one that was held out.

    Attributes:
        partner: held out.
        setting: (β, ε) with the best mean R over the other partners.
        score: R with it.
        gain: R less that of the plain belief, deal by deal.
    """

    partner: str
    setting: Setting
    score: Estimate
    gain: Estimate


def run(model: Path, value: bool, store: Path, workers: int, games: int = GAMES) -> Iterator[Measurement]:
    """Plays the games that are missing and yields R with every partner, by setting.

    Args:
        model: folder of a model with a policy prior.
        value: whether it has a value function, for the leaves.
        store: folder that keeps the games, so that the benchmark goes on after a kill.
        workers: processes.
        games: a setting and partner, over both seatings.
    """
    own = [_agent(setting, model, value) for setting in SETTINGS]
    strangers = [AgentSpec("random", "random")]
    strangers += [AgentSpec("partner", name, model=name) for name in sorted(partners(GAME))]
    lineups = tuple((mine, len(own) + other) for mine in range(len(own)) for other in range(len(strangers)))
    config = tournament.prepare(TournamentConfig(GAME, (*own, *strangers), -(-games // 2), SEED, lineups=lineups))
    records = tournament.open_and_run(store, config, workers=workers).records
    yield from figures(scores(records, [spec.name for spec in strangers]))


def scores(records: Sequence[GameRecord], strangers: Sequence[str]) -> Scores:
    """Returns R of finished games by setting, partner and deal; a game that was lost or forfeited counts 0."""
    names = {_name(setting): setting for setting in SETTINGS}
    found: dict[tuple[Setting, str], dict[int, list[float]]] = {}
    for record in records:
        (mine,) = (names[name] for name in record.seats if name in names)
        (other,) = (name for name in record.seats if name in strangers)
        found.setdefault((mine, other), {}).setdefault(record.deal_seed, []).append(record.won_score)
    return {key: {deal: fmean(values) for deal, values in deals.items()} for key, deals in found.items()}


def figures(found: Scores) -> Iterator[Measurement]:
    """Yields R by partner and setting with the difference from the plain belief, then what held-out partners get."""
    for (setting, partner), deals in sorted(found.items(), key=lambda item: (item[0][1], item[0][0])):
        score = mean_estimate(list(deals.values()))
        plain = found[SETTINGS[0], partner]
        gain = _gain(deals, plain)
        if score is not None and gain is not None:
            note = f"R {_shown(score)}, less the plain belief's {_shown(gain)}, {len(deals)} deals in both seats"
            yield Measurement(f"partners/{partner}/{_name(setting)}", score.mean, "", fmean(plain.values()), note=note)
    for item in held_out(found):
        told = (
            f"R {_shown(item.score)}, less the plain belief's {_shown(item.gain)}, {item.score.n} deals in both seats"
        )
        note = f"chosen by the other partners; {told}"
        yield Measurement(f"partners/{item.partner}/held-out {_name(item.setting)}", item.score.mean, "", note=note)


def held_out(found: Scores) -> list[Held]:
    """Returns for each partner how the setting does that the other partners choose."""
    strangers = sorted({partner for _, partner in found})
    held = []
    for partner in strangers:
        others = [other for other in strangers if other != partner]
        setting = max(SETTINGS, key=lambda s: (fmean(fmean(found[s, other].values()) for other in others), s))
        score = mean_estimate(list(found[setting, partner].values()))
        gain = _gain(found[setting, partner], found[SETTINGS[0], partner])
        if score is not None and gain is not None:
            held.append(Held(partner, setting, score, gain))
    return held


def _agent(setting: Setting, model: Path, value: bool) -> AgentSpec:
    temper, mix = setting
    leaf = {"leaf": "value" if value else "rollout"}
    planner = {**PLANNER, **leaf, "belief_temper": temper, "belief_mix": mix}
    return AgentSpec("cwm", _name(setting), planner=planner, model=str(model))


def _name(setting: Setting) -> str:
    return f"β={setting[0]:g} ε={setting[1]:g}" if setting[0] else "plain belief"


def _gain(deals: Mapping[int, float], plain: Mapping[int, float]) -> Estimate | None:
    return mean_estimate([deals[deal] - plain[deal] for deal in sorted(deals.keys() & plain.keys())])


def _shown(estimate: Estimate) -> str:
    error = "" if estimate.standard_error is None else f" ± {estimate.standard_error:.2f}"
    return f"{estimate.mean:.2f}{error}"
