"""How a synthesis deals with what is hidden: what the recorded games show of it, and what the program infers."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, get_args

from arena.usage import UsageError
from cwm.model.bundle import ModelBundle
from cwm.sandbox.parent.host import Sandbox
from cwm.suite import likelihood
from cwm.suite.likelihood import BoundOptions
from cwm.trajectories.recorded import Deck, Infers, Trajectory
from games.api import Game, GameInfo

LIKELIHOOD = "likelihood"
"""Key of the bound among the figures of an evaluation."""


@dataclass(frozen=True)
class HiddenInformation:
    """The two choices of the CWM paper, 4.2 and 4.4.

    Attributes:
        deck: `open`: the hidden states of the recorded games are shown and tested; `closed`: of each game only what one
            player saw.
        inference: what the program samples from what a player saw: the whole `history`, or the present `state`.
    """

    deck: Deck = "open"
    inference: Infers = "history"

    @classmethod
    def asked(cls, info: GameInfo, deck: str, inference: str, priors: bool) -> "HiddenInformation":
        """Returns what was asked for on the command line.

        Args:
            info: of the game.
            deck: see above.
            inference: see above.
            priors: whether policy priors are asked for.

        Raises:
            UsageError: it is unknown, or does not go together.
        """
        for name, given, choices in (("deck", deck, Deck), ("inference", inference, Infers)):
            if given not in get_args(choices):
                raise UsageError(f"The option `{name}` is {given!r}; give {' or '.join(get_args(choices))}.")
        made = cls(deck, inference)  # type: ignore[arg-type]
        if made == cls():
            return made
        if info.perfect_information:
            raise UsageError(
                f"Nothing is hidden in {info.id}: leave out the options `deck` and `inference`, which are for games "
                "in which something is."
            )
        if made.deck == "closed" and made.inference == "state":
            raise UsageError(
                "A closed deck is tested by replaying inferred histories, and a sampled state has none: with a "
                "closed deck, the option `inference` must be history."
            )
        if made.inference == "state" and priors:
            raise UsageError(
                "A policy prior weighs sampled histories by what the others did, and a sampled state has none: leave "
                "out the option `priors`, or infer histories."
            )
        return made

    @classmethod
    def of(cls, bundle: ModelBundle) -> "HiddenInformation":
        """Returns how a finished model was made."""
        return cls(bundle.deck, bundle.infers)

    @property
    def usual(self) -> bool:
        """Whether it is the open deck with inference of histories, as where nobody asked for anything."""
        return self == HiddenInformation()

    @property
    def name(self) -> str:
        """What it is called where it is not the usual: `closed` or `state`."""
        return "closed" if self.deck == "closed" else self.inference

    def metadata(self) -> dict[str, Any]:
        """Returns what a model's bundle tells of it, {} for the usual."""
        return {} if self.usual else asdict(self)

    def judge(self, game: Game | None) -> Game | None:
        """Returns the game that says which histories a player cannot tell apart, None if none can.

        The states and the actions of chance of a model of the closed deck are its own: those of the true game mean
        nothing to it.
        """
        return None if self.deck == "closed" else game

    def bound(self, bundle: ModelBundle, played: Sequence[Trajectory], sandbox: Sandbox, seed: int) -> dict[str, Any]:
        """Returns the likelihood bound among the figures of an evaluation, {} in the open deck, where accuracies of
        transitions say more."""
        if self.deck == "open":
            return {}
        found = likelihood.estimate(bundle.program(), played, sandbox, BoundOptions(seed=seed))
        return {LIKELIHOOD: found.to_json()}
