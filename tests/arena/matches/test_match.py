import json
from typing import Any

import pytest

from arena.agents.api import AgentFailure, InfrastructureError, Move, Needs, RandomAgent, ScriptedAgent, Turn
from arena.matches.match import Forfeit, GameRecord, forfeit_returns, play
from games.api import GameError, GameInfo


def scripts(*lines: str) -> list[ScriptedAgent]:
    return [ScriptedAgent(line.split()) for line in lines]


def test_true_game_keeps_the_score(pair: Any) -> None:
    found = play(pair, scripts("red", "red"), 0, [1, 2])
    assert found.returns == found.paid == (4.0, 4.0)
    assert found.actions == ((0, "red"), (1, "red"))
    assert found.length == 2
    assert found.forfeit is None
    assert found.outcome == {"won": True, "ended_early": False, "score": 4.0, "paid": 4.0}


def test_length_does_not_count_chance(high_card: Any) -> None:
    found = play(high_card, scripts("again keep", "done"), 5, [1, 2])
    assert [player for player, _ in found.actions] == [-1, 0, 0, -1, 1]
    assert found.length == 3


def test_cards_do_not_depend_on_what_players_do_between_the_deals(high_card: Any) -> None:
    for seed in range(20):
        short = play(high_card, scripts("keep", "done"), seed, [1, 2])
        long = play(high_card, scripts("again keep", "done"), seed, [3, 4])
        assert [a for p, a in short.actions if p == -1] == [a for p, a in long.actions if p == -1]


def test_chance_plays_every_outcome(high_card: Any) -> None:
    drawn = {play(high_card, scripts("keep", "done"), seed, [0, 0]).actions[0][1] for seed in range(100)}
    assert drawn == {str(card) for card in range(10)}


def test_agent_sees_its_own_view_and_history_alone(high_card: Any) -> None:
    first, second = scripts("again keep", "done")
    found = play(high_card, [first, second], 3, [1, 2])
    card = int(found.actions[0][1])
    assert first.turns[1].history == (
        ({"own card": card, "said": []}, "again"),
        ({"own card": card, "said": ["again"]}, None),
    )
    assert second.turns[0].observation == {"own card": int(found.actions[3][1]), "said": ["again", "keep"]}
    assert first.turns[0].state is None


def test_agent_is_served_the_view_that_it_declares(pair: Any) -> None:
    quiet, loud = ScriptedAgent(["red"]), ScriptedAgent(["red"], view="loud")
    play(pair, [quiet, loud], 0, [1, 2])
    assert quiet.turns[0].observation == {"said": []}
    assert loud.turns[0].observation == {"said": ["red"], "view": "loud"}


def test_unknown_view_is_an_error_of_the_caller(pair: Any) -> None:
    with pytest.raises(GameError, match="'dark'"):
        play(pair, [ScriptedAgent(["red"], view="dark"), RandomAgent()], 0, [1, 2])


def test_state_is_given_to_an_agent_that_needs_it_where_nothing_is_hidden(pair: Any, high_card: Any) -> None:
    class Looker(ScriptedAgent):
        needs = Needs(state="native", legal_actions=True, rendering=True)

    agent = Looker(["red"])
    play(pair, [agent, RandomAgent()], 0, [1, 2])
    assert agent.turns[0].state == {"said": []}
    assert agent.turns[0].legal_actions == ("red", "blue", "end")
    assert agent.turns[0].rendering == "table of 0: "
    hidden = Looker(["keep"])
    play(high_card, [hidden, RandomAgent()], 0, [1, 2])
    assert hidden.turns[0].state is None


def test_illegal_action_forfeits_and_names_what_was_legal(high_card: Any) -> None:
    found = play(high_card, scripts("sing", "done"), 0, [1, 2])
    assert found.forfeit == Forfeit(0, "illegal", "'sing' is not among the 2: keep, again")
    assert found.returns == (-1.0, 1.0)
    assert found.paid == (0.0, 0.0)
    assert found.outcome is None


@pytest.mark.parametrize("kind", ["illegal", "unparsable", "empty", "truncated", "timeout", "crash"])
def test_failure_forfeits_with_its_kind(pair: Any, kind: Any) -> None:
    found = play(pair, [*scripts("red"), ScriptedAgent([AgentFailure(kind, "why")])], 0, [1, 2])
    assert found.forfeit == Forfeit(1, kind, "why")
    assert found.returns == (-2.0, -2.0)


def test_program_that_cannot_be_loaded_forfeits(pair: Any) -> None:
    class Broken(ScriptedAgent):
        def start(self, info: GameInfo, seat: int, seed: int) -> None:
            raise AgentFailure("crash", "SyntaxError")

    assert play(pair, [RandomAgent(), Broken([])], 0, [1, 2]).forfeit == Forfeit(1, "crash", "SyntaxError")


