"""What a twin is asked for: games that can have none, prompts that stand by themselves, and refinement."""

from dataclasses import replace

import pytest

from cwm.llm.api import Completion, Usage
from cwm.observations.vectors import infer
from cwm.record.record import RunRecord
from cwm.trajectories.telling import UNNAMED
from cwm.twins.differences import TwinDifference, grouped, listing
from cwm.twins.prompt import TwinPrompts, TwinReport
from cwm.twins.proof import ProofResult, ProofState
from cwm.twins.refinement import synthesize_twin
from cwm.twins.task import GameSample, TwinConfig, TwinTask
from games import registry


@pytest.fixture(scope="module")
def task(hand_written):
    written = hand_written("kuhn_poker")
    info = registry.make("kuhn_poker").info
    return TwinTask("The rules.", UNNAMED, written.program, info, written.sample, infer(written.sample.observations))


def test_what_players_see_in_replayed_games_and_at_ends_is_in_the_sample(hand_written):
    program = hand_written("tic_tac_toe").program
    game = registry.make("tic_tac_toe")
    state, moves = game.initial_state(), []
    while game.current_player(state) >= 0:
        moves.append(game.legal_actions(state)[0])
        state = game.apply_action(state, moves[-1])
    seen = game.observations(state)[0]
    few = GameSample.of(program, 0, None, games=1).observations
    assert seen not in few
    assert seen in GameSample.of(program, 0, None, games=1, replays=[moves]).observations
    assert sum(end["current_player"] == "Terminal" for end in few) >= 5


DIFFERENCES = grouped(
    [
        TwinDifference("rewards", "", '{"b":22}', "", "expected [1], got [2]"),
        TwinDifference("step", "turn", '{"a":333}', "Bet", "the array must be 1"),
        TwinDifference("step", "turn", '{"a":1}', "Pass", "the array must be 0"),
    ]
)


def test_differences_are_told_by_group_with_the_smallest_case_of_each():
    assert listing(DIFFERENCES) == [
        "`step: turn`, 2 times. The smallest case:\n  state: {\"a\":1}\n  action: 'Pass'\n  the array must be 0",
        '`rewards`, 1 time. The smallest case:\n  state: {"b":22}\n  expected [1], got [2]',
    ]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"counts": (18_000, 18_100, 18_200, 18_300)}, "18,300 different actions"),
        ({"counts": (1000, 2000, 3000, 4000)}, "no finite list in sight: 4,000 different ones"),
        ({"largest": 100_000}, "has 100,000 characters"),
    ],
)
def test_a_game_without_finite_tables_or_bounded_states_is_refused_with_the_reason(task, change, says):
    assert task.sample.refusal() is None
    assert says in replace(task.sample, **change).refusal()


def test_the_prompt_holds_all_that_a_writer_needs_and_the_repair_what_differed(task):
    prompts = TwinPrompts(task, {})
    first = prompts.synthesis()
    for told in (
        "The rules.",
        task.program.source.strip(),
        "def step(arrays: dict[str, Array]",
        "Deal:2",
    ):
        assert told in first
    assert "[11] (observation['current_player'] + 4) / 8" in first
    assert "import numpy" not in first
    assert "16 numbers" in first


class Answering:
    """Gives answers in turn and keeps the questions."""

    name = "in turn"

    def __init__(self, *answers):
        self.answers = list(answers)
        self.asked = []

    def complete(self, request):
        self.asked.append(request)
        text = self.answers.pop(0)
        return Completion(text=text, outcome="ok", model="in turn", usage=Usage(1, 1))


def answer(task_source):
    return f"Thought.\n```python\n{task_source}```\n"


@pytest.mark.parametrize("method", ["conversation", "tree_search"])
def test_a_twin_is_refined_until_it_is_proved(task, hand_written, method):
    source = hand_written("kuhn_poker").source
    wrong = source.replace("cards[0] > cards[1]", "cards[0] < cards[1]")

    def examine(given):
        found = () if given == source else DIFFERENCES
        return TwinReport((), ProofResult(ProofState(transitions=7, differences=found), 0, (), 7))

    model = Answering("No block.", answer(wrong), answer(source))
    record = RunRecord.memory()
    result = synthesize_twin(task, TwinConfig(method=method), model, examine, record)
    assert result.proved
    assert (result.calls, result.candidates) == (3, 2)
    assert result.best.source == source
    assert "`step: turn`, 2 times" in model.asked[2].messages[-1].text
    assert [kind for _, _, kind, _ in record.events("twin")] == ["twin_tested", "twin_tested"]


def test_a_game_that_the_language_model_says_can_have_no_twin_is_told_so(task):
    result = synthesize_twin(task, TwinConfig(), Answering("Hm.\n`NO TWIN: the deck has no end.`"), lambda _: None)
    assert (result.reason, result.best) == ("declined", None)
    assert result.message.endswith("can have none: the deck has no end.")


def test_a_twin_whose_text_is_not_allowed_is_not_run(task):
    def examine(given):
        raise AssertionError("it must not be run")

    model = Answering(answer("import os\n" + "".join(f"def f{n}(): pass\n" for n in range(3))))
    result = synthesize_twin(task, TwinConfig(num_retries=0), model, examine)
    assert result.reason == "retries_used"
    assert "the module 'os' is not available" in result.report.problems[0]
