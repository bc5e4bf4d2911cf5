"""One player of every kind that the project has, for one comparison: who can play a game, and why others cannot."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from arena.agents import posg
from arena.agents.model import leaf_of
from arena.agents.partner import Partner, partners
from arena.agents.specs import AgentSpec, parse
from arena.checkpoints import places
from arena.checkpoints.methods import title_of
from arena.machine import accelerated
from arena.matches import recorded_games
from arena.matches.game_source import bundle_of, model_place, open_game
from arena.matches.match import GameRecord
from arena.matches.seating import resolve
from arena.pipeline import recorded_models
from arena.usage import UsageError
from cwm.model.joint_model import JointWorldModel
from games import registry
from games.api import EstimatesPolicy, EstimatesValue, Game, GameError
from games.posg.serialised import SerialisedPosg

CHECKPOINT: Final = "search.learn.checkpoint"
"""Needs optional packages."""
LACKING: Final = "needs the extra `learn`"
LEARNED: Final = {name: title_of(name) for name in ("sp", "he", "op", "op-rot", "op-col", "obl1")}
"""Trained policies by the name of their method; the first seed that ships plays."""
PPO: Final = places.PPO
PRIORS: Final = {
    "gt-prior": "planner on the true game, with the game's own policy prior",
    "prior": "the game's own policy prior, its likeliest move",
    "cwm-greedy": "policy prior of the recorded code world model, its likeliest move",
}
"""In tables of games that have bots, or where they were asked for."""
FURTHER: Final = {
    **PRIORS,
    **{name: title_of(name) for name in ("obl2", "obl3", "obl4", "obl5", "sa", "fcp")},
    PPO: "PPO on a code world model",
}
"""More of them, in tables only where they were trained or asked for."""
TITLES: Final = {
    "random": "random legal actions",
    "heuristic": "hand-written player on its own view",
    "gt": "planner on the true game",
    "cwm": "planner on the recorded code world model, without prior",
    "cwm-prior": "planner on the recorded code world model, with its policy prior",
    "llm": "language model, asked for every move",
    **LEARNED,
    **FURTHER,
}
"""What every kind is, in the order of the tables; a game's bots are further ones, see `titles_of`."""
PRIOR: Final = "cwm-prior"
_BY_PRIOR: Final[dict[str, Any]] = {"selection": "puct", "prior": "policy"}
CHANCE: Final = "random"
HEURISTIC: Final = "heuristic"
"""The one hand-written player of a game that has no bots of several characters."""


@dataclass(frozen=True)
class Contender:
    """One kind of player.

    Attributes:
        name: of the kind, in tables.
        title: what it is.
        spec: how it plays, resolved; None if no game of it can be played now.
        view: what it is shown; None if it does not play at all.
        absent: why it is not played now; None if it is.
    """

    name: str
    title: str
    spec: AgentSpec | None
    view: str | None
    absent: str | None


def contenders(
    game: str, wanted: Sequence[str], simulations: int, llm: str | None = None, policies: Path | None = None
) -> list[Contender]:
    """Returns the kinds of players of a game.

    Args:
        game: registry id.
        wanted: names of kinds; if empty, all, of `FURTHER` those that were trained. A game whose folder has bots but no
            `heuristic` is compared with its bots, and with its own prior alone and in search.
        simulations: a move, of every planner.
        llm: a language model that plays now, `PROVIDER:MODEL[,OPTION=VALUE,...]`; None for recorded games alone.
        policies: a folder of trained policies (`op-s0`, …) that play instead of those that ship.

    Raises:
        UsageError: there is no such kind, or no such folder.
        GameError: there is no such game.
        AgentSpecError: an agent does not fit the game.
    """
    if policies is not None and not policies.is_dir():
        raise UsageError(f"There is no folder {policies} of trained policies: give one that holds op-s0, … .")
    with open_game(game) as made:
        titles = titles_of(made)
        unknown = [name for name in wanted if name not in titles]
        if unknown:
            raise UsageError(f"There is no kind of player {unknown[0]!r}: choose among {', '.join(titles)}.")
        makers = _Makers(made, model_place(game), simulations, llm, policies)
        if wanted:
            return [makers.make(name) for name in titles if name in wanted]
        left_out = {HEURISTIC} if _has_bots(made) else {*PRIORS, *_bots(made)}
        found = [makers.make(name) for name in titles if name not in left_out]
        return [one for one in found if one.name not in FURTHER or one.absent is None]


