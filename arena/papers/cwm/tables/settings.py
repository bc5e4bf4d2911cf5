"""What a rebuilding of the CWM paper's tables is asked for, and how much is played for each game."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from arena.papers.cwm.published.games import BY_ID, VARIANT_WORDS, PaperGame, Variant
from arena.papers.cwm.published.layout import FIGURE_BY_NUMBER, TABLE_BY_NUMBER
from arena.usage import UsageError
from cwm.storage import stored_json
from cwm.storage.differences import differences
from cwm.storage.files import write_whole
from cwm.storage.settings import known_fields

ASKED_FILE: Final = "paper.json"
SCALE_FILE: Final = "scale.json"
FORMAT_VERSION: Final = 1
DEFAULT_MINUTES: Final = 30.0
RECORDED_SEEDS: Final = (0, 1, 2, 3, 4)
"""The paper has five syntheses of each kind; of recorded ones those are taken that there are."""
LIVE_SEEDS: Final = (0,)
"""Each synthesis of a live model costs calls: five are asked for, not taken."""


@dataclass(frozen=True)
class Scale:
    """How much is played and tested for one game.

    Attributes:
        simulations: a move, of both planners.
        rollouts: a leaf, where there is no value function.
        deals: for each pair of agents; each deal is played in both seatings, so it is the matches a seat.
        transitions: held-out games hold at least so many.
        minutes: for which the numbers were chosen, None if all of them were given.
        measured: what the choice rests on, by name.
    """

    simulations: int
    rollouts: int
    deals: int
    transitions: int
    minutes: float | None = None
    measured: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Scale":
        """Builds what `asdict` made; keys that a newer version wrote are passed over."""
        return cls(**known_fields(cls, data))

    @property
    def words(self) -> str:
        """Returns the numbers in words."""
        matches = "match" if self.deals == 1 else "matches"
        why = "as given" if self.minutes is None else f"chosen for {self.minutes:g} minutes a game"
        return (
            f"{self.simulations:,} simulations, {self.rollouts} rollout{'s' if self.rollouts != 1 else ''}, "
            f"{self.deals} {matches} a seat, {self.transitions:,} transitions, {why}"
        )


PAPER_SCALE: Final = Scale(1000, 10, 100, 10_000)
"""The paper's own (section 5, C.2)."""


@dataclass(frozen=True)
class PaperWishes:
    """What is rebuilt. The same folder takes no other, but for tables and figures, which are a choice of what to show.

    Attributes:
        games: our ids, in the paper's order.
        seeds: of the syntheses.
        llm: `PROVIDER:MODEL`, None for the recorded completions.
        base_url: see `RunSettings`.
        minutes: time for each game on this machine; decides a `Scale` once.
        scale: numbers that were given and are not to be decided: those of `Scale`, by name.
        player_deals: deals against a language model that is asked live.
        seed: everything random in matches and held-out games derives from it.
        learned: decisions for which agents are trained on the models, None for no such agents.
        learned_seeds: of these agents for each seat; the best plays.
        temperature: of every question to `llm`, None for the provider's default.
        reasoning_effort: how long it is to think, None for the provider's default.
        tournament_budget: seconds of the tournaments of its value functions, None for the standard.
    """

    games: tuple[str, ...]
    seeds: tuple[int, ...] = (0,)
    llm: str | None = None
    base_url: str | None = None
    minutes: float = DEFAULT_MINUTES
    scale: tuple[tuple[str, int], ...] = ()
    player_deals: int = 5
    seed: int = 0
    learned: int | None = None
    learned_seeds: int = 5
    temperature: float | None = None
    reasoning_effort: str | None = None
    tournament_budget: float | None = None

    @property
    def how_asked(self) -> dict[str, Any]:
        """How the language model is to think, as far as anybody said, by option."""
        told = {"temperature": self.temperature, "reasoning_effort": self.reasoning_effort}
        return {name: value for name, value in told.items() if value is not None}

    def to_json(self) -> dict[str, Any]:
        data = {"version": FORMAT_VERSION, **asdict(self), "scale": dict(self.scale)}
        # Folders from before there were these options lack them.
        del data["temperature"], data["reasoning_effort"]
        if self.tournament_budget is None:
            del data["tournament_budget"]
        return data | self.how_asked

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "PaperWishes":
        """Builds what `to_json` wrote; keys that a newer version wrote are passed over."""
        values = known_fields(cls, data)
        values["games"], values["seeds"] = tuple(data["games"]), tuple(data["seeds"])
        unknown = [game for game in values["games"] if game not in BY_ID]
        if unknown:
            raise ValueError(f"{unknown[0]!r} is no game of the paper")
        values["scale"] = tuple(sorted(data["scale"].items()))
        return cls(**values)


