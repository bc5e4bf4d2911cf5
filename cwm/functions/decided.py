"""How a tournament that stops in time decided: whom it kept, after how many deals, and what fresh deals say of it."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal, TypeAlias

Stopped: TypeAlias = Literal["told apart", "deals", "seconds"]
NOT_TOLD_APART: Final = "not told apart"


@dataclass(frozen=True)
class FreshDeals:
    """What was kept beside the planner without any function, on deals that did not choose it.

    Where players cooperate each plays with itself, else they play each other.

    Attributes:
        deals: common to both; the errors are standard errors over them, None for a single deal.
        mean: score of what was kept.
        error: of it.
        without: score of the planner without.
        without_error: of it.
        ahead: mean difference, paired by deals.
        ahead_error: of it.
    """

    deals: int
    mean: float
    error: float | None
    without: float
    without_error: float | None
    ahead: float
    ahead_error: float | None

    @property
    def words(self) -> str:
        """The scores in words."""
        own, other = _pair(self.mean, self.error), _pair(self.without, self.without_error)
        difference = _pair(self.ahead, self.ahead_error)
        return f"on {self.deals} fresh deals {own}, the planner without {other}, difference {difference}"


@dataclass(frozen=True)
class Decided:
    """How it was decided. Entrants are numbered from the simplest, 0, the planner without any function.

    Attributes:
        kept: the leader, or the simplest of those from whom it is not told apart.
        leader: who has the highest score.
        level: from whom the leader is not told apart.
        deals: that were played; fewer where the model failed as the referee.
        stopped: why no more were: the leader was told apart, or the most deals or the seconds were used.
        fresh: what was kept, on further deals; None where that is the planner without, or no deal could be played.
        simulations: of the planners, a move, where they were fewer than usual to fit into the seconds; else None.
    """

    kept: int
    leader: int
    level: tuple[int, ...]
    deals: int
    stopped: Stopped
    fresh: FreshDeals | None = None
    simulations: int | None = None

    @classmethod
    def from_record(cls, data: Mapping[str, Any]) -> "Decided":
        """Builds what `asdict` made."""
        fresh = None if data["fresh"] is None else FreshDeals(**data["fresh"])
        return cls(**{**data, "level": tuple(data["level"]), "fresh": fresh})

    def to_json(self, names: Sequence[str]) -> dict[str, Any]:
        """Returns it for readers, who know entrants by name.

        Args:
            names: of the entrants.
        """
        return {
            "kept": names[self.kept],
            "leader": names[self.leader],
            "not_told_apart_from": [names[index] for index in self.level],
            "deals": self.deals,
            "stopped": self.stopped,
            "simulations": self.simulations,
            "fresh": None if self.fresh is None else asdict(self.fresh),
            "words": self.words(names),
        }

    def words(self, names: Sequence[str]) -> str:
        """Returns it in words.

        Args:
            names: of the entrants.
        """
        played = f"{self.deals} deal{'' if self.deals == 1 else 's'}"
        if self.simulations is not None:
            played += f" at {self.simulations} simulations a move"
        called = [f"candidate {name}" if name.isdecimal() else name for name in names]
        leader = called[self.leader]
        if not self.level:
            told = f"{leader} told apart after {played}"
        else:
            ended = ", when the time was used" if self.stopped == "seconds" else ""
            kept = f"; {called[self.kept]} stays, the simplest" if self.kept != self.leader else ""
            others = _listed([called[index] for index in self.level])
            told = f"{NOT_TOLD_APART} after {played}{ended}: {leader} leads, {others} may be as good{kept}"
        return told if self.fresh is None else f"{told}; {self.fresh.words}"


@dataclass(frozen=True)
class Played:
    """What a tournament came to.

    Attributes:
        scores: one an entrant, larger is better.
        decided: how it was decided; None where a fixed number of deals was played and the highest score wins.
    """

    scores: tuple[float, ...]
    decided: Decided | None = None

    def to_json(self) -> dict[str, Any]:
        """Returns what a record keeps."""
        return {"scores": list(self.scores)} | ({} if self.decided is None else {"decided": asdict(self.decided)})

    @classmethod
    def from_record(cls, data: Mapping[str, Any]) -> "Played":
        """Builds what `to_json` made; older records have scores alone."""
        found = data.get("decided")
        return cls(tuple(map(float, data["scores"])), None if found is None else Decided.from_record(found))


def _listed(names: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def _pair(mean: float, error: float | None) -> str:
    return f"{mean:.2f}" if error is None else f"{mean:.2f} ± {error:.2f}"
