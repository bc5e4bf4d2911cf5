"""How language models are shown Hanabi: from told cards alone to exact chances, with and without a memory."""

from collections.abc import Mapping
from functools import partial
from typing import Final

from games.api import DEFAULT_VIEW
from games.hanabi.scaffolds.deductions import deduced
from games.hanabi.scaffolds.facts import values
from games.scaffolds import Role, Scaffold

RECENT: Final = 10
"""Moves that the historian of `watson` is shown; the others are shown all."""

_ROLES: Final = (
    Role("baseline", moves=True),
    Role("rank-first", "role_rank_first", moves=True),
    Role("analyst", "role_analyst"),
    Role("discards", "role_discards"),
    Role("history", "role_history", least_players=3),  # between two players it has done more harm than good
)

SCAFFOLDS: Final[Mapping[str, Scaffold]] = {
    scaffold.name: scaffold
    for scaffold in (
        Scaffold(
            "watson",
            "watson",
            "watson_state",
            partial(values, logged=RECENT),
            view=DEFAULT_VIEW,
            system="watson_system",
            labels=True,
            roles=_ROLES,
        ),
        Scaffold("spin", "spin", "state", values, view="possible", ratings=False, roles=_ROLES),
        Scaffold("spin-told", "spin", "state", values, view=DEFAULT_VIEW, ratings=False, roles=_ROLES),
        Scaffold(
            "spin-told-nodiscard",
            "spin",
            "state",
            partial(values, discards=False),
            view=DEFAULT_VIEW,
            ratings=False,
            roles=_ROLES,
        ),
        Scaffold("sherlock", "sherlock", "state", values, view="possible", roles=_ROLES),
        Scaffold(
            "mycroft",
            "mycroft",
            "mycroft_state",
            values,
            view="bare",
            deduction="deduction",
            deduced=deduced,
            words=120,
            memory=1,
            roles=_ROLES,
        ),
        Scaffold("exact", "exact", "state", values, view="counted", roles=_ROLES),
    )
}
"""By name; the texts are the templates beside this module."""
