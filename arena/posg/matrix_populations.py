"""Populations of a matrix, and the best responses that were trained to them."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from arena.agents import posg
from arena.checkpoints import for_planners, populations
from arena.posg.matrix_methods import RANDOM
from arena.usage import UsageError
from games.posg.api import PosgModel
from search.posg.session import UNIFORM

RESPONSES: Final = "br-s*"
"""Best responses in the folder of a training, as `cwm train posg` names them."""


@dataclass(frozen=True)
class MatrixPopulation:
    """Policies, as a matrix asks for them.

    Attributes:
        name: as written, e.g. `P0` or `H1+H2`.
        members: names of hand-written policies, and folders of trained ones.
        identity: the same, trained ones by their content.
    """

    name: str
    members: tuple[str, ...]
    identity: tuple[str, ...]

    @property
    def file_name(self) -> str:
        """A name for files, made of it."""
        return "".join(letter if letter.isalnum() or letter in "-_" else "-" for letter in Path(self.name).stem)


def read_population(game_id: str, model: PosgModel, name: str) -> MatrixPopulation:
    """Reads `P0`, a file that `cwm posg prune` wrote, or policies joined by `+`.

    Raises:
        UsageError: it has no member, or one that is no policy of the game.
        PlannerConfigError: a file is none of a population of this game, or a trained member changed.
    """
    written = populations.expanded(game_id, [part.strip() for part in name.split("+") if part.strip()])
    members = tuple(dict.fromkeys(UNIFORM if one == RANDOM else one for one in written))  # two names of one policy
    known = [one for one in posg.policies(model) if one != "prior"]
    if not members:
        raise UsageError(f"the population {name!r} has no member: name one, policies joined by +, or another file.")
    wrong = [one for one in members if one not in (*known, RANDOM) and not for_planners.is_checkpoint(one)]
    if wrong:
        shipped = ", ".join(populations.shipped_names(game_id)) or "none"
        raise UsageError(
            f"{game_id} has no population or policy {wrong[0]!r}: populations that ship are {shipped}; policies are "
            f"{', '.join(known)}, {RANDOM}, and folders of trained ones; name several joined by +."
        )
    trained = [one for one in members if for_planners.is_checkpoint(one)]
    hashes = {one: for_planners.content_hash(Path(one)) for one in trained}
    distinct = {hashes.get(one, one): one for one in reversed(members)}  # the first spelling of each
    members = tuple(one for one in members if one in distinct.values())
    return MatrixPopulation(name, members, tuple(hashes.get(one, one) for one in members))


def best_responses(
    method: str, game_id: str, population: MatrixPopulation, folder: Path | None, makes: str
) -> list[str]:
    """Returns the folders of best responses to a population: those of a training, or the one that is named itself.

    Args:
        method: that needs them, in a message.
        game_id: of the game.
        population: that they answer.
        folder: where they are; None: nobody said.
        makes: what makes them, the end of a message.

    Raises:
        UsageError: there are none, or they were trained with others.
        PlannerConfigError: one cannot be read.
    """
    name = population.name
    if folder is None:
        raise UsageError(f"{method} needs a trained best response to {name} of {game_id}: {makes}")
    found = [folder] if for_planners.is_checkpoint(str(folder)) else sorted(folder.glob(RESPONSES))
    found = [place for place in found if for_planners.is_checkpoint(str(place))]
    if not found:
        raise UsageError(f"{folder} holds no best response (br-s0, …) to {name}: {makes}")
    for place in found:
        partners = for_planners.partners_of(place)
        # Trained co-players may lie elsewhere by now, so that names alone of hand-written ones can be compared.
        written = not any(map(for_planners.is_checkpoint, (*partners, *population.members)))
        if partners and written and set(partners) != set(population.members):
            raise UsageError(
                f"{place} is a best response to {'+'.join(partners)}, not to {name} ({'+'.join(population.members)}): "
                "name another folder with the option `trained`."
            )
    return [str(place) for place in found]
