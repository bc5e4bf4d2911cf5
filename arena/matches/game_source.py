"""Opens the game that a match is played on: a registered one, or a synthesised model as its own referee."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from arena.agents.specs import AgentSpec, AgentSpecError
from arena.machine import shipped
from arena.matches.match import NamedDeck
from arena.usage import UsageError
from cwm.model.bundle import ModelBundle, kept_rules
from cwm.model.joint_model import JointWorldModel
from cwm.model.world_model import WorldModel
from cwm.sandbox.parent.host import Sandbox
from cwm.trajectories.telling import Detail
from games import registry
from games.api import Action, DealsNamedDecks, Game, GameInfo
from games.posg.serialised import SerialisedPosg

MODEL_PREFIX = "cwm:"
MOST_NAMED: Final = 10_000
"""So many decks at most are named by a first and a last number."""


@contextmanager
def open_game(game_id: str, model_hash: str | None = None, **params: Any) -> Iterator[Game]:
    """Opens a game by registry id, or `cwm:PLACE`: then the model there decides what is legal and who wins.

    Args:
        game_id: which.
        model_hash: what the model, or the file of a game of the user's own, is expected to be, None for whatever is
            there.
        params: parameters of a registered game.

    Raises:
        UnknownGameError: no game has this id.
        AgentSpecError: no model can be read from the folder, or it is another one.
    """
    if not is_model(game_id):
        if model_hash not in (None, registry.content_hash(game_id)):
            raise AgentSpecError(
                f"The file of the game {game_id} has changed; restore it, or use another folder for the games."
            )
        yield registry.make(game_id, **params)
        return
    bundle = model_of(game_id)
    if model_hash not in (None, bundle.hash):
        raise AgentSpecError(
            f"The model in {str(_folder(game_id))!r} that decides the games has changed (SHA-256 {bundle.hash[:12]}, "
            f"expected {model_hash and model_hash[:12]}); restore it, or use another folder for the games."
        )
    sandbox = Sandbox(level=shipped.level_of([bundle.hash]))
    if bundle.joint:
        with JointWorldModel(bundle, sandbox) as joint:
            yield SerialisedPosg(joint, bundle.game_info.has_chance)
        return
    rules = kept_rules(_folder(game_id), bundle)
    with WorldModel(bundle, sandbox, rules) as model:
        yield model


def game_info(game_id: str, **params: Any) -> GameInfo:
    """Returns what is fixed about a game; starts no worker.

    Raises:
        UnknownGameError: no game has this id.
        AgentSpecError: no model can be read from the folder.
    """
    return model_of(game_id).game_info if is_model(game_id) else registry.make(game_id, **params).info


def rules_text(game_id: str, detail: Detail = "book") -> str:
    """Returns the rules text of a game; of a model, that from which it was written.

    Args:
        game_id: as for `open_game`.
        detail: of a registered game: told as to people, or by the specification.

    Raises:
        UnknownGameError: no game has this id.
        GameError: it has no rules text.
        AgentSpecError: no model can be read from the folder, or nobody kept its rules.
    """
    if not is_model(game_id):
        return registry.told(game_id, detail == "book")
    bundle = model_of(game_id)
    kept = kept_rules(_folder(game_id), bundle)
    if kept is None and not registry.knows(bundle.info["id"]):
        raise AgentSpecError(
            f"Nobody kept the rules text of {bundle.info['id']} beside {_folder(game_id)}: name the folder of the run "
            "in which the model was made."
        )
    return registry.told(bundle.info["id"], detail == "book") if kept is None else kept


def named_decks(game: Game, texts: Sequence[str]) -> tuple[NamedDeck, ...]:
    """Returns the decks that a game is to be dealt.

    Args:
        game: which.
        texts: names, or several names with one beginning, the rest between commas: `hle:1,3`, or from one to another
            number: `hle:1-20`. What has no colon is one name as it stands, such as a deck's own cards.

    Raises:
        UsageError: the game has no decks by name, or a deck is named twice.
        GameError: it has no deck of that name.
    """
    if not isinstance(game, DealsNamedDecks):
        raise UsageError(f"{game.info.id} deals no decks by name, only by seed: leave out the option `deck`.")
    decks = tuple(NamedDeck(name, tuple(game.named_deck(name))) for text in texts for name in _names(text))
    twice = next((deck.name for number, deck in enumerate(decks) if deck.actions in _orders(decks[:number])), None)
    if twice is not None:
        raise UsageError(f"The deck {twice!r} is named twice, and would be dealt once: name each deck once.")
    return decks


def decks_for(game_id: str, texts: Sequence[str]) -> tuple[NamedDeck, ...]:
    """Returns the decks of `named_decks` for a game by its id, () where none is named.

    Raises:
        UsageError: as there, or there is no such game.
        GameError: the game has no deck of that name.
    """
    if not texts:
        return ()
    with open_game(game_id) as game:
        return named_decks(game, texts)


def _orders(decks: Sequence[NamedDeck]) -> set[tuple[Action, ...]]:
    return {deck.actions for deck in decks}


def _names(text: str) -> Iterator[str]:
    prefix, colon, rest = text.strip().partition(":")
    if not colon:
        yield " ".join(text.split())
        return
    for part in rest.split(","):
        first, dash, last = part.strip().partition("-")
        if dash and first.isdecimal() and last.isdecimal() and int(first) <= int(last) < int(first) + MOST_NAMED:
            yield from (f"{prefix}:{number}" for number in range(int(first), int(last) + 1))
        else:
            yield f"{prefix}:{part.strip()}"


def is_model(game_id: str) -> bool:
    """Whether a model decides the game: `cwm:PLACE`, the place a run, a model or a file of `cwm export`."""
    return game_id.startswith(MODEL_PREFIX)


def model_of(game_id: str) -> ModelBundle:
    """Returns the model of `cwm:RUN_OR_BUNDLE`.

    Raises:
        AgentSpecError: there is none, or its files do not belong together.
    """
    return load_bundle(_folder(game_id))


def model_place(game_id: str) -> Path | None:
    """Returns where the model of `cwm:PLACE` lies, None for a game that no model decides."""
    return _folder(game_id) if is_model(game_id) else None


def _folder(game_id: str) -> Path:
    return Path(game_id.removeprefix(MODEL_PREFIX))


def bundle_of(spec: AgentSpec) -> ModelBundle:
    """Reads the model that an agent plays on; errors as for `load_bundle`."""
    return load_bundle(Path(spec.model or ""), f"agent {spec.name!r}: no")


def in_turns(bundle: ModelBundle) -> ModelBundle:
    """Returns a model whose players take turns, for what only such models have.

    Raises:
        AgentSpecError: its program has a joint step.
    """
    if bundle.joint:
        raise AgentSpecError(
            f"The program of {bundle.info['id']} has a joint step, and no players who take turns, which this is for: "
            "play it as cwm:PLACE, or plan on it by an agent cwm:PLACE."
        )
    return bundle


def load_bundle(folder: Path, no: str = "No") -> ModelBundle:
    """Reads the model of a run's or a model's folder.

    Args:
        folder: of the run or the model.
        no: how the sentence begins that there is none.

    Raises:
        AgentSpecError: there is none, or its files do not belong together.
    """
    try:
        return ModelBundle.load(folder)
    except (OSError, ValueError, KeyError) as error:
        raise AgentSpecError(
            f"{no} model can be read from {str(folder)!r} ({error}); give the folder of a finished run."
        ) from error
