"""What a synthesis starts from: rules, recorded games and, where there is one, the reference game."""

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Final, TypeGuard

from arena.runs.how_told import BY_BOOK, HowTold
from arena.runs.settings import RunSettings
from arena.usage import UsageError
from cwm.interface import templates
from cwm.model.bundle import ModelBundle, ModelBundleError
from cwm.storage.files import write_whole
from cwm.suite import contract
from cwm.suite.contract import DEFAULT_OPTIONS, ContractOptions, Pair
from cwm.trajectories import files
from cwm.trajectories.recorded import Deck, Trajectory, collect, game_seed, play, random_policy, write
from cwm.trajectories.telling import UNNAMED, Telling
from games import registry
from games.api import Game, GameInfo, Json, ResamplesHistory, state_to_json
from games.posg.api import PosgInfo, PosgModel
from games.posg.serialised import SerialisedPosg
from games.scripted import scripted

RULES_FILE = "rules.md"
TRAIN_FILE = "train.jsonl"
TEST_FILE = "held-out.jsonl"
INFO_FILE = "info.json"
BEGUN = "begun"
BOUNDS_KNOWN = "bounds_known"
"""In the file of what is known of a game: whether its bounds were given, not read off the recorded games."""


@dataclass(frozen=True)
class Inputs:
    """What the model is written from.

    Attributes:
        rules: text.
        info: players, payoffs, information.
        initial_state: as JSON, the same in every game.
        train: games for unit tests.
        held_out: a user's own games that are kept for the test; () for registered games, whose test games are played.
        game: the reference game, as it is recorded: some are broken off earlier; None for a user's own.
        begun: the model that the synthesis goes on from; None to begin with none.
        telling: what the model is told beside rules and games.
        joint: the true rules of a game of simultaneous moves whose program has a joint step; None where nobody has
            them, and for a program whose players take turns.
        joint_info: what is fixed about that game, with its true rules or without; None for a program in turns.
    """

    rules: str
    info: GameInfo
    initial_state: Json
    train: tuple[Trajectory, ...]
    held_out: tuple[Trajectory, ...]
    game: Game | None
    begun: ModelBundle | None = None
    telling: Telling = UNNAMED
    joint: PosgModel | None = None
    joint_info: PosgInfo | None = None

    @property
    def in_turns(self) -> Game | None:
        """The reference game, where the program's states and actions are its own; None where nothing is known of them,
        as of programs with a joint step."""
        return None if self.joint_info is not None else self.game


def registered(
    game_id: str,
    games: int,
    seed: int,
    told: bool = True,
    how: HowTold = BY_BOOK,
    deck: Deck = "open",
    joint: bool = False,
) -> Inputs:
    """Plays random games of a registered game.

    Args:
        game_id: registry id.
        games: how many.
        seed: of the games.
        told: whether its rules text is given; else a notice that there is none stands in its place.
        how: by which text, and what beside it.
        deck: in the closed deck, told by the rule book, nothing is known of states, the first one included.
        joint: whether the program is to have a joint step.

    Raises:
        UnknownGameError: no game has this id.
        UsageError: a joint step is asked for where players take turns.
    """
    game, recorded = how.make(game_id), how.recorded(game_id)
    train = tuple(lessons(recorded, games, seed))
    if joint:
        rules = how.rules(game_id, joint) if told else no_rules()
        return replace(with_joint_step(rules, game, train, how, game_id), game=recorded)
    telling = how.telling(game_id, train, deck)
    rules = how.rules(game_id) if told else no_rules()
    return Inputs(rules, game.info, _first_state(game, how, deck), train, (), recorded, telling=telling)


def lessons(game: Game, games: int, seed: int) -> list[Trajectory]:
    """Plays games to learn from; game i depends on (seed, i) alone.

    Args:
        game: as it is recorded.
        games: how many. All are random, but for games that are recorded in a way of their own: there random players
            and each of the scripted ones take turns.
        seed: of the games.

    Raises:
        EndlessGameError: a game did not end.
    """
    if not registry.knows(game.info.id) or not registry.describe(game.info.id).recorded:
        return collect(game, games, seed)
    policies = [random_policy, *scripted(game.info.id).values()]
    return [
        play(game, [policies[index % len(policies)]] * game.info.num_players, game_seed(seed, index), index)
        for index in range(games)
    ]


def with_joint_step(rules: str, game: Game, train: Sequence[Trajectory], how: HowTold, game_id: str) -> Inputs:
    """Returns the inputs of a program with a joint step.

    Raises:
        UsageError: the game's players take turns.
    """
    if not is_simultaneous(game):
        raise UsageError(f"The players of {game.info.id} take turns: a program of it has no joint step.")
    telling = how.telling(game_id, train, joint=True)
    model = game.model
    return Inputs(rules, game.info, None, tuple(train), (), game, telling=telling, joint=model, joint_info=model.info)


