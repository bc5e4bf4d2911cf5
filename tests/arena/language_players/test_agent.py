"""A language model at the table, with scripted answers: reading, retries, votes, failures by kind, what it is told."""

import json
from dataclasses import replace
from typing import Any

import pytest

from arena.agents.api import AgentFailure, NoAnswerError, RandomAgent, ScriptedAgent, Turn
from arena.agents.llm_settings import LlmConfig
from arena.language_players.agent import LlmAgent
from arena.language_players.models import PlayerModels
from arena.language_players.prompts import GamePrompts, history_text
from arena.matches import match
from arena.matches.match import GameRecord
from cwm.llm.api import BudgetExceededError, Completion, LanguageModel, LanguageModelError, Request, Usage
from cwm.llm.providers.scripted import Answer, Scripted
from cwm.llm.punctual import LATE
from games import registry
from games.api import Action, Game

LEGAL = ("x(0,0)", "x(0,1)", "x(2,2)")
TURN = Turn(0, (({"board": []}, None),), None, LEGAL, None, seed=7)


def says(move: Any) -> str:
    return f"I think.\n{json.dumps({'move': move})}\n"


def player(
    *answers: Answer, game: str = "tic_tac_toe", model: LanguageModel | None = None, **options: Any
) -> tuple[LlmAgent, Scripted]:
    script = Scripted(list(answers))
    config = LlmConfig(**{"trajectories": 1, **options})
    agent = LlmAgent(GamePrompts(registry.make(game), config), model or script, config, "m")
    agent.start(registry.make(game).info, 0, 1)
    return agent, script


def failure(agent: LlmAgent, turn: Turn = TURN) -> AgentFailure:
    with pytest.raises(AgentFailure) as caught:
        agent.act(turn)
    return caught.value


def test_a_legal_move_is_played_after_one_question() -> None:
    agent, script = player(says("x(2,2)"))
    assert agent.act(TURN).action == "x(2,2)"
    assert len(script.requests) == 1
    assert agent.account() == {
        "asked": "scripted:list",
        "models": ["scripted:list"],
        "options": LlmConfig(trajectories=1).to_json(),
        "calls": 1,
        "input_tokens": agent.account()["input_tokens"],
        "output_tokens": 7,
        "tokens_estimated": True,
        "bad": {},
    }


def test_the_last_json_object_wins() -> None:
    answer = 'First {"move": "x(0,0)"}, but no: {"move": "x(0,1)", "why": {"better": 1}}'
    assert player(answer)[0].act(TURN).action == "x(0,1)"


def test_prose_is_never_scanned_for_a_move() -> None:
    found = failure(player("My move is x(0,0).", retries=0)[0])
    assert found.kind == "unparsable"
    assert found.detail == "the answer holds no JSON object with move"


def test_an_answer_whose_last_object_is_cut_off_does_not_count_by_an_earlier_one() -> None:
    found = failure(player('{"move": "x(0,0)"} or rather {"move": "x(0', retries=0)[0])
    assert found.kind == "unparsable"


@pytest.mark.parametrize(
    ("answer", "kind", "detail"),
    [
        (says("x(1,1)"), "illegal", '"x(1,1)" is no legal move now'),
        (says("y" * 500), "illegal", "…"),
        (says({"row": 1}), "unparsable", 'the move {"row": 1} is no text, whole number or list of these'),
        (says(None), "unparsable", "the move null"),
        ("", "empty", "the answer was empty"),
        (Completion(says("x(0,0)"), "truncated", "m"), "truncated", "the answer was cut off at 32768 tokens"),
        (Completion(says("x(0,0)"), "refused", "m"), "refused", "the model refused to answer"),
        (Completion(says("x(0,0)"), "ok", "m", metadata={LATE: 2.5}), "timeout", "no whole answer within 2.5 s"),
    ],
)
def test_every_bad_answer_has_its_kind(answer: Answer, kind: str, detail: str) -> None:
    agent, script = player(answer, retries=0, timeout=2.5)
    found = failure(agent)
    assert found.kind == kind
    assert detail in found.detail
    assert len(found.detail) < 200
    assert agent.account()["bad"] == {kind: 1}
    assert len(script.requests) == 1


def test_a_bad_answer_is_sent_back_with_the_reason() -> None:
    agent, script = player(says("x(1,1)"), says("x(0,0)"))
    assert agent.act(TURN).action == "x(0,0)"
    first, second = script.requests
    assert [message.role for message in second.messages] == ["user", "assistant", "user"]
    assert second.messages[0] == first.messages[0]
    assert second.messages[1].text == says("x(1,1)")
    assert second.messages[2].text.startswith('Your answer could not be played: "x(1,1)" is no legal move now.')
    assert "x(0,1)" not in second.messages[2].text
    assert agent.account()["bad"] == {"illegal": 1}
    assert agent.account()["calls"] == 2


