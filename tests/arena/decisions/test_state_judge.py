"""A language model is told the truth, judges what players said, and its numbers are held against the exact ones."""

import json
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from arena.decisions import state_judge
from arena.decisions.state_judge import correlation, judge, prompt
from arena.decisions.state_tracking import checked, one
from cwm.llm.api import Completion, Request
from tests.arena.decisions import told
from tests.arena.decisions.test_state_tracking import teller


class Judge:
    """Answers with what `say` makes of the number of the question."""

    name = "scripted"

    def __init__(self, say: Any) -> None:
        self.asked: list[str] = []
        self._say = say

    def complete(self, request: Request) -> Completion:
        self.asked.append(request.messages[-1].text)
        return Completion(self._say(len(self.asked) - 1), "ok", "scripted")


def test_numbers_that_agree_correlate_and_unreadable_answers_are_counted_by_kind(tmp_path: Path) -> None:
    turns = count()

    def forgets(truth: Any, deduction: Any) -> Any:
        """Leaves everything open at every other decision."""
        blank = [replace(slot, colours=truth.colours, ranks=truth.ranks) for slot in deduction]
        return tuple(blank) if next(turns) % 2 else deduction

    place = told.tell(told.play(tmp_path, "hanabi-2p"), teller(forgets))
    found = list(checked(place))
    exact = [one(item).four for item in found]

    def honest(number: int) -> str:
        if number == 3:
            return "I cannot say."
        if number == 4:
            return json.dumps({"accuracy": 2, "history": 0, "quality": 0, "overall": 0})
        names = ("accuracy", "history", "quality", "overall")
        return "So:\n" + json.dumps({name: value or 0 for name, value in zip(names, exact[number], strict=True)})

    told_of = state_judge.summary(judge(found, Judge(honest)))
    assert told_of["unread"] == {"unparsable": 1, "no number from 0 to 1": 1}
    assert told_of["numbers"]["accuracy"]["n"] == len(found) - 2
    assert told_of["numbers"]["accuracy"]["correlation"] == pytest.approx(1)
    row = told_of["numbers"]["overall"]
    assert row["said"] == pytest.approx(row["exact"])


def test_the_judge_is_told_the_truth_and_not_the_players_own_words_in_its_place(tmp_path: Path) -> None:
    def wrong(truth: Any, deduction: Any) -> Any:
        return tuple(type(s)(s.player, s.slot, "R", "1") for s in deduction)

    place = told.tell(told.play(tmp_path, "hanabi-2p"), teller(wrong))
    item = list(checked(place))[6]
    text = prompt(item)
    truth = text.partition("worked out by the rules):\n")[2].partition("\n\n")[0]
    said = text.partition("What the player says now:\n")[2].partition("\n\n")[0]
    for player, hand in enumerate(item.truth.hands):
        line = next(
            line
            for line in truth.splitlines()
            if line.startswith(("the player", f"player {player}")[player != item.truth.player])
        )
        assert line.partition(": ")[2] == "; ".join(f"{n}: {s.colours} {s.ranks}" for n, s in enumerate(hand))
    assert "0: R 1; 1: R 1" in said
    assert "R 1; 1: R 1" not in truth
    assert prompt(item) == text


def test_correlation_is_pearsons() -> None:
    assert correlation([(1, 2), (2, 4), (3, 6)]) == pytest.approx(1)
    assert correlation([(1, 1), (2, 3), (3, 2)]) == pytest.approx(0.5)
    assert correlation([(1, 1), (1, 2)]) is None
    assert correlation([(1, 1)]) is None


def test_the_command_prints_exact_figures_and_a_judges_and_asks_nothing_twice(cwm: Any, tmp_path: Path) -> None:
    run = tmp_path / "run"
    place = told.tell(told.play(run), teller())
    decisions = sum(record.length for record in place.games.values())
    answer = '{"accuracy": 0.5, "history": 1, "quality": 1, "overall": 0.8, "feedback": "well"}'
    script = tmp_path / "judge.jsonl"
    script.write_text(f"{json.dumps(answer)}\n" * decisions, encoding="utf-8")
    shown = cwm("judge", run, "--llm", f"scripted:{script}")
    assert shown.code == 0, shown.err
    assert "partner:simple (mycroft)" in shown.out
    assert "What scripted:" in shown.out
    found = cwm("judge", run, "--llm", f"scripted:{script}", "--json").json
    assert found["players"][0]["exact"]["share"] == 1.0
    assert found["players"][0]["causes"] == {}
    assert found["judge"]["numbers"]["accuracy"] == {"said": 0.5, "exact": 1.0, "correlation": None, "n": decisions}


def test_what_cannot_be_judged_is_said_in_a_sentence(refused: Any, tmp_path: Path) -> None:
    run = tmp_path / "run"
    told.play(run)
    assert "holds no deduction: play with a language model by a scaffold that asks for one" in refused("judge", run).err
    told_of = refused("judge", run, "--max-calls", "3").err
    assert "No language model judges, and nothing is asked: leave out caps, or add --llm." in told_of
