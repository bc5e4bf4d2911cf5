"""Our figures, cell by cell, from what is stored in a rebuilding's folder; nothing is run, played or asked."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from arena.figures.intervals import clustered_mean, clustered_rate, mean_estimate, wilson
from arena.matches import recorded_games
from arena.matches.match import GameRecord
from arena.papers.cwm.published.games import Variant
from arena.papers.cwm.published.layout import Opponent, TableLayout
from arena.papers.cwm.tables import accuracy, learned, matches, syntheses
from arena.papers.cwm.tables.cells import Measured, State
from arena.papers.cwm.tables.places import LEARNED, LEARNED_PLAYER, MATCHES, ONLINE, PLAYER, TEST, WITHOUT_VALUE, Place
from arena.papers.cwm.tables.settings import PaperWishes
from arena.runs.folder import INPUTS, RESULT_FILE
from arena.runs.inputs import TRAIN_FILE
from arena.usage import UsageError
from cwm.model.bundle import RUN_SUBFOLDER, ModelBundle
from cwm.observations import vectors
from cwm.record.record import RunRecord
from cwm.suite.evaluation import ResultCounts
from cwm.trajectories import files
from games import registry
from games.api import CHANCE

AGENT_OF: dict[Opponent, str] = {
    "planner": recorded_games.MODEL,
    "llm": recorded_games.LLM,
    "true": recorded_games.TRUE,
    "random": recorded_games.RANDOM,
}


@dataclass(frozen=True)
class Played:
    """Matches of one row against one opponent.

    Attributes:
        groups: the games of each synthesis: those of one are more alike than those of several.
        agent: ours, as its seats are named.
        opponent: as its seats are named.
        sources: where they are stored.
    """

    groups: tuple[tuple[GameRecord, ...], ...]
    agent: str
    opponent: str
    sources: tuple[str, ...]

    @property
    def records(self) -> list[GameRecord]:
        """The games of all syntheses."""
        return [record for group in self.groups for record in group]

    def seated(self, seat: int) -> list[list[GameRecord]]:
        """Returns the games in which our agent has a seat and the opponent the other, by synthesis."""
        seats = {seat: self.agent, 1 - seat: self.opponent}
        own = [[r for r in group if all(r.seats[i] == name for i, name in seats.items())] for group in self.groups]
        return [group for group in own if group]

    def sources_of(self, seat: int) -> tuple[str, ...]:
        """Returns where those games are stored, and which they are."""
        return tuple(f"{source}#{self.agent} at seat {seat}, {self.opponent}" for source in self.sources)


class Stored:
    """What a rebuilding has come to so far.

    Args:
        root: its folder.
        asked: what it was asked for.
    """

    def __init__(self, root: Path, asked: PaperWishes) -> None:
        self.root = root
        self.asked = asked
        # Files of games and evaluations are behind many cells each.
        self._games = cache(matches.stored)
        self._figures = cache(accuracy.figures)
        self._results = cache(syntheses.result)
        self._recorded = cache(recorded_games.games)
        self._played_in = cache(matches.games)

    def places(self, game: str, variant: Variant) -> list[Place]:
        """Returns the finished syntheses of a game, by seed."""
        known = [Place(self.root, game, variant, seed) for seed in self.asked.seeds]
        return [place for place in known if self._results(place.folder) is not None]

    def missing(self, game: str, variant: Variant) -> State:
        """Returns why a game has no synthesis."""
        wanted = [syntheses.settings_of(game, variant, seed, self.asked) for seed in self.asked.seeds]
        return "not finished" if any(wanted) else "not recorded"

    def accuracy(self, game: str, variant: Variant, kind: str, split: str) -> Measured:
        """Returns the share of tests of a kind that the syntheses' models pass, mean over syntheses.

        The interval is Student's over several syntheses, and Wilson's over the tests of one where there is one alone or
        all are equally right: that all pass the same tests does not make them perfect.
        """
        places = self.places(game, variant)
        if not places:
            return Measured(self.missing(game, variant))
        tallies: list[tuple[ResultCounts, str]] = []
        for place in places:
            found = self._tally(place, kind, split)
            if found is not None and found[0].scored:
                tallies.append(found)
        if not tallies:
            nowhere = not any(self._played_in(place, self.asked.llm is not None) for place in places)
            return Measured("not played" if split == ONLINE and nowhere else "not tested")
        sources = tuple(source for _, source in tallies)
        rates = [tally.accuracy or 0.0 for tally, _ in tallies]
        if len(set(rates)) > 1:
            estimate = mean_estimate(rates)
            assert estimate is not None  # there are tallies
            low, high = max(0.0, estimate.low or 0.0), min(1.0, estimate.high or 0.0)
            return Measured("measured", estimate.mean, "", low, high, len(tallies), "syntheses", sources)
        tally = tallies[0][0]
        low, high = wilson(tally.passed, tally.scored)
        return Measured("measured", tally.accuracy, "", low, high, tally.scored, "tests", sources)

    def _tally(self, place: Place, kind: str, split: str) -> tuple[ResultCounts, str] | None:
        if split == "train":
            return self._trained(place, kind)
        folder = place.part(TEST) if split == "test" else self._online(place)
        found = self._figures(folder)
        if found is None or kind not in found["kinds"]:
            return None
        return tally_of(found, kind), place.source(f"{folder.name}#figures.kinds.{kind}")

    def _online(self, place: Place) -> Path:
        return matches.folder(place, self._played_in(place, self.asked.llm is not None))

    def _trained(self, place: Place, kind: str) -> tuple[ResultCounts, str] | None:
        best = (self._results(place.folder) or {}).get("best")
        return None if best is None else self.trained(place, best, kind)

    def trained(self, place: Place, digest: str, kind: str) -> tuple[ResultCounts, str] | None:
        """Returns how a program of a synthesis did on the unit tests of one kind."""
        made = self._results(place.folder) or {}
        with RunRecord.read(place.folder) as record:
            # Of several suites, the one that the result speaks of.
            report = record.test_report(digest, made["suite"]) or next(iter(record.test_reports(digest)), None)
        if report is None or kind not in report["counts"]:
            return None
        counts = report["counts"][kind]
        tally = ResultCounts(
            counts["passed"], counts["failed"], counts["errors"], counts["timeouts"], counts["not_run"]
        )
        return tally, place.source(f"journal.sqlite#test_results.{digest[:12]}.counts.{kind}")

    def tested(self, place: Place, digest: str, kind: str) -> tuple[ResultCounts, str] | None:
        """Returns how a program of a synthesis did on the held-out games, tests of one kind."""
        folder = accuracy.curve_folder(place, digest)
        found = self._figures(folder)
        if found is None or kind not in found["kinds"]:
            return None
        return tally_of(found, kind), f"{folder.relative_to(self.root)}#figures.kinds.{kind}"

    def calls(self, game: str, variant: Variant) -> Measured:
        """Returns the calls to the language model until a synthesis ended, mean over syntheses."""
        places = self.places(game, variant)
        if not places:
            return Measured(self.missing(game, variant))
        counts = [float((self._results(place.folder) or {})["calls"]) for place in places]
        estimate = mean_estimate(counts)
        assert estimate is not None  # there are places
        sources = tuple(place.source(f"{RESULT_FILE}#synthesis.calls") for place in places)
        low, high = (estimate.low, estimate.high) if len(set(counts)) > 1 else (None, None)
        return Measured("measured", estimate.mean, "", low, high, len(counts), "syntheses", sources)

    def played(self, game: str, variant: Variant, opponent: Opponent, agent: str = recorded_games.MODEL) -> Played:
        """Returns the matches of the syntheses of a game against one opponent, those of all seeds together."""
        part = _part(opponent)
        if agent == learned.AGENT:
            part = LEARNED_PLAYER if opponent == "llm" else LEARNED
        found = self._collected([(place, part) for place in self.places(game, variant)], opponent, agent)
        if opponent == "llm" and agent == recorded_games.MODEL and variant == "tree" and self.asked.llm is None:
            recorded = self._recorded(game)
            if recorded:
                source = f"recordings/{recorded_games.FOLDER}/{game}.jsonl"
                return replace(found, groups=(*found.groups, tuple(recorded)), sources=(*found.sources, source))
        return found

    def without_value(self, game: str, variant: Variant, opponent: Opponent) -> Played:
        """Returns the matches without a value function: those of models that have none, and those of the ablation.

        Recorded games with a language model do not say which it was: they are in neither column.
        """
        places = self.places(game, variant)
        parts = [(place, WITHOUT_VALUE if has_value_function(place) else _part(opponent)) for place in places]
        return self._collected(parts, opponent)

    def with_value(self, game: str, variant: Variant, opponent: Opponent) -> Played:
        """Returns the matches with a value function, those of models that have one."""
        places = [place for place in self.places(game, variant) if has_value_function(place)]
        return self._collected([(place, _part(opponent)) for place in places], opponent)

    def _collected(
        self, parts: Sequence[tuple[Place, str]], opponent: Opponent, agent: str = recorded_games.MODEL
    ) -> Played:
        groups: list[tuple[GameRecord, ...]] = []
        sources: list[str] = []
        for place, part in parts:
            found = self._games(place, part)
            if found:
                groups.append(tuple(found))
                sources.append(place.source(f"{part}/games.sqlite"))
        return Played(tuple(groups), agent, AGENT_OF[opponent], tuple(sources))

    def language_models(self, game: str, variant: Variant) -> set[str]:
        """Returns the names of the language models that played with the planner on a game's models."""
        found = self.played(game, variant, "llm")
        accounts = [account for record in found.records for account in record.accounts.values()]
        return {name for account in accounts for name in account.get("models") or [str(account.get("asked"))]}

    def result(self, layout: TableLayout, game: str, seat: int, key: str) -> Measured:
        """Returns one figure of matches.

        Args:
            layout: the table.
            game: our id.
            seat: of our agent.
            key: `OPPONENT.FIGURE`, see `Column.key`.
        """
        opponent, _, figure = key.partition(".")
        agent = learned.AGENT if layout.learned else recorded_games.MODEL
        found = self.played(game, layout.variant, opponent, agent)  # type: ignore[arg-type]
        games = found.seated(seat)
        if not games:
            return Measured(self._why_none(layout, game, opponent))
        if layout.kind == "forfeits":
            loser = seat if figure == "us" else 1 - seat
            return _rate(games, lambda record: forfeited(record, loser), found.sources_of(seat))
        return self.figure_of(found, seat, figure)

    def figure_of(self, found: Played, seat: int, figure: str) -> Measured:
        """Returns one figure of the games of a seat, of which there are some."""
        games, sources = found.seated(seat), found.sources_of(seat)
        if figure in ("us", "them"):
            paid = seat if figure == "us" else 1 - seat
            estimate = clustered_mean([[record.returns[paid] for record in group] for group in games])
            assert estimate is not None  # there are games
            return Measured.of(estimate, "matches", sources)
        if figure in ("win", "loss", "draw"):
            return _rate(games, lambda record: outcome(record, seat) == figure, sources)
        return _count([record for group in games for record in group], seat, figure, sources)

    def _why_none(self, layout: TableLayout, game: str, opponent: str) -> State:
        if layout.learned:
            trained = any(learned.words(place) for place in self.places(game, layout.variant))
            return "not played" if trained else "not trained"
        if not self.places(game, layout.variant) and not (opponent == "llm" and self._recorded(game)):
            return self.missing(game, layout.variant)
        return "not played"

    def detail(self, game: str, key: str) -> Measured:
        """Returns one fact about a game as it is here."""
        info = registry.make(game).info
        if key == "novel":
            # Whether its source was on the internet is a fact about the paper's language model.
            return Measured("not measured")
        if key == "observability":
            return _words("Full" if info.perfect_information else "Partial", f"games/{game}")
        if key == "payoff":
            names = {"win_loss_draw": "W/L/D", "general_sum": "General", "zero_sum": "Zero-sum"}
            return _words(names.get(info.utility, info.utility), f"games/{game}")
        if key == "actions":
            return self._actions(game)
        return self._observation(game) if key == "observation" else Measured("not measured")

    def _observation(self, game: str) -> Measured:
        """Returns how long our inferred vectors of the observations in the games of a synthesis are."""
        places = self.places(game, "tree")
        if not places:
            return Measured(self.missing(game, "tree"))
        path = places[0].folder / INPUTS / TRAIN_FILE
        samples = [seen for game_ in files.read(path) for step in game_.steps for seen in step.observations]
        source = f"{path.relative_to(self.root)}#observations"
        return Measured("measured", float(vectors.infer(samples).width), unit="numbers", sources=(source,))

    def _actions(self, game: str) -> Measured:
        """Returns how many different actions of players were legal in the recorded games: at least so many exist."""
        places = self.places(game, "tree")
        if not places:
            return Measured(self.missing(game, "tree"))
        path = places[0].folder / INPUTS / TRAIN_FILE
        held_out = places[0].held_out
        read = [path, held_out] if held_out.exists() else [path]
        seen = {action for file in read for action in _legal_actions(file)}
        sources = tuple(str(file.relative_to(self.root)) + "#legal_actions" for file in read)
        return Measured("measured", float(len(seen)), f"≥ {len(seen):,}", unit="actions", sources=sources)


