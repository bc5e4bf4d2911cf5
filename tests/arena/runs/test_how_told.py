"""A game is told by its rule book with the names in its records, in the closed deck with nothing of what is hidden."""

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from arena.runs import inputs as run_inputs
from arena.runs.hidden_information import HiddenInformation
from arena.runs.how_told import HowTold
from arena.runs.inputs import Inputs
from arena.runs.origins import true_game
from arena.runs.settings import RunSettings
from arena.runs.task import OPEN, make_task
from arena.usage import UsageError
from cwm.model.bundle import ModelBundle, describe, rules_hash
from cwm.suite.build import BuildOptions, build, count
from cwm.synthesis.config import SynthesisConfig
from cwm.synthesis.prompts import TaskPrompts
from cwm.synthesis.testing import ProcessTester, TesterSettings
from cwm.trajectories.recorded import Deck, Trajectory, record_step, view
from games import registry
from games.api import TERMINAL, Game, ResamplesHistory
from tests.arena.runs.test_deals_as_data import BY_THE_RULES

BOOK = HowTold("book")
CLOSED = HiddenInformation("closed")
HIDDEN = ("leduc_poker", "quadranto", "hand_of_war", "gin_rummy", "bargaining")


def prompt_of(inputs: Inputs, hidden: HiddenInformation = OPEN) -> str:
    return TaskPrompts(make_task(inputs, hidden), SynthesisConfig()).synthesis()


def book_inputs(game: str, deck: Deck = "open", games: int = 5) -> Inputs:
    return run_inputs.registered(game, games, 0, how=HowTold.asked(game, "book", None, None), deck=deck)


# ---------------------------------------------------------------- the text and the names


def test_the_prompt_holds_the_rule_book_and_the_names_and_no_specification() -> None:
    prompt = prompt_of(book_inputs("leduc_poker"))
    assert registry.rule_book("leduc_poker").strip() in prompt
    assert "- the players' actions: `Call`, `Fold`, `Raise`\n- chance's actions: `Chance outcome:#`\n" in prompt
    assert "What a player can infer" not in prompt
    assert "rarer names may" not in prompt


def test_without_vocabulary_no_names_are_listed() -> None:
    how = HowTold.asked("leduc_poker", "book", "none", None)
    prompt = prompt_of(run_inputs.registered("leduc_poker", 5, 0, how=how))
    assert "The names in the records" not in prompt


def test_the_specification_stands_in_the_place_of_rule_book_and_names() -> None:
    how = HowTold.asked("leduc_poker", "specification", None, None)
    prompt = prompt_of(run_inputs.registered("leduc_poker", 5, 0, how=how))
    assert registry.rules("leduc_poker").strip() in prompt
    assert "The names in the records" not in prompt
    book = prompt_of(book_inputs("leduc_poker"))
    shown = registry.rule_book("leduc_poker").strip()
    # The texts around it are the same.
    assert prompt.split(registry.rules("leduc_poker").strip())[0] == book.split(shown)[0]
    assert prompt.split("## Players")[1] == book.split("## Players")[1]


def test_names_of_a_game_of_ones_own_are_those_of_its_games_to_learn_from(tmp_path: Path) -> None:
    (tmp_path / "rules.md").write_text("Bet or pass.", encoding="utf-8")
    games = run_inputs.registered("kuhn_poker", 5, 3).train
    run_inputs.write(tmp_path / "games.jsonl", games)
    inputs = run_inputs.own(tmp_path / "rules.md", tmp_path / "games.jsonl", 1, run_inputs.Stated(), how=BOOK)
    assert "- the players' actions: `Bet`, `Pass`" in prompt_of(inputs)
    assert "rarer names may\nbe missing" in prompt_of(inputs)
    run_inputs.store(tmp_path / "inputs", inputs)
    settings = RunSettings(inputs.info.id, False, rules_detail="book")
    assert prompt_of(run_inputs.load(tmp_path / "inputs", settings)) == prompt_of(inputs)


