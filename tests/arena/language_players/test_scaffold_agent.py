"""A language model that plays by a scaffold: whole games, several answers, roles, memory, and what is kept."""

import json
import random
import re
import threading
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from arena.agents.api import AgentFailure, Move, NoAnswerError, Turn
from arena.agents.llm_settings import LlmConfig, LlmConfigError
from arena.language_players.scaffolds import found
from arena.language_players.scaffolds.agent import ScaffoldAgent
from arena.language_players.scaffolds.prompts import ScaffoldPrompts
from arena.language_players.turn_record import TurnRecord, decisions
from arena.matches import match, replay
from arena.matches.match import GameRecord
from cwm.llm.api import BudgetExceededError, Completion, LanguageModelError, Request
from cwm.llm.providers.scripted import Answer, Answers, Scripted
from cwm.llm.requests import request_key
from games import registry
from games.api import DEFAULT_VIEW
from games.hanabi.scaffolds import SCAFFOLDS
from search.errors import SearchFailedError
from tests.renew_scaffolds import prompts_of, shown, turn_of

MINI = "hanabi-mini-2p"
LEGAL = ("x(0,0)", "x(0,1)", "x(2,2)")
TURN = Turn(0, (({"board": []}, None),), None, LEGAL, None, seed=7)
HANDS = {"you": [{"colours": "RYG", "ranks": "123"}] * 3, "player+1": [{"colours": "RYG", "ranks": "123"}] * 3}


def agents(game_id: str, model: Scripted, count: int = 0, **options: Any) -> list[ScaffoldAgent]:
    game = registry.make(game_id)
    config = LlmConfig(**{"scaffold": "rated", **options})
    view = found.check(config, game, DEFAULT_VIEW)
    return [
        ScaffoldAgent(ScaffoldPrompts(game.info, found.offered(config, game, view)), model, config, f"m{seat}", view)
        for seat in range(count or game.info.num_players)
    ]


def asked_of(answers: Answers, **options: Any) -> tuple[ScaffoldAgent, Scripted]:
    script = Scripted(answers)
    return agents("tic_tac_toe", script, 1, trajectories=0, **options)[0], script


def turns(agent: ScaffoldAgent) -> list[TurnRecord]:
    return [TurnRecord.from_json(data) for data in agent.account()["turns"]]


def rates(move: int, reason: str = "so", **ratings: float) -> str:
    return json.dumps({"ratings": ratings, "reason": reason, "action": move})


def by_role(**answers: Answer) -> Callable[[Request], Answer]:
    """Answers by the last word of the purpose, which names the role."""
    return lambda request: answers[request.purpose.split()[-1]]


def any_player(request: Request) -> str:
    """Answers in the form that a question asks for, with a legal move drawn by the question."""
    text = request.messages[-1].text
    asked = text.split("# Your turn now")[-1]
    legal = len(re.findall(r"^\d+\. `", asked, re.MULTILINE))
    move = random.Random(f"{request.seed} {text}").randrange(legal)
    if '"proposal": NUMBER' in text:
        return '{"proposal": 1}'
    if "Chosen move:" in text:
        return f"Reason: so\nRatings: Move {move}: 0.5\nChosen move: {move}"
    if '"action": NUMBER' in text:
        return json.dumps({"ratings": {str(move): 1}, "deduction": HANDS, "reason": "so", "action": move})
    return "a report"


def whole_game(game_id: str, **options: Any) -> tuple[GameRecord, Scripted]:
    model = Scripted(any_player)
    game = registry.make(game_id)
    record = match.play(game, agents(game_id, model, **options), 5, range(game.info.num_players))
    replay.verify(game, GameRecord.from_json(json.loads(json.dumps(record.to_json()))))
    return record, model


# Whole games.


@pytest.mark.parametrize("name", SCAFFOLDS)
def test_a_scripted_model_plays_whole_games_by_every_scaffold(name: str) -> None:
    record, model = whole_game(MINI, scaffold=name)
    assert record.forfeit is None
    kept = list(decisions(record.actions, record.accounts))
    assert [(one.number, one.seat, one.turn.action) for one in kept] == [
        (number, player, action) for number, (player, action) in enumerate(record.actions) if player >= 0
    ]
    assert [one.turn.calls[0].key for one in kept] == [request_key(one, model.name) for one in model.requests]
    rated = SCAFFOLDS[name].ratings
    assert all(bool(one.turn.ratings) == rated and one.turn.rank == (1 if rated else None) for one in kept)
    assert all(one.turn.reason == "so" for one in kept)
    assert all((one.turn.deduction is not None) == (name == "mycroft") for one in kept if one.number < 12)