@pytest.mark.parametrize("outcome", ["truncated", "refused", "empty"])
def test_a_bad_answer_without_a_whole_text_is_not_quoted(outcome: Any) -> None:
    agent, script = player(Completion("half", outcome, "m"), says("x(0,0)"))
    assert agent.act(TURN).action == "x(0,0)"
    (message,) = script.requests[1].messages
    assert message.role == "user"
    assert message.text.startswith(script.requests[0].messages[0].text.rstrip())
    assert "Your answer could not be played: the" in message.text
    assert ("Think more briefly" in message.text) == (outcome == "truncated")


def test_a_player_whose_retries_are_used_up_fails_as_its_last_answer_did() -> None:
    agent, script = player(says("x(1,1)"), "what?", Completion("", "refused", "m"), retries=2)
    assert failure(agent).kind == "refused"
    assert len(script.requests) == 3
    assert agent.account()["bad"] == {"illegal": 1, "refused": 1, "unparsable": 1}


def test_the_most_frequent_of_several_votes_is_played() -> None:
    agent, script = player(says("x(0,0)"), says("x(2,2)"), says([2, 2]), votes=3)
    assert agent.act(TURN).action == "x(2,2)"
    assert agent.account()["votes"] == [["x(0,0)", "x(2,2)", "x(2,2)"]]
    assert len({request.seed for request in script.requests}) == 3
    assert len({request.messages for request in script.requests}) == 1


def test_among_equal_votes_the_first_counts_and_bad_ones_do_not() -> None:
    agent, _ = player("?", says("x(0,1)"), says("x(0,0)"), votes=3, retries=0)
    assert agent.act(TURN).action == "x(0,1)"
    assert agent.account()["votes"] == [[None, "x(0,1)", "x(0,0)"]]
    assert agent.account()["bad"] == {"unparsable": 1}


def test_a_player_none_of_whose_votes_is_playable_fails() -> None:
    agent, _ = player("?", says("x(1,1)"), votes=2, retries=0)
    assert failure(agent).kind == "unparsable"
    assert agent.account()["votes"] == [[None, None]]


@pytest.mark.parametrize(
    ("error", "hopeless"), [(LanguageModelError("down"), False), (BudgetExceededError("cap reached"), True)]
)
def test_a_provider_that_gives_no_answer_is_no_fault_of_the_player(error: LanguageModelError, hopeless: bool) -> None:
    agent, _ = player(error)
    with pytest.raises(NoAnswerError, match=str(error)) as caught:
        agent.act(TURN)
    assert caught.value.hopeless == hopeless


def test_every_question_has_a_seed_of_its_own_that_depends_on_the_move_alone() -> None:
    def seeds(turn: Turn) -> list[int | None]:
        agent, script = player("?", says("x(0,0)"), says("x(0,0)"), votes=2)
        agent.act(turn)
        return [request.seed for request in script.requests]

    assert seeds(TURN) == seeds(TURN)
    assert len({*seeds(TURN), *seeds(replace(TURN, seed=8))}) == 6
    assert all(seed is not None and 0 <= seed < 2**31 for seed in seeds(TURN))


def test_legal_moves_are_shown_only_if_asked_for() -> None:
    turn = replace(TURN, legal_actions=("x(0,0)", "x(7,7)"))
    hidden, shown = (player(says("x(0,0)"), show_legal=show) for show in (False, True))
    for agent, _ in (hidden, shown):
        agent.act(turn)
    assert "x(7,7)" not in hidden[1].requests[0].messages[0].text
    assert "- `x(0,0)`\n- `x(7,7)`\n" in shown[1].requests[0].messages[0].text


@pytest.mark.parametrize("count", [0, 1, 5])
def test_the_prompt_holds_the_rules_and_the_recorded_games(count: int) -> None:
    text = GamePrompts(registry.make("tic_tac_toe"), LlmConfig(trajectories=count)).decision(0, TURN.history, LEGAL)
    assert registry.rule_book("tic_tac_toe").strip() in text
    assert text.count("### Recorded game ") == count
    assert text.count('"returns": [') == count


def test_the_history_as_json_holds_whole_observations_and_as_a_table_what_changed() -> None:
    history = [({"hand": 3, "pot": 1}, "call"), ({"hand": 3, "pot": 2}, "raise"), ({"hand": 3, "pot": 9}, None)]
    assert history_text(history, "json").split("\n") == [
        '{"decision": 1, "observation": {"hand": 3, "pot": 1}, "action": "call"}',
        '{"decision": 2, "observation": {"hand": 3, "pot": 2}, "action": "raise"}',
        '{"decision": 3, "observation": {"hand": 3, "pot": 9}, "action": null}',
    ]
    assert history_text(history, "table").split("\n") == [
        "| decision | what you saw | what you did |",
        "|---|---|---|",
        "| 1 | hand: 3; pot: 1 | call |",
        "| 2 | pot: 2 | raise |",
        "| 3 | hand: 3; pot: 9 | (now) |",
    ]