@dataclass(frozen=True)
class PaperSelection:
    """Which tables and figures are shown, by the paper's numbers; what is shown decides what is run.

    Attributes:
        tables: numbers.
        figures: numbers.
        learned: whether agents are trained for the tables that are about them.
    """

    tables: tuple[int, ...] = tuple(TABLE_BY_NUMBER)
    figures: tuple[int, ...] = tuple(FIGURE_BY_NUMBER)
    learned: bool = False

    def needed(self) -> set[int]:
        """Returns the tables whose runs are needed: those shown, and those behind the figures."""
        return {*self.tables, *(table for number in self.figures for table in FIGURE_BY_NUMBER[number].tables)}

    def variants(self, game: str) -> list[Variant]:
        """Returns the syntheses of a game that are needed, in the paper's order."""
        layouts = [TABLE_BY_NUMBER[number] for number in self.needed()]
        shown = [layout for layout in layouts if game in layout.games and layout.kind != "details"]
        wanted = {layout.variant for layout in shown if self.learned or not layout.learned}
        wanted |= self._ablated(game)
        return [variant for variant in BY_ID[game].variants if variant in wanted]

    def tests(self, game: str, variant: Variant) -> bool:
        """Whether held-out tests of a synthesis are needed."""
        layouts = [TABLE_BY_NUMBER[number] for number in self.needed()]
        return any(
            layout.kind == "accuracy" and layout.variant == variant and game in layout.games for layout in layouts
        )

    def plays(self, game: str, variant: Variant) -> bool:
        """Whether matches of a synthesis are needed."""
        layouts = [TABLE_BY_NUMBER[number] for number in self.needed()]
        played = any(
            layout.seated and layout.variant == variant and game in layout.games and not layout.learned
            for layout in layouts
        )
        return played or variant in self._ablated(game)

    def trains(self, game: str, variant: Variant) -> bool:
        """Whether agents that are trained on a synthesis's model are needed."""
        layouts = [TABLE_BY_NUMBER[number] for number in self.needed()]
        shown = any(layout.learned and layout.variant == variant and game in layout.games for layout in layouts)
        return self.learned and shown

    def draws_curve(self, game: str, variant: Variant) -> bool:
        """Whether accuracy by call is needed."""
        figures = [FIGURE_BY_NUMBER[number] for number in self.figures]
        return any(figure.kind == "curves" and figure.variant == variant and game in figure.games for figure in figures)

    def ablates(self, game: str, variant: Variant) -> bool:
        """Whether matches without the value function are needed."""
        return variant in self._ablated(game)

    def _ablated(self, game: str) -> set[Variant]:
        if not any(FIGURE_BY_NUMBER[number].kind == "ablation" for number in self.figures):
            return set()
        return {"mnk": {"tree"}, "bargaining": {"tree", "closed"}}.get(game, set())  # type: ignore[return-value]


def chosen_games(text: str | None) -> tuple[str, ...] | None:
    """Returns the games of a list with commas, in the paper's order; None for nothing said.

    Raises:
        UsageError: one of them is not in the paper.
    """
    if text is None:
        return None
    names = _parts(text)
    unknown = [name for name in names if name not in BY_ID]
    if unknown or not names:
        given = repr(unknown[0]) if unknown else "nothing"
        raise UsageError(f"The option `games` names {given}; the paper's games are {', '.join(BY_ID)}.")
    return tuple(game for game in BY_ID if game in names)