@pytest.mark.parametrize(
    "options",
    [
        {"k": 3},
        {"k": 3, "choose": "rating", "scaffold": "sherlock"},
        {"votes": 3, "scaffold": "watson"},
        {"mixture": True, "scaffold": "watson"},
        {"mixture": True, "scaffold": "mycroft"},
        {"mixture": True, "scaffold": "rated-memory", "trajectories": 1},
        {"scaffold": "sherlock", "memory": 2},
    ],
    ids=str,
)
def test_a_scripted_model_plays_whole_games_with_several_answers_and_roles(options: dict[str, Any]) -> None:
    record, model = whole_game("hanabi-tiny-2p", **options)
    assert record.forfeit is None
    kept = list(decisions(record.actions, record.accounts))
    assert Counter(call.key for one in kept for call in one.turn.calls) == Counter(
        request_key(one, model.name) for one in model.requests
    )
    assert len(kept) == record.length
    assert sum(account["calls"] for account in record.accounts.values()) == len(model.requests)


@pytest.mark.parametrize("game", ["leduc_poker", "bargaining", "tic_tac_toe", "yokai-8c-2p"])
def test_every_game_has_the_general_scaffolds(game: str) -> None:
    record, _ = whole_game(game, scaffold="rated-memory", trajectories=0)
    assert record.forfeit is None
    assert all(one.turn.ratings for one in decisions(record.actions, record.accounts))


def test_a_general_scaffold_tells_nothing_that_is_hidden() -> None:
    game = registry.make("kuhn_poker")
    prompts = prompts_of("rated", game, trajectories=1)
    deals = game.legal_actions(game.initial_state())
    seen = {shown(prompts.question(turn_of(game, [deals[0], other], DEFAULT_VIEW)).asked()) for other in deals[1:]}
    assert len(deals) == 3
    assert len(seen) == 1


# Memory.


def test_mycroft_is_told_what_it_was_sent_and_what_it_answered_one_turn_back() -> None:
    record, model = whole_game(MINI, scaffold="mycroft")
    assert record.forfeit is None
    for number, request in enumerate(model.requests[2:], 2):
        before, text = model.requests[number - 2].messages[0].text, request.messages[0].text
        assert text.count("# Your own turn before this one, as you saw it then") == 1
        memory = text.split("as you saw it then\n\n")[1].split("\n\n# Your turn now")[0]
        situation, answer = memory.split("\n\n## What you answered then\n\n")
        now = before.split("# Your turn now\n\n")[-1]
        assert situation in before
        assert now[now.index("## The situation") :].startswith(f"{situation}\n\n## Your answer")
        assert answer == any_player(model.requests[number - 2])
    assert "as you saw it then" not in model.requests[0].messages[0].text


def test_more_turns_are_remembered_where_that_is_asked_for() -> None:
    _, model = whole_game(MINI, scaffold="sherlock", memory=2)
    third = model.requests[4].messages[0].text
    assert third.index("An earlier turn of yours, 2 before this one") < third.index("Your own turn before this one")
    assert "as you saw it then" not in whole_game(MINI, scaffold="mycroft", memory=0)[1].requests[4].messages[0].text


# One answer.


def test_a_bad_answer_is_sent_back_counted_by_kind_and_kept_with_the_decision() -> None:
    agent, script = asked_of([rates(9), "Chosen: the middle", rates(1)], retries=2)
    assert agent.act(TURN).action == "x(0,1)"
    assert agent.account()["bad"] == {"illegal": 1, "no_move": 1}
    assert [(call.attempt, call.bad) for call in turns(agent)[0].calls] == [(0, "illegal"), (1, "no_move"), (2, None)]
    assert "there is no move 9: they are numbered from 0 to 2" in script.requests[1].messages[-1].text
    assert "the answer holds no JSON object with action" in script.requests[2].messages[-1].text


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (Completion("cut", "truncated", "m"), "truncated"),
        (Completion("", "refused", "m"), "refused"),
        ("", "empty"),
        ("nothing", "no_move"),
        (json.dumps({"action": [0, 1]}), "two_moves"),
        (rates(5), "illegal"),
        ('{"action": ', "unparsable"),
    ],
)
def test_an_answer_that_cannot_be_used_forfeits_by_its_kind_and_is_kept(answer: Answer, kind: str) -> None:
    agent, _ = asked_of([answer], retries=0)
    with pytest.raises(AgentFailure) as caught:
        agent.act(TURN)
    assert caught.value.kind == kind
    assert agent.account()["bad"] == {kind: 1}
    assert turns(agent)[0].action is None
    assert turns(agent)[0].calls[0].bad == kind