def titles_of(game: Game) -> dict[str, str]:
    """Returns what every kind is that can be asked for, in the order of the tables.

    Bots that a game is compared with come right after chance, others last.
    """
    bots = {name: _described(partner) for name, partner in _bots(game).items()}
    return {CHANCE: TITLES[CHANCE], **bots, **TITLES} if _has_bots(game) else {**TITLES, **bots}


def _bots(game: Game) -> dict[str, Partner]:
    return {name: partner for name, partner in partners(game.info.id).items() if name not in TITLES}


def _has_bots(game: Game) -> bool:
    return bool(_bots(game)) and HEURISTIC not in partners(game.info.id)


def _described(partner: Partner) -> str:
    """Returns what a bot does, by the first sentence of its documentation."""
    sentence = " ".join((partner.__doc__ or "").split()).partition(". ")[0].rstrip(".")
    return f"bot: {sentence[0].lower()}{sentence[1:]}" if sentence else "bot"


def of_agents(game: str, texts: Sequence[str]) -> list[Contender]:
    """Returns players that are described as agents of a tournament are; each is named as in its tables.

    Raises:
        AgentSpecError: there is no such agent, or it does not fit the game.
        UsageError: one has the name of a kind, or of another.
    """
    with open_game(game) as made:
        return _of_agents(made, texts)


def _of_agents(made: Game, texts: Sequence[str]) -> list[Contender]:
    specs = recorded_models.filled_in([parse(text) for text in texts], made.info.id)
    names = [*titles_of(made), *(spec.name for spec in specs)]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise UsageError(f"Two players are named {twice[0]!r}: give each its own with name=….")
    found = []
    for text, spec in zip(texts, specs, strict=True):
        resolved = resolve(spec, made)
        found.append(Contender(spec.name, text, resolved, resolved.view, None))
    return found


