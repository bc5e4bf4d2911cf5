"""Choosing among several models, and what several syntheses share."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from arena.machine.runtime import Runtime
from arena.matches.rejection import RejectionConfig
from arena.pipeline import selection
from arena.pipeline import several as several_syntheses
from arena.pipeline.selection import Candidate, Selection
from arena.pipeline.several import SeveralSettings
from arena.runs.settings import RunSettings
from arena.runs.standard import standard_settings
from arena.usage import UsageError
from cwm.llm.caps import Caps
from cwm.model.bundle import ModelBundle, describe
from games import registry
from games.api import state_to_json

PROGRAM = Path(__file__).resolve().parents[2] / "data" / "hidden_programs" / "kuhn_poker.py"
GOOD = PROGRAM.read_text(encoding="utf-8").replace("last_is_terminal)", "last_is_terminal=False)")
IMPOSSIBLE = GOOD.replace('*seen["betting"]]', '"Raise", "Raise"]')
FAST = RejectionConfig(repetitions=2, simulations=10)


def bundle(game_id: str, source: str) -> ModelBundle:
    game = registry.make(game_id)
    return ModelBundle(source, None, state_to_json(game, game.initial_state()), describe(game.info), "rules")


def open_cards(name: str, accuracy: float | None, calls: int | None = 1, seed: int | None = 0) -> Candidate:
    return Candidate(name, bundle("tic_tac_toe", f"# {name}"), seed, calls, accuracy)


def hidden(name: str, source: str = GOOD, **facts: Any) -> Candidate:
    return Candidate(name, bundle("kuhn_poker", source), **{"calls": 3, "seed": 0, "accuracy": 1.0, **facts})


def choose(*candidates: Candidate) -> Selection:
    return selection.choose(candidates, FAST, Runtime(move_timeout_s=5.0))


@pytest.mark.parametrize(
    ("candidates", "chosen", "kept"),
    [
        ([("a", 0.9, 1, 0), ("b", 1.0, 9, 1), ("c", 0.95, 1, 2)], "b", ("b",)),
        ([("a", 1.0, 5, 0), ("b", 1.0, 2, 1), ("c", 0.5, 1, 2)], "b", ("a", "b")),
        ([("a", 1.0, 2, 4), ("b", 1.0, 2, 3), ("c", 1.0, 2, 5)], "b", ("a", "b", "c")),
        ([("a", 1.0, None, None), ("b", 1.0, 60, 3)], "b", ("a", "b")),
    ],
    ids=["accuracy", "calls", "seed", "unknown last"],
)
def test_where_nothing_is_hidden_accuracy_then_calls_then_seed_decide(
    candidates: list[tuple[str, float, int | None, int | None]], chosen: str, kept: tuple[str, ...]
) -> None:
    found = choose(*(open_cards(*facts) for facts in candidates))
    assert (found.chosen, found.kept, found.method, found.rejection) == (chosen, kept, "training accuracy", None)


def test_model_without_a_known_accuracy_is_not_compared_where_nothing_is_hidden() -> None:
    with pytest.raises(UsageError, match="how many of its unit tests b passes"):
        choose(open_cards("a", 1.0), open_cards("b", None))


def test_where_something_is_hidden_bad_models_are_rejected_and_the_best_of_the_rest_is_chosen() -> None:
    found = choose(hidden("a"), hidden("bad", IMPOSSIBLE, accuracy=0.5, calls=1), hidden("c", calls=2))
    assert found.kept == ("a", "c")
    assert found.rejection is not None
    payoffs = {standing.name: standing.payoff for standing in found.rejection.standings}
    assert payoffs["a"] == payoffs["c"] > payoffs["bad"]
    # Equal payoffs and accuracies: fewer calls decide.
    assert (found.chosen, found.method) == ("c", "rejection")
    assert "behind it: bad" in found.reason


def test_syntheses_without_a_model_are_never_chosen_and_need_no_match() -> None:
    found = choose(Candidate("a", None), hidden("b"), Candidate("c", None))
    assert (found.chosen, found.kept, found.method, found.rejection) == ("b", ("b",), "no other", None)
    assert found.reason == "1 of 3 syntheses led to a model."
    none = choose(Candidate("a", None), Candidate("b", None))
    assert (none.chosen, none.kept, none.chosen_bundle()) == (None, (), None)


def test_models_of_two_games_or_of_one_name_are_refused() -> None:
    with pytest.raises(UsageError, match="of kuhn_poker and of tic_tac_toe"):
        choose(hidden("a"), open_cards("b", 1.0))
    with pytest.raises(UsageError, match="Two models are named 'a'"):
        choose(hidden("a"), hidden("a"))


def test_chosen_model_is_the_same_model_with_a_note() -> None:
    found = choose(open_cards("a", 0.9), open_cards("b", 1.0))
    chosen = found.chosen_bundle()
    assert chosen is not None
    assert found.best is not None
    assert found.best.bundle is not None
    assert chosen.hash == found.best.bundle.hash
    assert chosen.metadata["selection"] == {"chosen": "b", "kept": ["b"], "of": 2, "reason": found.reason}


def test_folder_without_a_model_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="give the folders of runs or models, or names of recordings"):
        selection.candidate("a", tmp_path)


def test_model_alone_says_what_its_origin_noted(tmp_path: Path) -> None:
    replace(bundle("kuhn_poker", GOOD), metadata={"calls": 4}).save(tmp_path)
    found = selection.candidate("a", tmp_path)
    assert (found.calls, found.seed, found.accuracy) == (4, None, None)


def settings(count: int = 3) -> SeveralSettings:
    return SeveralSettings(standard_settings("yokai-9c-2p", None, None, 2), count, FAST)


def test_syntheses_differ_in_the_seed_alone_and_it_is_everywhere() -> None:
    each = settings().each()
    assert [one.seed for one in each] == [2, 3, 4]
    assert each == [standard_settings("yokai-9c-2p", None, None, 2).seeded(seed) for seed in (2, 3, 4)]


def test_settings_of_several_syntheses_survive_the_record() -> None:
    assert SeveralSettings.from_record(settings().to_json()) == settings()


def test_recordings_are_named_by_the_seed() -> None:
    first, _, third = settings().each()
    place = Path("kept/mine.jsonl")
    assert several_syntheses.recording_of(place, first, first) == place
    assert several_syntheses.recording_of(place, third, first) == Path("kept/mine-s4.jsonl")
    assert several_syntheses.recording_of(None, third, first) is None


def test_seed_without_a_recording_is_named_before_anything_is_made() -> None:
    first = replace(RunSettings("tic_tac_toe", True), seed=0)
    with pytest.raises(UsageError, match="tic_tac_toe ship for the seeds 0, not for 1; ask for fewer syntheses"):
        several_syntheses.check(SeveralSettings(first, 2, FAST), Caps())


def test_caps_are_whole_for_the_first_synthesis(tmp_path: Path) -> None:
    several = settings()
    caps = Caps(calls=7, tokens=100, money=2.0, minutes=5.0)
    assert several_syntheses.left_for(tmp_path, several, several.first, caps) == caps
