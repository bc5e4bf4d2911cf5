"""Which of several answers to the same question is played. Only a move that an answer chose can be."""

from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import fmean

from arena.language_players.scaffolds.prompts import Proposal
from arena.language_players.scaffolds.reading import Reading
from arena.language_players.turn_record import Rating
from games.api import Action


def proposals(answers: Sequence[Reading]) -> list[Proposal]:
    """Returns the moves that answers chose, each once, in the order in which they were named first."""
    counts = Counter(answer.action for answer in answers)
    return [
        Proposal(
            action,
            count,
            tuple(answer.reason for answer in answers if answer.action == action and answer.reason is not None),
        )
        for action, count in counts.items()
    ]


def by_votes(among: Sequence[Proposal]) -> Action:
    """Returns the move that most answers chose; of several the one named first."""
    return max(among, key=lambda proposal: proposal.count).action


def by_rating(among: Sequence[Proposal], ratings: Sequence[Sequence[Rating]]) -> Action:
    """Returns the proposed move with the highest mean rating; of several the one chosen most often, then named first.

    Args:
        among: what was proposed.
        ratings: of every answer. A move that none of them rates comes last.
    """
    tables = [dict(answer) for answer in ratings]

    def worth(proposal: Proposal) -> tuple[float, int]:
        given = [rating for table in tables if (rating := table.get(proposal.action)) is not None]
        return fmean(given) if given else -2.0, proposal.count

    return max(among, key=worth).action


def by_value(among: Sequence[Proposal], values: Mapping[Action, float]) -> Action:
    """Returns the proposed move that is worth most; of several the one chosen most often, then named first."""
    return max(among, key=lambda proposal: (values[proposal.action], proposal.count)).action