def _part(opponent: Opponent) -> str:
    """Returns which tournament of a synthesis an opponent plays in."""
    return PLAYER if opponent == "llm" else MATCHES


def has_value_function(place: Place) -> bool:
    """Whether a finished synthesis has a model, and beside it a value function."""
    return (place.folder / RUN_SUBFOLDER).exists() and ModelBundle.load(place.folder).value_source is not None


def tally_of(figures: dict[str, Any], kind: str) -> ResultCounts:
    """Returns the counts of one kind of test of an evaluation."""
    names = ResultCounts.__dataclass_fields__
    return ResultCounts(**{name: value for name, value in figures["kinds"][kind].items() if name in names})


def outcome(record: GameRecord, seat: int) -> str:
    """Returns `win`, `loss` or `draw` of a seat in a game of two."""
    own, other = record.returns[seat], record.returns[1 - seat]
    return "win" if own > other else "loss" if own < other else "draw"


def forfeited(record: GameRecord, seat: int) -> bool:
    """Whether a seat forfeited a game."""
    return record.forfeit is not None and record.forfeit.seat == seat


def _rate(
    games: Sequence[Sequence[GameRecord]], holds: Callable[[GameRecord], bool], sources: tuple[str, ...]
) -> Measured:
    estimate = clustered_rate([[float(holds(record)) for record in group] for group in games])
    assert estimate is not None  # callers have games
    return Measured.of(estimate, "matches", sources)


def _count(games: Sequence[GameRecord], seat: int, figure: str, sources: tuple[str, ...]) -> Measured:
    """Returns the small print beside a share: how many of the games with an end there are, and were forfeited."""
    if figure == "draws":
        drawn = sum(outcome(record, seat) == "draw" for record in games)
        return Measured("measured", float(drawn), str(drawn), n=len(games), unit="matches", sources=sources)
    name = figure.removesuffix("_forfeits")
    ended = [record for record in games if outcome(record, seat) == name]
    given_up = sum(record.forfeit is not None for record in ended)
    words = f"{given_up}/{len(ended)}"
    return Measured("measured", float(given_up), words, n=len(games), unit="matches", sources=sources)


def _words(words: str, source: str) -> Measured:
    return Measured("measured", None, words, sources=(source,))


def _legal_actions(path: Path) -> set[str]:
    found: set[str] = set()
    try:
        with path.open(encoding="utf-8") as file:
            for line in file:
                step = json.loads(line)
                if step["player"] > CHANCE:
                    found.update(step["legal_actions"])
    except (OSError, ValueError, KeyError) as error:
        raise UsageError(f"{path} cannot be read ({error}); delete it and run the command again.") from error
    return found