def test_ratings_reason_and_rank_are_kept_and_the_move_is_not_the_highest_rated() -> None:
    agent, _ = asked_of([json.dumps({"ratings": {"0": 1, "1": 0.5, "7": 1}, "reason": "so", "action": 1})])
    assert agent.act(TURN).action == "x(0,1)"
    found_turn = turns(agent)[0]
    assert found_turn.ratings == (("x(0,0)", 1.0), ("x(0,1)", 0.5), ("x(2,2)", None))
    assert (found_turn.rank, found_turn.reason, found_turn.dropped) == (2, "so", {"rating: unknown move": 1})
    account = agent.account()
    assert account["scaffold"]["name"] == "rated"
    assert len(account["scaffold"]["hash"]) == 64


def test_a_model_that_cannot_be_asked_makes_the_game_void() -> None:
    agent, _ = asked_of([BudgetExceededError("cap")])
    with pytest.raises(NoAnswerError, match="cap") as caught:
        agent.act(TURN)
    assert caught.value.hopeless


# Several answers.


def test_of_answers_that_differ_the_model_chooses_one_and_its_ratings_are_kept() -> None:
    answers = {"1": rates(0, "first"), "2": rates(2, "second", **{"2": 0.5}), "3": rates(0, "third")}
    agent, script = asked_of(by_role(**answers, chooser='{"proposal": 2}'), k=3)
    assert agent.act(TURN).action == "x(2,2)"
    kept = turns(agent)[0]
    assert kept.candidates == ("x(0,0)", "x(2,2)", "x(0,0)")
    assert (kept.ratings[2], kept.reason) == (("x(2,2)", 0.5), "second")
    assert [call.role for call in kept.calls] == ["candidate 1", "candidate 2", "candidate 3", "chooser"]
    choice = script.requests[-1].messages[-1].text
    assert "### Proposal 1: `x(0,0)`, 2 times\n\n- first\n- third\n" in choice
    assert len({request.seed for request in script.requests}) == 4


def test_answers_that_agree_need_no_choice() -> None:
    agent, script = asked_of([rates(1)] * 3, k=3)
    assert agent.act(TURN).action == "x(0,1)"
    assert len(script.requests) == 3


def test_by_rating_the_proposed_move_with_the_highest_mean_is_played_without_a_call() -> None:
    first, second = {"0": 0.5, "1": 0.0, "2": 1.0}, {"0": 0.5, "1": 0.8, "2": 1.0}
    agent, script = asked_of(by_role(**{"1": rates(0, **first), "2": rates(1, **second)}), k=2, choose="rating")
    assert agent.act(TURN).action == "x(0,0)"  # 0.5 before 0.4; nobody chose the third, whatever its rating
    assert len(script.requests) == 2


def searched(values: Callable[[Turn], dict[str, float]]) -> ScaffoldAgent:
    game = registry.make("tic_tac_toe")
    config = LlmConfig(scaffold="rated", trajectories=0, k=3, choose="search")
    prompts = prompts_of("rated", game, trajectories=0)
    model = Scripted(by_role(**{"1": rates(0), "2": rates(2), "3": rates(0)}))
    return ScaffoldAgent(prompts, model, config, "m", search=values)


def test_by_search_the_proposed_move_that_is_worth_most_is_played() -> None:
    agent = searched(lambda turn: dict(zip(turn.legal_actions, (0.0, 9.0, 0.5), strict=True)))
    assert agent.act(TURN) == Move("x(2,2)")  # nobody proposed the second, whatever it is worth
    assert agent.account()["calls"] == 3


def test_where_the_search_fails_votes_decide_and_that_is_said() -> None:
    def fails(turn: Turn) -> dict[str, float]:
        raise SearchFailedError("no world fits.")

    assert searched(fails).act(TURN) == Move("x(0,0)", "the search failed and votes decided: no world fits.")


def test_by_votes_the_move_named_most_often_is_played() -> None:
    agent, _ = asked_of(by_role(**{"1": rates(0), "2": rates(2), "3": rates(2)}), votes=3)
    assert agent.act(TURN).action == "x(2,2)"


def test_an_answer_of_several_that_cannot_be_used_is_counted_and_left_out() -> None:
    agent, _ = asked_of(by_role(**{"1": "nothing", "2": rates(2)}), k=2, retries=0)
    assert agent.act(TURN).action == "x(2,2)"
    assert turns(agent)[0].candidates == (None, "x(2,2)")
    assert agent.account()["bad"] == {"no_move": 1}


