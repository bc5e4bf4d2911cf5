"""Held-out games: fresh ones of the true game, as many as a model's evaluation wants, and how they end."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import islice
from pathlib import Path

from arena.evaluation import held_out
from arena.evaluation.mixture import collect_mixed, scripted_mixture
from arena.runs.inputs import Inputs
from arena.runs.settings import RunSettings
from cwm.trajectories.packed import PackedGames
from cwm.trajectories.recorded import Trajectory, game_seed
from games.api import TERMINAL, Game, NamesEnds, ReportsOutcome

TEST_BATCH = 20
"""Held-out games are played in batches of so many until there are enough transitions."""
TEST_SEED_OFFSET = 1_000_003
"""Held-out games have seeds of their own: no training game is among them."""
MIN_ENDS = 200
"""In a cooperative game the held-out games hold at least so many wins and so many losses, or of each end it names."""
MIN_KIND = 50
"""And of each kind, early and at full length, at least so many; so many forced moves too."""
MAX_TEST_GAMES = 5_000
RARE_SEED_OFFSET = 2_000_003
"""Games that are played for the sake of their ends have seeds of their own."""
FORCED = "forced moves"


def held_out_games(
    inputs: Inputs, settings: RunSettings, workers: int = 1, kept: Path | None = None
) -> Sequence[Trajectory]:
    """Returns the held-out games: a user's own, or games of the standard mixture of players on the reference game.

    Enough are played for `test_transitions` transitions and, in cooperative games, `MIN_ENDS` wins and losses. Where a
    game names its ends (`NamesEnds`), scripted players then play on, and what comes to an end that there is not enough
    of is kept, up to `MIN_ENDS` of each.

    Args:
        inputs: of the run.
        settings: of the run.
        workers: processes that play; changes no game.
        kept: folder of the user's cache, where games by searching players are kept; None for nowhere.

    Raises:
        WorkerDiedError: a process that plays ended.
    """
    if inputs.game is None:
        return inputs.held_out
    wanted = _Wanted(inputs.game, settings.test_transitions)
    games = PackedGames()
    with closing(held_out.play(inputs.game, game_seed(settings.seed, TEST_SEED_OFFSET), workers, kept)) as played:
        while not wanted.met and len(games) < MAX_TEST_GAMES:
            for trajectory in islice(played, TEST_BATCH):
                games.add(trajectory)
                wanted.add(trajectory)
    if isinstance(inputs.game, NamesEnds) and settings.test_transitions >= MIN_ENDS:
        for trajectory in _of_ends(inputs.game, game_seed(settings.seed, RARE_SEED_OFFSET), ends(games, inputs.game)):
            games.add(replace(trajectory, index=len(games)))
    return games


def _of_ends(game: Game, seed: int, counts: Mapping[str, int]) -> Iterator[Trajectory]:
    """Yields scripted players' games that come to an end of which there are fewer than `MIN_ENDS`.

    The script plays next that has played the fewest games for nothing, of these the one with the fewest games.
    """
    assert isinstance(game, NamesEnds)
    missing = {end: MIN_ENDS - counts.get(end, 0) for end in game.ends}
    scripts = scripted_mixture(game)
    vain, played = [0] * len(scripts), [0] * len(scripts)
    for number in range(MAX_TEST_GAMES if scripts else 0):
        if max(missing.values()) <= 0:
            return
        chosen = min(range(len(scripts)), key=lambda script: (vain[script], played[script]))
        (trajectory,) = collect_mixed(game, 1, seed, [scripts[chosen]], number)
        end = _end(trajectory, game)
        wanted = missing.get(end, 0) > 0
        played[chosen] += 1
        vain[chosen] += not wanted
        if wanted:
            missing[end] -= 1
            yield trajectory


def ends(games: Iterable[Trajectory], game: Game | None) -> dict[str, int]:
    """Counts how games ended, and how often a player had a single legal action.

    Args:
        games: recorded games.
        game: the reference game; where it says what an end means (`ReportsOutcome`), that is counted, else the sign of
            the first player's return.
    """
    counts: Counter[str] = Counter()
    for trajectory in games:
        _count_end(counts, trajectory, game)
    return dict(sorted(counts.items()))


def _count_end(counts: Counter[str], trajectory: Trajectory, game: Game | None) -> None:
    counts[_end(trajectory, game)] += 1
    counts[FORCED] += sum(step.player >= 0 and len(step.legal_actions) == 1 for step in trajectory.steps)


def _end(trajectory: Trajectory, game: Game | None) -> str:
    last = trajectory.steps[-1]
    if last.player != TERMINAL:
        return "not finished"
    if isinstance(game, ReportsOutcome) and trajectory.seat is None:
        # Played anew: what a record says of a state is not what the game itself holds, as where words are scrambled.
        state = game.initial_state()
        for step in trajectory.steps:
            state = state if step.action is None else game.apply_action(state, step.action)
        if isinstance(game, NamesEnds):
            return game.end(state)
        outcome = game.outcome(state)
        return f"{'won' if outcome['won'] else 'lost'} {'early' if outcome['ended_early'] else 'at full length'}"
    first = trajectory.returns[trajectory.seat or 0]
    who = "first player" if trajectory.seat is None else "recorded player"
    return f"{who} gains" if first > 0 else f"{who} loses" if first < 0 else f"{who} breaks even"


class _Wanted:
    """Counts what held-out games hold, until it is enough."""

    def __init__(self, game: Game, transitions: int) -> None:
        self._game = game
        self._wanted = transitions
        self._transitions = 0
        self._counts: Counter[str] = Counter()

    def add(self, trajectory: Trajectory) -> None:
        self._transitions += len(trajectory.steps) - 1
        _count_end(self._counts, trajectory, self._game)

    @property
    def met(self) -> bool:
        if self._transitions < self._wanted:
            return False
        named = isinstance(self._game, NamesEnds)
        if named or not isinstance(self._game, ReportsOutcome) or self._wanted < MIN_ENDS:
            return True
        counts = self._counts
        won, lost = ([counts[f"{end} {when}"] for when in ("early", "at full length")] for end in ("won", "lost"))
        return sum(won) >= MIN_ENDS and sum(lost) >= MIN_ENDS and min(*won, *lost, counts[FORCED]) >= MIN_KIND