def chosen_numbers(text: str | None, option: str, known: Mapping[int, object]) -> tuple[int, ...]:
    """Returns the tables or figures of a list with commas; None for all.

    Raises:
        UsageError: one of them is not rebuilt.
    """
    if text is None:
        return tuple(known)
    names = _parts(text)
    if names == ["none"]:
        return ()
    unknown = [name for name in names if not name.isdecimal() or int(name) not in known]
    if unknown or not names:
        given = repr(unknown[0]) if unknown else "nothing"
        raise UsageError(f"{option} names {given}; those that are rebuilt are {', '.join(map(str, known))}.")
    return tuple(number for number in known if str(number) in names)


def chosen_seeds(text: str | None) -> tuple[int, ...] | None:
    """Returns the seeds of a list with commas; None for nothing said.

    Raises:
        UsageError: one of them is no whole number from 0.
    """
    if text is None:
        return None
    names = _parts(text)
    wrong = [name for name in names if not name.isdecimal()]
    if wrong or not names:
        given = repr(wrong[0]) if wrong else "nothing"
        raise UsageError(f"The option `seeds` names {given}; give whole numbers from 0 with commas, e.g. 0,1,2.")
    return tuple(sorted({int(name) for name in names}))


def _parts(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def keep(folder: Path, given: Mapping[str, Any]) -> PaperWishes:
    """Stores what is asked for in a new folder; in an old one, what was asked for before stands where nothing is given.

    Games may be left out and added: what was made for others stays. The minutes decide only games without a scale.

    Args:
        folder: of the rebuilding; made if missing.
        given: attributes of `PaperWishes` by name; those that are None are not given.

    Returns:
        What is asked for now.

    Raises:
        UsageError: the folder holds a rebuilding with other settings, or is damaged.
    """
    told = {name: value for name, value in given.items() if value is not None}
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / ASKED_FILE).exists():
        seeds = RECORDED_SEEDS if told.get("llm") is None else LIVE_SEEDS
        asked = PaperWishes(**({"games": tuple(BY_ID), "seeds": seeds} | told))
        _write(folder, asked)
        return asked
    known = read(folder)
    asked = replace(known, **told)
    changed = differences(_fixed(known), _fixed(asked))
    if changed:
        raise UsageError(
            f"{folder} was begun with other settings ({'; '.join(changed)}); use another folder, or those settings."
        )
    _write(folder, replace(asked, games=tuple(game for game in BY_ID if game in {*known.games, *asked.games})))
    return asked


def _fixed(asked: PaperWishes) -> dict[str, Any]:
    data = asked.to_json()
    # Who is trained can be told later; a training itself takes no other settings.
    del data["games"], data["minutes"], data["learned"], data["learned_seeds"]
    return data


def _write(folder: Path, asked: PaperWishes) -> None:
    write_whole(folder / ASKED_FILE, json.dumps(asked.to_json(), indent=1, sort_keys=True) + "\n")


def read(folder: Path) -> PaperWishes:
    """Returns what a folder was asked for.

    Raises:
        UsageError: it holds no rebuilding, or the file is damaged.
    """
    return stored_json.read(folder / ASKED_FILE, PaperWishes.from_json, UsageError, "give the folder of a `cwm paper`")


def known_llm(folder: Path) -> str | None:
    """Returns the language model that a folder was begun with, None if it has none or is new."""
    return read(folder).llm if (folder / ASKED_FILE).exists() else None


def write_scale(folder: Path, game: str, scale: Scale) -> None:
    """Stores the scale of a game, once and for all."""
    place = folder / game
    place.mkdir(parents=True, exist_ok=True)
    write_whole(place / SCALE_FILE, json.dumps(asdict(scale), indent=1, sort_keys=True) + "\n")


def read_scale(folder: Path, game: str) -> Scale | None:
    """Returns the stored scale of a game, None if none was decided.

    Raises:
        UsageError: the file is damaged.
    """
    remedy = "delete it, and the game is measured anew"
    return stored_json.read_if_there(folder / game / SCALE_FILE, Scale.from_json, UsageError, remedy)


def in_words(game: PaperGame, variant: Variant) -> str:
    """Returns what a synthesis is of."""
    words = "tree search, open deck" if game.hidden and variant == "tree" else VARIANT_WORDS[variant]
    return f"{game.name}, {words}"