@pytest.mark.parametrize("deck", ["open", "closed"])
@pytest.mark.parametrize("game", ["bargaining", "leduc_poker"])
def test_a_stored_run_is_told_alike_when_it_is_resumed(game: str, deck: Deck, tmp_path: Path) -> None:
    inputs = book_inputs(game, deck)
    settings = RunSettings(game, True, deck=deck, rules_detail="book")
    settings = replace(settings, chance="drawn") if game == "bargaining" else settings
    run_inputs.store(tmp_path, inputs)
    again = run_inputs.load(tmp_path, RunSettings.from_record(settings.to_json()))
    hidden = HiddenInformation(deck)
    assert prompt_of(again, hidden) == prompt_of(inputs, hidden)
    assert again.initial_state == inputs.initial_state


# ---------------------------------------------------------------- the closed deck


def views_alike(game: Game, trajectory: Trajectory, rng: random.Random) -> Iterator[Trajectory]:
    """Yields games with another hidden part that look the same from the seat from which this one is seen."""
    assert isinstance(game, ResamplesHistory)
    seat = trajectory.index % game.info.num_players
    decisions = [number for number, step in enumerate(trajectory.steps) if step.player == seat]
    actions = [str(step.action) for step in trajectory.steps if step.action is not None]
    for _ in range(60):
        drawn = game.resample_history(trajectory.history(seat, decisions[-1]), seat, rng) if decisions else []
        other = _played(game, [*drawn, *actions[decisions[-1] if decisions else 0 :]], trajectory)
        if other is not None and view(other) == view(trajectory) and other.steps != trajectory.steps:
            yield other


def _played(game: Game, actions: Sequence[str], like: Trajectory) -> Trajectory | None:
    state, steps = game.initial_state(), []
    for action in actions:
        if action not in game.legal_actions(state):
            return None
        steps.append(record_step(game, state, action))
        state = game.apply_action(state, action)
    if game.current_player(state) != TERMINAL:
        return None
    return replace(like, steps=(*steps, record_step(game, state, None)))


@pytest.mark.parametrize("game", ["leduc_poker", "quadranto"])
def test_the_closed_decks_prompt_is_the_same_to_the_byte_whatever_was_hidden(game: str) -> None:
    inputs = book_inputs(game, "closed", games=12)
    rng = random.Random(0)
    others = tuple(next(views_alike(registry.make(game), one, rng), one) for one in inputs.train)
    exchanged = sum(one.steps != other.steps for one, other in zip(inputs.train, others, strict=True))
    assert exchanged >= 4
    assert prompt_of(replace(inputs, train=others), CLOSED) == prompt_of(inputs, CLOSED)


@pytest.mark.parametrize("game", HIDDEN)
def test_the_closed_decks_prompt_holds_no_key_of_the_state_that_players_do_not_see(game: str) -> None:
    inputs = book_inputs(game, "closed")
    names = registry.vocabulary(game)
    assert names is not None
    prompt = prompt_of(inputs, CLOSED).replace(inputs.rules.strip(), "")
    hidden = set(names["state_keys"]) - set(names["observation_keys"])
    # Words of English that the prompt's own sentences hold are looked for as keys alone.
    assert [key for key in sorted(hidden) if re.search(rf"['\"`]{key}['\"`]", prompt)] == []
    assert "chance's actions:" not in prompt
    assert inputs.initial_state == {}


def test_a_model_of_the_closed_deck_is_known_as_one_of_its_game() -> None:
    inputs = book_inputs("leduc_poker", "closed")
    about = {"deck": "closed", "inference": "history"}
    bundle = ModelBundle("", None, {}, describe(inputs.info), rules_hash(inputs.rules), about)
    assert bundle.deck == "closed"
    assert true_game(bundle) is not None


# ---------------------------------------------------------------- chance without a table


def test_bargaining_is_told_without_its_table_of_deals() -> None:
    inputs = book_inputs("bargaining")
    prompt = prompt_of(inputs)
    assert "deals" not in inputs.initial_state
    assert "'deals'" not in prompt
    assert all("deals" not in step.state for game in inputs.train for step in game.steps)
    assert "dict(get_chance_outcomes(state))['" in prompt
    assert true_game(ModelBundle("", None, inputs.initial_state, describe(inputs.info), "")) is not None