class _Listening:
    """Plays at random among the legal moves, which it reads from the prompt, and keeps every prompt."""

    name = "listening"

    def __init__(self) -> None:
        self.prompts: list[str] = []

    def complete(self, request: Request) -> Completion:
        text = request.messages[0].text
        self.prompts.append(text)
        listed = text.split("## Your legal moves now\n\n")[1].split("\n\n")[0].split("\n")
        return Completion(says(listed[(request.seed or 0) % len(listed)][3:-1]), "ok", "listening", Usage(1, 1))


def listened(game: Game, actions: list[Action], form: Any) -> str:
    """Returns the last prompt of player 0 in a game that takes these actions up to its decision."""
    state, seen = game.initial_state(), []
    for action in actions:
        if game.current_player(state) == 0:
            seen.append((game.observations(state)[0], action))
        state = game.apply_action(state, action)
    config = LlmConfig(history=form, show_legal=True, trajectories=2)
    history = [*seen, (game.observations(state)[0], None)]
    assert game.current_player(state) == 0
    return GamePrompts(game, config).decision(0, history, game.legal_actions(state))


@pytest.mark.parametrize("form", ["json", "table"])
def test_two_games_that_differ_in_what_is_hidden_alone_give_the_same_prompt(form: Any) -> None:
    leduc = registry.make("leduc_poker")
    texts = {
        listened(leduc, ["Chance outcome:5", f"Chance outcome:{card}", "Call", "Raise"], form) for card in range(5)
    }
    assert len(texts) == 1
    yokai = registry.make("yokai-9c-2p")

    def deal(*colours: str) -> list[Action]:
        hints = []
        state = yokai.initial_state()
        for action in (f"deal {colour}" for colour in colours):
            state = yokai.apply_action(state, action)
        while yokai.current_player(state) == -1:
            hints.append(yokai.legal_actions(state)[0])
            state = yokai.apply_action(state, hints[-1])
        return [*(f"deal {colour}" for colour in colours), *hints]

    first, second = ["red"] * 3, ["green"] * 3 + ["blue"] * 3
    boards = [deal(*first, *second), deal(*first, *reversed(second))]
    assert len({listened(yokai, [*board, "observe 0"], form) for board in boards}) == 1
    assert len({listened(yokai, [*board, "observe 8"], form) for board in boards}) == 2


@pytest.mark.parametrize("game_id", ["leduc_poker", "yokai-9c-2p", "kuhn_poker"])
def test_a_whole_game_tells_each_player_its_own_observations_and_actions_and_nothing_else(game_id: str) -> None:
    game = registry.make(game_id)
    config = LlmConfig(trajectories=1, show_legal=True)
    prompts = GamePrompts(game, config)
    models = [_Listening(), _Listening()]
    agents = [LlmAgent(prompts, model, config, f"m{seat}") for seat, model in enumerate(models)]
    record = match.play(game, agents, 3, [1, 2])
    assert record.forfeit is None
    state, seen = game.initial_state(), ([], [])  # type: tuple[Any, tuple[list[Any], list[Any]]]
    expected: tuple[list[str], list[str]] = ([], [])
    for player_id, action in record.actions:
        if player_id >= 0:
            own = game.observations(state)[player_id]
            history = [*seen[player_id], (own, None)]
            expected[player_id].append(prompts.decision(player_id, history, game.legal_actions(state)))
            seen[player_id].append((own, action))
        state = game.apply_action(state, action)
    assert [models[0].prompts, models[1].prompts] == list(expected)


def test_a_forfeit_is_scored_and_the_record_keeps_kind_options_and_counts() -> None:
    agent, _ = player(says("x(0,0)"), "no", "no", "no", retries=2)
    record = match.play(registry.make("tic_tac_toe"), [agent, RandomAgent()], 0, [1, 2])
    assert record.forfeit is not None
    assert (record.forfeit.seat, record.forfeit.kind) == (0, "unparsable")
    assert record.returns == (-1.0, 1.0)
    account = record.accounts["0"]
    assert set(record.accounts) == {"0"}
    assert (account["calls"], account["bad"]) == (4, {"unparsable": 3})
    assert account["options"]["retries"] == 2
    assert GameRecord.from_json(json.loads(json.dumps(record.to_json()))) == record


def test_a_record_without_a_language_model_is_stored_as_it_always_was() -> None:
    game = registry.make("tic_tac_toe")
    data = match.play(game, [RandomAgent(), ScriptedAgent([])], 0, [1, 2]).to_json()
    assert "accounts" not in data
    assert GameRecord.from_json(data).accounts == {}


def test_a_view_that_the_player_asked_for_is_the_view_of_its_recorded_games() -> None:
    game = registry.make("yokai-9c-2p")
    plain, helped = (GamePrompts(game, LlmConfig(trajectories=1), view) for view in ("default", "memory"))
    history = [(game.observations(game.initial_state())[0], None)]
    assert plain.decision(0, history, ()) != helped.decision(0, history, ())


def test_without_models_of_a_tournament_there_is_nothing_to_close() -> None:
    with PlayerModels([]) as models:
        assert models.used().calls == 0