class _Makers:
    """Makes the players of one game; of a synthesised one, whose place is given, its own model is the model."""

    def __init__(
        self, game: Game, place: Path | None, simulations: int, llm: str | None, policies: Path | None
    ) -> None:
        self._game = game
        self._place = place
        self._id = game.info.id
        self._simulations = simulations
        self._llm = llm
        self._policies = policies
        self._titles = titles_of(game)
        # A program that decides its own games has no true rules to plan on: turns are planned as in other games.
        self._is_simultaneous = isinstance(game, SerialisedPosg) and not isinstance(game.model, JointWorldModel)

    def make(self, name: str) -> Contender:
        """Returns one kind."""
        found = self._described(name)
        if isinstance(found, AgentSpec):
            spec = resolve(found, self._game)
            return Contender(name, self._title(name, spec), spec, spec.view, None)
        has_games = name == "llm" and bool(self._recorded_games())
        return Contender(name, self._titles[name], None, self._game.info.views[0] if has_games else None, found)

    def _described(self, name: str) -> AgentSpec | str:
        """Returns the agent, or why there is none."""
        if name in PRIORS:
            return self._with_prior(name)
        if name in LEARNED or name in FURTHER:
            if not _can_learn():
                return LACKING
            return self._pupil() if name == PPO else self._trained(name)
        if name in ("cwm", PRIOR):
            return self._on_model(name)
        if name == "llm":
            if self._llm is not None:
                return parse(f"llm:{self._llm},name=llm")
            return "recorded games alone" if self._recorded_games() else "not played"
        if name == "random":
            return parse("random:name=random")
        if name == "gt":
            return self._on_the_game()
        return parse(f"partner:{name},name={name}") if name in partners(self._id) else "not written"

    def _recorded_games(self) -> list[GameRecord]:
        return [] if self._place is not None else recorded_games.every_game(self._id)

    def _on_the_game(self) -> AgentSpec:
        if self._is_simultaneous:
            return AgentSpec("posg", "gt", planner=posg.settings("pomcp", {"simulations": str(self._simulations)}))
        settings: dict[str, Any] = {"simulations": self._simulations}
        if isinstance(self._game, EstimatesValue):
            settings["leaf"] = "value"
        return AgentSpec("mcts" if self._game.info.perfect_information else "ismcts", "gt", planner=settings)

    def _with_prior(self, name: str) -> AgentSpec | str:
        """Returns a planner with a prior; with one simulation it tries the likeliest move and no other."""
        if name == "cwm-greedy":
            found = self._on_model(PRIOR)
            if isinstance(found, str):
                return found
            return replace(found, name=name, planner=found.planner | {"simulations": 1})
        if self._is_simultaneous or not isinstance(self._game, EstimatesPolicy):
            return "not written"
        spec = self._on_the_game()
        if name == "prior":
            return replace(spec, name=name, planner=spec.planner | _BY_PRIOR | {"simulations": 1})
        return replace(spec, name=name, planner=spec.planner | self._reading_others())

    def _reading_others(self) -> dict[str, Any]:
        """Returns the settings by which a prior guides the search and, where something is hidden, reads the others."""
        return _BY_PRIOR if self._game.info.perfect_information else _BY_PRIOR | {"belief_temper": 1.0}

    def _on_model(self, name: str) -> AgentSpec | str:
        recorded = [str(self._place)] if self._place is not None else recorded_models.names_of(self._id)
        if not recorded:
            return "not recorded"
        (spec,) = recorded_models.filled_in([AgentSpec("cwm", name, model=recorded[0])], self._id)
        bundle = bundle_of(spec)
        settings: dict[str, Any] = {"simulations": self._simulations}
        if not bundle.joint:  # else its planner is POMCP, which has no choice of these
            settings |= {"selection": "ucb", "leaf": leaf_of(bundle)}
        if name == PRIOR:
            if bundle.prior_source is None:
                return "not recorded"
            settings |= self._reading_others()
        return AgentSpec("cwm", name, planner=settings, model=spec.model)

    def _trained(self, name: str) -> AgentSpec | str:
        folder = self._policies or self._shipped()
        known = [path.parent.name for path in folder.glob(f"*/{places.ABOUT}")]
        seeds = sorted(int(found.removeprefix(f"{name}-s")) for found in known if _is_seed_of(name, found))
        if not seeds:
            return "not trained"
        chosen = f"{name}-s{seeds[0]}"
        return AgentSpec("ippo", name, model=chosen if self._policies is None else str(folder / chosen))

    def _pupil(self) -> AgentSpec | str:
        model = places.RECORDED if self._policies is None else str(self._policies / PPO)
        folder = (self._policies or self._shipped()) / PPO
        seats = range(self._game.info.num_players)
        if not all((places.seat_folder(folder, seat) / places.ABOUT).exists() for seat in seats):
            return "not trained"
        return AgentSpec("learned", PPO, model=model)

    def _shipped(self) -> Path:
        """Returns where the trained policies of the game lie; none ship for a game that is not ours."""
        return places.SHIPPED / (self._id if self._place is None and registry.knows(self._id) else "none")

    def _title(self, name: str, spec: AgentSpec) -> str:
        if (spec.traits.searches or spec.traits.simultaneous) and spec.planner.get("simulations") != 1:
            method = spec.planner.get("method")
            algorithm = method or spec.planner_config(self._game.info.perfect_information).algorithm
            return f"{self._titles[name]} ({algorithm}, {self._simulations} simulations)"
        if spec.traits.trained and name != PPO:
            return f"{self._titles[name]} ({Path(spec.model or '').name})"
        return f"{self._titles[name]} ({spec.model})" if spec.traits.asks else self._titles[name]


def _can_learn() -> bool:
    """Whether the optional packages are there that a trained policy needs."""
    try:
        accelerated.load(CHECKPOINT)
    except GameError:
        return False
    return True


def _is_seed_of(name: str, found: str) -> bool:
    return found.startswith(f"{name}-s") and found.removeprefix(f"{name}-s").isdecimal()