WORKED_OUT = (
    BY_THE_RULES.replace('"deals": [], ', "")
    .replace(
        'for deal in INITIAL_STATE["deals"]:',
        """WORTHS = {}
for pool in product(range(1, 6), repeat=3):
    if 5 <= sum(pool) <= 7:
        WORTHS[pool] = [w for w in product(range(11), repeat=3) if sum(a * b for a, b in zip(pool, w)) == 10]
DEALS = [
    " ".join(",".join(map(str, row)) for row in (pool, first, second))
    for pool, worths in WORTHS.items()
    for first in worths
    for second in worths
]
for deal in DEALS:""",
    )
    .replace('list(state["deals"])', 'list(DEALS) if state["current_player"] == -1 else []')
    .replace(
        'return [(deal, 1 / len(state["deals"])) for deal in state["deals"]]',
        'return [(deal, 1 / len(DEALS)) for deal in DEALS] if state["current_player"] == -1 else []',
    )
)


def _failures(source: str) -> set[str]:
    inputs = book_inputs("bargaining", games=3)
    task = make_task(inputs)
    tester = ProcessTester(task.tests, inputs.info, inputs.initial_state, TesterSettings(workers=1))
    (report,) = tester([source])
    return {result.field or result.message for result in report.results if result.status != "pass"}


def test_a_program_that_works_out_the_deals_passes_every_test() -> None:
    assert _failures(WORKED_OUT) == set()


def test_a_deal_that_is_not_listed_and_probabilities_that_do_not_sum_to_one_fail() -> None:
    missing = WORKED_OUT.replace("for second in worths\n]", "for second in worths\n][:50]")
    assert "legal_actions" in _failures(missing)
    doubled = WORKED_OUT.replace("(deal, 1 / len(DEALS))", "(deal, 2 / len(DEALS))")
    assert "chance_outcomes" in _failures(doubled)


def test_a_game_that_begins_with_a_deal_of_the_models_own_gives_no_test_of_it() -> None:
    inputs = book_inputs("bargaining", games=2)
    begun = replace(inputs.train[0], index=9, steps=(replace(inputs.train[0].steps[0], action=None),))
    options = BuildOptions(kinds=("transition", "inference", "value"), drawn=True)
    tests = build([*inputs.train, begun], options)
    assert len(tests) == count([*inputs.train, begun], options)
    assert {test.game for test in tests if test.kind == "transition"} == {game.index for game in inputs.train}


# ---------------------------------------------------------------- wishes


@pytest.mark.parametrize(
    ("game", "detail", "names", "chance", "told"),
    [
        ("leduc_poker", "short", None, None, "give book or specification"),
        ("leduc_poker", "book", "some", None, "give list or none"),
        ("bargaining", "book", None, "rolled", "give listed or drawn"),
        ("leduc_poker", "book", None, "drawn", "leduc_poker follows from its rules"),
        (None, "book", None, "listed", "a game of your own follows from its rules"),
        ("leduc_poker", "specification", "none", None, "tells all names itself"),
    ],
)
def test_wishes_that_cannot_be_met_are_refused(
    game: str | None, detail: str, names: str | None, chance: str | None, told: str
) -> None:
    with pytest.raises(UsageError, match=told):
        HowTold.asked(game, detail, names, chance)


def test_chance_is_drawn_with_a_rule_book_where_there_is_a_table_and_listed_elsewhere() -> None:
    assert HowTold.asked("bargaining", "book", None, None).chance == "drawn"
    assert HowTold.asked("bargaining", "specification", None, None).chance == "listed"
    assert HowTold.asked("leduc_poker", "book", None, None).chance == "listed"


def test_settings_from_before_there_were_rule_books_keep_their_key() -> None:
    plain = RunSettings("leduc_poker", True, rules_detail="specification")
    assert not {"rules_detail", "vocabulary", "chance"} & plain.to_json().keys()
    assert RunSettings.from_record(plain.to_json()) == plain
    assert plain.recorded == "leduc_poker+specification"
    assert RunSettings("leduc_poker", True).recorded == "leduc_poker"
