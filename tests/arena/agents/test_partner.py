import pytest

from arena.agents.partner import partners
from arena.agents.specs import AgentSpecError, parse
from arena.matches import seating, tournament
from arena.matches.plan import TournamentConfig
from arena.matches.store import MemoryStore
from games import registry


def test_a_game_without_partners_has_none():
    assert partners("tic_tac_toe") == {}
    assert set(partners("yokai-9c-2p")) == {"heuristic", "end-at-once", "never-end", "hint-liar"}


def test_partners_play_in_a_tournament():
    agents = (parse("partner:heuristic"), parse("partner:end-at-once,name=quitter"))
    config = tournament.prepare(TournamentConfig("yokai-9c-2p", agents, deals=2, seed=1))
    result = tournament.run(config, MemoryStore())
    assert {record.seats for record in result.records} >= {("partner:heuristic", "quitter"), ("quitter", "quitter")}
    assert all(record.forfeit is None for record in result.records)
    assert {record.length for record in result.records if record.seats[0] == "quitter"} == {1}


@pytest.mark.parametrize(
    ("text", "game", "message"),
    [
        (
            "partner:nobody",
            "yokai-9c-2p",
            "has the partners heuristic, end-at-once, never-end, hint-liar, not 'nobody'",
        ),
        ("partner:heuristic", "tic_tac_toe", "tic_tac_toe has the partners none"),
        ("partner:heuristic,view=memory", "yokai-9c-2p", "partners see the view 'default', not 'memory'"),
    ],
)
def test_a_partner_that_does_not_fit_is_refused(text, game, message):
    with pytest.raises(AgentSpecError, match=message):
        seating.resolve(parse(text), registry.make(game))


def test_a_partner_without_a_name_is_refused():
    with pytest.raises(AgentSpecError, match="names no partner: write partner:NAME"):
        parse("partner")