def test_fault_of_ours_scores_nothing_and_closes_all_agents(pair: Any) -> None:
    closed = []

    class Closing(ScriptedAgent):
        def close(self) -> None:
            closed.append(self.name)

    agents = [Closing([InfrastructureError("pipe")], name="a"), Closing([], name="b")]
    with pytest.raises(InfrastructureError, match="pipe"):
        play(pair, agents, 0, [1, 2])
    assert closed == ["a", "b"]


@pytest.mark.parametrize(
    ("utility", "players", "bounds", "expected"),
    [
        ("win_loss_draw", 2, (-1.0, 1.0), [1.0, -1.0]),
        ("zero_sum", 2, (-13.0, 13.0), [13.0, -13.0]),
        ("zero_sum", 3, (-12.0, 24.0), [6.0, -12.0, 6.0]),
        ("general_sum", 2, (0.0, 10.0), [3.0, 0.0]),
        ("identical", 2, (-7.0, 20.0), [-7.0, -7.0]),
    ],
)
def test_forfeit_is_scored_by_the_kind_of_game(
    pair: Any, utility: Any, players: int, bounds: tuple[float, float], expected: list[float]
) -> None:
    names = tuple(str(number) for number in range(players))
    pair.info = GameInfo("toy", players, utility, *bounds, False, False, names)
    assert forfeit_returns(pair, 1, [3.0] * players) == expected


def test_same_seeds_give_the_same_game(high_card: Any) -> None:
    def once() -> dict[str, Any]:
        data = play(high_card, [RandomAgent(), RandomAgent()], 7, [1, 2]).to_json()
        del data["seconds"]
        return data

    assert once() == once()


def test_moves_of_one_game_have_different_seeds(high_card: Any) -> None:
    first, second = scripts("again keep", "done")
    play(high_card, [first, second], 0, [1, 1])
    assert len({turn.seed for turn in first.turns}) == 2


def test_fallbacks_and_model_errors_are_counted_by_seat(high_card: Any) -> None:
    class Falling(ScriptedAgent):
        def act(self, turn: Turn) -> Move:
            move = super().act(turn)
            return Move(move.action, "no belief", {"KeyError: 'x'": 2})

    found = play(high_card, [Falling(["again", "keep"]), *scripts("done")], 0, [1, 2])
    assert found.fallbacks == ({"no belief": 2}, {})
    assert found.model_errors == ({"KeyError: 'x'": 4}, {})
    assert [len(row) for row in found.seconds] == [2, 1]


def test_record_survives_json(high_card: Any) -> None:
    found = play(high_card, scripts("sing", "done"), 0, [1, 2], sandbox="process")
    assert GameRecord.from_json(json.loads(json.dumps(found.to_json()))) == found


def test_wrong_number_of_agents_is_refused(pair: Any) -> None:
    with pytest.raises(GameError, match="seats 2 players, not 1"):
        play(pair, [RandomAgent()], 0, [1])


@pytest.mark.parametrize(
    ("outcome", "score"),
    [
        ({"won": True, "ended_early": True, "score": 9.0}, 9.0),
        ({"won": False, "ended_early": True, "score": 9.0}, 0.0),
        (None, 0.0),
    ],
)
def test_a_game_that_is_lost_or_forfeited_scores_nothing(record: Any, outcome: Any, score: float) -> None:
    assert record("a b", [-2.0, -2.0], outcome=outcome).won_score == score


class Thinker(ScriptedAgent):
    """Says what it considered where it is asked to."""

    def act(self, turn: Turn) -> Move:
        move = super().act(turn)
        return Move(move.action, thought={"moves": [{"action": move.action, "visits": 3}]} if turn.explain else None)


def test_what_was_considered_is_kept_where_it_is_asked_for_and_changes_nothing_else(high_card: Any) -> None:
    plain, told = (
        play(high_card, [Thinker(["again", "keep"]), ScriptedAgent(["done"])], 5, [1, 2], explain=explain)
        for explain in (False, True)
    )
    assert told.thoughts == {
        "1": {"moves": [{"action": "again", "visits": 3}]},
        "2": {"moves": [{"action": "keep", "visits": 3}]},
    }
    assert "thoughts" not in plain.to_json()
    data = told.to_json()
    assert GameRecord.from_json(json.loads(json.dumps(data))).thoughts == told.thoughts
    del data["thoughts"]
    assert data | {"seconds": 0} == plain.to_json() | {"seconds": 0}