def test_a_choice_that_cannot_be_read_forfeits() -> None:
    agent, _ = asked_of(by_role(**{"1": rates(0), "2": rates(2)}, chooser='{"proposal": 3}'), k=2, retries=0)
    with pytest.raises(AgentFailure) as caught:
        agent.act(TURN)
    assert caught.value.kind == "illegal"
    assert turns(agent)[0].candidates == ("x(0,0)", "x(2,2)")


# Roles.


def test_roles_report_and_the_one_asked_last_decides() -> None:
    answers = {"baseline": rates(0), "analyst": "all bad", "history": "", "aggregator": rates(2, "weighed")}
    agent, script = asked_of(by_role(**answers), mixture=True, retries=0)
    assert agent.act(TURN).action == "x(2,2)"
    kept = turns(agent)[0]
    assert [(call.role, call.bad) for call in kept.calls] == [
        ("baseline", None),
        ("analyst", None),
        ("history", "empty"),
        ("aggregator", None),
    ]
    last = script.requests[-1].messages[-1].text
    assert "### analyst\n\nall bad\n" in last
    assert "### history\n\n(no report)\n" in last
    assert kept.reason == "weighed"
    assert {request.purpose for request in script.requests} == {
        "player: baseline",
        "player: analyst",
        "player: history",
        "player: aggregator",
    }


def test_roles_are_asked_side_by_side() -> None:
    waiting = threading.Barrier(3, timeout=20)

    def answer(request: Request) -> Answer:
        if "aggregator" not in request.purpose:
            waiting.wait()
        return rates(0)

    assert asked_of(answer, mixture=True)[0].act(TURN).action == "x(0,0)"


def test_where_one_role_cannot_be_asked_the_other_answers_are_waited_for() -> None:
    came = threading.Event()

    def answer(request: Request) -> Answer:
        if "baseline" in request.purpose:
            return LanguageModelError("away")
        if "history" in request.purpose:
            came.wait(0.2)
            came.set()
        return rates(0)

    agent, script = asked_of(answer, mixture=True)
    with pytest.raises(NoAnswerError, match="away") as caught:
        agent.act(TURN)
    assert came.is_set()
    assert not caught.value.hopeless
    assert len(script.requests) == 3


# Options.


@pytest.mark.parametrize(
    ("game", "options", "said"),
    [
        (
            "tic_tac_toe",
            {"scaffold": "watson"},
            "tic_tac_toe has the scaffolds plain, rated, rated-memory, not 'watson'",
        ),
        (MINI, {"scaffold": "watsn"}, "did you mean 'watson'?"),
        (
            MINI,
            {"scaffold": "plain", "k": 2},
            "k= takes a scaffold that asks for more than a move: add scaffold=rated.",
        ),
        (MINI, {"scaffold": "plain", "memory": 0}, "memory= takes a scaffold"),
        (MINI, {"scaffold": "plain", "mixture": True}, "mixture= takes a scaffold"),
        (MINI, {"choose": "rating"}, "choose=rating chooses among several answers: add k=3."),
        ("tic_tac_toe", {"k": 2, "choose": "search"}, "tic_tac_toe has no inference function for that"),
        (MINI, {"k": 2, "votes": 2}, "k and votes are two ways to ask more than once: leave one out."),
        (MINI, {"k": 2, "mixture": True}, "k and mixture are two ways"),
        (MINI, {"scaffold": "spin", "k": 2, "choose": "rating"}, "scaffold=spin asks for no ratings"),
        (
            MINI,
            {"scaffold": "spin", "history": "table"},
            "scaffold=spin tells the game in its own way: leave out history=",
        ),
    ],
)
def test_options_that_do_not_go_together_are_refused(game: str, options: dict[str, Any], said: str) -> None:
    with pytest.raises(LlmConfigError) as caught:
        found.check(LlmConfig(**{"scaffold": "rated", **options}), registry.make(game), DEFAULT_VIEW)
    assert said in str(caught.value)


def test_a_scaffold_has_its_own_view() -> None:
    game = registry.make(MINI)
    assert found.check(LlmConfig(scaffold="exact"), game, DEFAULT_VIEW) == "counted"
    assert found.check(LlmConfig(scaffold="exact"), game, "counted") == "counted"
    assert found.check(LlmConfig(scaffold="rated"), game, "bare") == "bare"
    with pytest.raises(LlmConfigError, match="scaffold=exact shows the view 'counted', not 'bare': leave out view="):
        found.check(LlmConfig(scaffold="exact"), game, "bare")