def is_simultaneous(game: Game) -> TypeGuard[SerialisedPosg]:
    """Tells whether a game is one of simultaneous moves, whose programs have a joint step."""
    return isinstance(game, SerialisedPosg)


def played(settings: RunSettings) -> Inputs:
    """Plays the random games of a run on a registered game; errors as for `registered`."""
    return registered(
        settings.game,
        settings.train_games,
        settings.seed,
        settings.told,
        settings.how_told,
        settings.deck,
        settings.joint,
    )


def _first_state(game: Game, how: HowTold, deck: Deck) -> Json:
    """Returns what the program is given as its first state."""
    if how.by_book and deck == "closed":
        return {}
    return state_to_json(game, game.initial_state())


def no_rules() -> str:
    """Returns what a prompt says in the place of rules that nobody tells."""
    return templates.render("no_rules")


_LONG: Final = 5_000
"""Words of a rule book that are many: five times those of the longest that ships."""
_ENGLISH: Final = frozenset(
    {"a", "an", "and", "are", "each", "if", "in", "is", "it", "not", "of", "on", "one", "or", "that", "the", "to"}
)
_LEAST_ENGLISH: Final = 0.15
"""Share of these words among all: a quarter to a half of an English text, next to none of one in another language."""
_JUDGED: Final = 20


def remarks(inputs: Inputs, prompt_tokens: int) -> list[str]:
    """Returns what a user should know of the rules before anybody is paid to read them, in sentences.

    Args:
        inputs: of the run.
        prompt_tokens: of the first prompt, as estimated.
    """
    words = inputs.rules.lower().split()
    told = []
    if len(words) > _LONG:
        told.append(
            f"The rules have {len(words):,} words: the language model must take prompts of {prompt_tokens:,} tokens "
            "and more, each of them paid for, and follows long texts less well. Leave out what is not needed."
        )
    english = sum(word.strip(".,;:()!?") in _ENGLISH for word in words)
    if len(words) >= _JUDGED and english < _LEAST_ENGLISH * len(words):
        told.append(
            "The rules do not look like English. They are sent as they are, within a prompt in English: the language "
            "model must read both."
        )
    if inputs.game is None:
        told.append(
            "Where the rules and the played games contradict each other, the games decide: programs are tested on "
            "them, and a refinement shows what they expect."
        )
    return told


@dataclass(frozen=True)
class Stated:
    """What a user says of their own game; None: read it off the recorded games.

    Attributes:
        perfect_information: whether every player sees everything.
        min_utility: lower bound of a player's return.
        max_utility: upper bound.
    """

    perfect_information: bool | None = None
    min_utility: float | None = None
    max_utility: float | None = None

    def info(self, games: Sequence[Trajectory], deck: Deck = "open") -> GameInfo:
        """Returns what is fixed about the game.

        Args:
            games: recorded games.
            deck: in the closed deck they may lack their states.

        Raises:
            UsageError: the bounds are the wrong way round or no finite numbers, or a recorded game passes them.
        """
        info = files.infer_info(games, self.perfect_information, deck)
        low = info.min_utility if self.min_utility is None else self.min_utility
        high = info.max_utility if self.max_utility is None else self.max_utility
        returns = [value for trajectory in games for value in files.known_returns(trajectory)]
        if not -math.inf < low < high < math.inf or min(returns) < low or max(returns) > high:
            raise UsageError(
                f"The bounds {low:g} to {high:g} do not hold the returns of the recorded games, {min(returns):g} to "
                f"{max(returns):g}; give finite numbers around them by the options `min_utility` and "
                "`max_utility`."
            )
        return replace(info, min_utility=low, max_utility=high)


