"""Runs what the tables need, game by game: syntheses, held-out tests, matches. Everything finished is served from the
folder, so a killed rebuilding goes on where it was."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from arena.machine.user_cache import cache_folder
from arena.matches.plan import TournamentConfig
from arena.papers.cwm.published.games import BY_ID, Variant
from arena.papers.cwm.tables import accuracy, learned, matches, scaling, syntheses
from arena.papers.cwm.tables.matches import Deals
from arena.papers.cwm.tables.measuring import has_value_function
from arena.papers.cwm.tables.places import LEARNED, LEARNED_PLAYER, MATCHES, PLAYER, TEST, WITHOUT_VALUE, Place
from arena.papers.cwm.tables.settings import PaperSelection, PaperWishes, Scale, in_words, read_scale, write_scale
from cwm.llm.api import LanguageModelError
from cwm.llm.caps import Caps
from cwm.model.bundle import RUN_SUBFOLDER
from cwm.synthesis.events import OnEvent, ignore


@dataclass(frozen=True)
class Watching:
    """Who is told how a rebuilding goes on.

    Attributes:
        stage: told in words what begins.
        progress: told what is done, how much of it, and how much there is.
        event: told of what a synthesis does.
    """

    stage: Callable[[str], None] = lambda text: None
    progress: Callable[[str, int, int], None] = lambda what, done, total: None
    event: OnEvent = ignore


@dataclass
class Rebuilding:
    """The runs behind the tables.

    Attributes:
        root: folder.
        asked: what is rebuilt, as stored in it.
        selection: which tables and figures are to be shown.
        caps: for each synthesis and for each tournament with a live language model.
        workers: processes; changes no figure.
        watching: told how it goes.
        unanswered: why a language model gave no answer, one sentence a run; filled as it happens.
        broken: games that could not be played through a fault of ours, one sentence a tournament.
    """

    root: Path
    asked: PaperWishes
    selection: PaperSelection
    caps: Caps = field(default_factory=Caps)
    workers: int = 2
    watching: Watching = field(default_factory=Watching)
    unanswered: list[str] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)

    def run(self) -> None:
        """Runs everything that is missing."""
        for game in self.asked.games:
            places = self._syntheses(game)
            if places:
                self._measure(game, places)

    def _syntheses(self, game: str) -> list[Place]:
        """Makes the models of a game; returns those syntheses that have one."""
        places = []
        for variant in self._variants(game):
            for seed in self.asked.seeds:
                place = Place(self.root, game, variant, seed)
                self._synthesis(place)
                if syntheses.finished(place.folder) and (place.folder / RUN_SUBFOLDER).exists():
                    places.append(place)
        return places

    def _variants(self, game: str) -> list[Variant]:
        found = self.selection.variants(game)
        # The table of the games counts the actions in the games that were recorded for a synthesis.
        return found or (["tree"] if 3 in self.selection.tables else [])

    def _synthesis(self, place: Place) -> None:
        settings = syntheses.settings_of(place.game, place.variant, place.seed, self.asked)
        if settings is None or syntheses.finished(place.folder):
            return
        title = f"{in_words(BY_ID[place.game], place.variant)}, seed {place.seed}"
        self.watching.stage(f"{title}: synthesis")
        try:
            syntheses.run(place, settings, self.caps, self.workers, self.watching.event, self.watching.stage)
        except LanguageModelError as error:
            self.unanswered.append(f"{title}: {error}")

    def _measure(self, game: str, places: list[Place]) -> None:
        needed = [place for place in places if self._tests(place) or self._plays(place) or self._trains(place)]
        if not needed:
            return
        scale = self._scale(game, needed)
        tested = [place for place in needed if self._tests(place)]
        if tested:
            self.watching.stage(f"{BY_ID[game].name}: playing held-out games")
            accuracy.hold_out(
                tested[0].held_out, game, scale.transitions, self.asked.seed, self.workers, cache_folder()
            )
        for place in tested:
            self._test(place)
        for variant in dict.fromkeys(place.variant for place in needed if self._plays(place)):
            if self._unfinished(game, variant):
                # The syntheses of a kind judge each other and share the deals: all of them, or none yet.
                continue
            self._play_all([place for place in needed if place.variant == variant], scale)
        for variant in dict.fromkeys(place.variant for place in needed if self._trains(place)):
            if not self._unfinished(game, variant):
                self._learn([place for place in needed if place.variant == variant], scale)
        for place in tested:
            played = matches.games(place, self.asked.llm is not None)
            told = self._counted(place, "online tests")
            accuracy.measure_online(place, played, self.asked.seed, self.workers, told)

    def _unfinished(self, game: str, variant: Variant) -> bool:
        """Whether a synthesis of a kind is still to come, since its language model gave no answer."""
        places = [Place(self.root, game, variant, seed) for seed in self.asked.seeds]
        return any(
            not syntheses.finished(place.folder) and syntheses.settings_of(game, variant, place.seed, self.asked)
            for place in places
        )

    def _tests(self, place: Place) -> bool:
        return self.selection.tests(place.game, place.variant)

    def _plays(self, place: Place) -> bool:
        return self.selection.plays(place.game, place.variant)

    def _trains(self, place: Place) -> bool:
        return self.selection.trains(place.game, place.variant)

    def _scale(self, game: str, places: list[Place]) -> Scale:
        found = read_scale(self.root, game)
        if found is None:
            self.watching.stage(f"{BY_ID[game].name}: measuring how long a game takes")
            tested = sum(1 + self.selection.draws_curve(game, place.variant) for place in places if self._tests(place))
            played = max(1.0, self._played(places))
            title = f"{BY_ID[game].name}: trial match"
            found = scaling.decide(
                places[0],
                self.asked,
                played,
                max(1, tested),
                self.workers,
                lambda state: self.watching.progress(title, state.done, state.total),
            )
            write_scale(self.root, game, found)
        self.watching.stage(f"{BY_ID[game].name}: {found.words}")
        return found

    def _played(self, places: list[Place]) -> float:
        """Returns how many times the two opponents are met for each deal, other matches counted as so many of these."""
        kinds = [place.variant for place in places if self._plays(place)]
        # Deals are shared among the seeds of a synthesis, so what counts is its kinds.
        tournaments = sum(1 + self.selection.ablates(places[0].game, kind) for kind in set(kinds))
        return tournaments + sum(syntheses.work(places[0].game, kinds.count(kind)) for kind in set(kinds))

    def _test(self, place: Place) -> None:
        self.watching.stage(f"{in_words(BY_ID[place.game], place.variant)}: held-out tests")
        seed, told = self.asked.seed, self._counted(place, "tests")
        accuracy.measure_held_out(place, seed, self.workers, told)
        if accuracy.figures(place.part(TEST)) is None:
            self.broken.append(
                f"{in_words(BY_ID[place.game], place.variant)}: held-out tests broke through a fault of ours"
            )
        if self.selection.draws_curve(place.game, place.variant):
            accuracy.measure_curve(place, seed, self.workers, told)

    def _play_all(self, places: list[Place], scale: Scale) -> None:
        """Plays the syntheses of one kind, but the rejected ones, which share the deals."""
        title = in_words(BY_ID[places[0].game], places[0].variant)
        self.watching.stage(f"{title}: matches")
        chosen = syntheses.choose(
            places,
            scale,
            self.asked.seed,
            self.workers,
            lambda done, total: self.watching.progress(f"{title}: matches among the models,", done, total),
        )
        for place in chosen:
            self._play(place, scale, [other.seed for other in chosen])

    def _play(self, place: Place, scale: Scale, seeds: list[int]) -> None:
        deals = Deals.shared(scale.deals, seeds, place, self.asked.seed)
        self._tournament(place, MATCHES, matches.config(place, scale, self.asked, deals))
        if self.selection.ablates(place.game, place.variant) and has_value_function(place):
            self._tournament(place, WITHOUT_VALUE, matches.config(place, scale, self.asked, deals, value=False))
        if self.asked.llm is not None:
            deals = Deals.shared(self.asked.player_deals, seeds, place, self.asked.seed)
            self._tournament(place, PLAYER, matches.config(place, scale, self.asked, deals, llm=True))

    def _learn(self, places: list[Place], scale: Scale) -> None:
        """Trains agents on the first model of a kind that is not rejected, and plays their matches."""
        rejected = syntheses.rejected(places[0].root, places[0].game, places[0].variant) or []
        place = next((item for item in places if item.seed not in rejected), places[0])
        title = in_words(BY_ID[place.game], place.variant)
        learned.train(
            place,
            self.asked,
            lambda text: self.watching.stage(f"{title}: training, {text}"),
            lambda what, done, total: self.watching.progress(f"{title}: {what}", done, total),
        )
        deals = Deals.shared(scale.deals, [place.seed], place, self.asked.seed)
        self._tournament(place, LEARNED, learned.config(place, scale, self.asked, deals))
        if self.asked.llm is not None:
            deals = Deals.shared(self.asked.player_deals, [place.seed], place, self.asked.seed)
            self._tournament(place, LEARNED_PLAYER, learned.config(place, scale, self.asked, deals, llm=True))

    def _tournament(self, place: Place, part: str, prepared: TournamentConfig) -> None:
        name = BY_ID[place.game].name
        try:
            result = matches.play(
                place.part(part),
                prepared,
                self.workers,
                lambda state: self.watching.progress(f"{name}: match", state.done, state.total),
                self.caps,
            )
        except LanguageModelError as error:
            self.unanswered.append(f"{name}, matches: {error}")
            return
        if result.stopped is not None:
            self.unanswered.append(f"{name}, matches: {result.stopped}")
        elif result.missing:
            cause = next((messages[-1] for messages in result.missing.values() if messages), "unknown")
            self.broken.append(f"{name}: {len(result.missing)} matches could not be played ({cause})")

    def _counted(self, place: Place, what: str) -> Callable[[int, int], None]:
        title = f"{BY_ID[place.game].name}: {what}"
        return lambda done, total: self.watching.progress(title, done, total)