def own(
    rules: Path | None,
    trajectories: Path,
    held_out: int | None,
    stated: Stated,
    deck: Deck = "open",
    how: HowTold = BY_BOOK,
) -> Inputs:
    """Reads the rules and the games of a user's own game.

    Args:
        rules: text file; None where nobody tells the rules.
        trajectories: JSON lines.
        held_out: how many games, the last ones, are kept for the test; None for a fifth of them, at least one.
        stated: what the user says of the game.
        deck: in the closed deck the games may lack their states; then every game starts from the state {}.
        how: by which text, and what beside it.

    Raises:
        UsageError: the rules cannot be read, or no game would be left to learn from.
        TrajectoryFormatError: the trajectories break the schema.
    """
    text = no_rules() if rules is None else _rules_text(rules)
    games = files.read(trajectories, deck)
    kept = (len(games) // 5 or int(len(games) > 1)) if held_out is None else held_out
    if not 0 <= kept < len(games):
        raise UsageError(f"{kept} of {len(games)} games would be held out; at least one must be left to learn from.")
    info = stated.info(games, deck)
    split = len(games) - kept
    initial = _own_first_state(games[0], how, deck)
    bounds_known = stated.min_utility is not None and stated.max_utility is not None
    telling = how.telling(None, games[:split], deck, bounds_known)
    return Inputs(text, info, initial, tuple(games[:split]), tuple(games[split:]), None, telling=telling)


def _own_first_state(game: Trajectory, how: HowTold, deck: Deck) -> Json:
    # A file whose later states are missing says by its first one what everybody knows at the start.
    whole = any(step.state is not None for step in game.steps[1:])
    return {} if whole and how.by_book and deck == "closed" else game.steps[0].state or {}


def _rules_text(rules: Path) -> str:
    try:
        text = rules.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"The rules {rules} cannot be read ({error}); give a text file in UTF-8.") from error
    if not text.strip():
        raise UsageError(f"The rules {rules} are empty; describe the game in words, or give the option `no_rules`.")
    return text


def store(folder: Path, inputs: Inputs) -> None:
    """Writes the inputs into a run's folder, unless they are there; what was read off the games is stated then."""
    folder.mkdir(parents=True, exist_ok=True)
    if (folder / INFO_FILE).exists():
        return
    write_whole(folder / RULES_FILE, inputs.rules)
    write(folder / TRAIN_FILE, inputs.train)
    if inputs.held_out:
        write(folder / TEST_FILE, inputs.held_out)
    if inputs.begun is not None:
        inputs.begun.save(folder / BEGUN)
    info = inputs.info
    stated = Stated(info.perfect_information, info.min_utility, info.max_utility)
    known = {BOUNDS_KNOWN: True} if inputs.game is None and inputs.telling.bounds_known else {}
    write_whole(folder / INFO_FILE, json.dumps(asdict(stated) | known) + "\n")


def load(folder: Path, settings: RunSettings) -> Inputs:
    """Reads the inputs that a run stored.

    Raises:
        UsageError: one of the files is missing.
        TrajectoryFormatError: the recorded games were changed.
    """
    try:
        rules = (folder / RULES_FILE).read_text(encoding="utf-8")
        known = json.loads((folder / INFO_FILE).read_text(encoding="utf-8"))
        # Those of a user's own game are otherwise those of the few recorded games: others may pay more.
        bounds_known = bool(known.pop(BOUNDS_KNOWN, settings.registered))
        stated = Stated(**known)
    except (OSError, ValueError, TypeError) as error:
        raise UsageError(
            f"The inputs of the run in {folder} cannot be read ({error}); restore them from a copy."
        ) from error
    how, deck = settings.how_told, settings.deck
    train = files.read(folder / TRAIN_FILE, deck)
    held_out = files.read(folder / TEST_FILE, settings.deck) if (folder / TEST_FILE).exists() else []
    begun = _begun(folder, settings)
    if settings.registered:
        game, recorded = how.make(settings.game), how.recorded(settings.game)
        if settings.joint:
            return replace(with_joint_step(rules, game, train, how, settings.game), game=recorded, begun=begun)
        telling = how.telling(settings.game, train, deck)
        return Inputs(rules, game.info, _first_state(game, how, deck), tuple(train), (), recorded, begun, telling)
    info = stated.info([*train, *held_out], deck)
    initial = _own_first_state(train[0], how, deck)
    telling = how.telling(None, train, deck, bounds_known)
    return Inputs(rules, info, initial, tuple(train), tuple(held_out), None, begun, telling)


def _begun(folder: Path, settings: RunSettings) -> ModelBundle | None:
    if settings.begun is None:
        return None
    try:
        bundle = ModelBundle.load(folder / BEGUN)
    except (OSError, ModelBundleError) as error:
        raise UsageError(f"The model that the run goes on from cannot be read ({error}); restore it.") from error
    if bundle.hash != settings.begun:
        raise UsageError(f"The model in {folder / BEGUN} is not the one that the run went on from; restore it.")
    return bundle


def hidden_pairs(
    game: Game | None, games: Sequence[Trajectory], options: ContractOptions = DEFAULT_OPTIONS
) -> list[Pair]:
    """Returns histories of recorded games that one player cannot tell apart, [] where no reference game says which.

    Args:
        game: the reference game.
        games: recorded ones.
        options: how many pairs, and the seed.
    """
    if game is None or game.info.perfect_information or not isinstance(game, ResamplesHistory):
        return []
    return contract.hidden_pairs(games, game, options)
