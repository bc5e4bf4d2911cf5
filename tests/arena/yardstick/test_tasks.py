"""Every game is asked as `cwm synthesize` asks a live model; what is fixed is checked."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from arena import cli
from arena.commands import synthesize
from arena.runs.inputs import Inputs
from arena.runs.settings import RunSettings
from arena.runs.task import make_task
from arena.usage import UsageError
from arena.yardstick import tasks
from arena.yardstick.games import YardstickError, YardstickGame, book_hash
from arena.yardstick.registered import RegisteredGame, names_hash
from arena.yardstick.tasks import Answerer, YardstickTask
from cwm.llm import recordings
from cwm.synthesis.prompts import TaskPrompts
from games import registry

EVERY = {task.name: task for task in tasks.load()}
PAPER = [name for name, task in EVERY.items() if task.group == "paper"]
QUICK = ("tic_tac_toe", "bargaining", "leduc_poker")
ASKED = Answerer("openai:file", None, 0.5, "low")


@pytest.fixture
def synthesised(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Returns settings and inputs of `cwm synthesize WORDS…`, which makes nothing."""

    def run(*words: object) -> tuple[RunSettings, Inputs]:
        found: list[Any] = []
        monkeypatch.setattr(
            synthesize, "_run", lambda folder, settings, inputs, *more: found.extend((settings, inputs))
        )
        thinking = ["--llm", ASKED.llm, "--temperature", ASKED.temperature, "--reasoning-effort", "low"]
        assert cli.run(["synthesize", *map(str, (*words, *thinking))]) == 0
        return found[0], found[1]

    return run


def first_prompt(settings: RunSettings, inputs: Inputs) -> str:
    return TaskPrompts(make_task(inputs, settings.hidden), settings.synthesis).synthesis()


@pytest.mark.parametrize(
    ("name", "seed"),
    [pytest.param(name, 1, marks=[] if name in QUICK else pytest.mark.slow) for name in PAPER],
)
def test_a_registered_game_is_asked_as_synthesize_asks(name: str, seed: int, synthesised: Any, tmp_path: Path) -> None:
    known, given = synthesised(name, "--seed", seed)
    inputs = EVERY[name].inputs(tmp_path, seed)
    settings = EVERY[name].settings(inputs, seed, str(ASKED.llm), ASKED)
    assert settings == known
    assert (inputs.rules, inputs.train, inputs.telling) == (given.rules, given.train, given.telling)
    assert first_prompt(settings, inputs) == first_prompt(known, given)


@pytest.mark.parametrize("name", ["nim", pytest.param("sheriff", marks=pytest.mark.slow)])
def test_a_game_that_nobody_prepared_is_asked_as_a_users_own(name: str, synthesised: Any, tmp_path: Path) -> None:
    task = EVERY[name]
    inputs = task.inputs(tmp_path, 2)
    files = ["--rules", tmp_path / f"{name}.md", "--trajectories", tmp_path / f"{name}.jsonl.gz", "--held-out", 34]
    seen = "--hidden-information" if task.hidden else "--perfect-information"
    known, given = synthesised(*files, seen, "--vocabulary", "none", "--seed", 2)
    settings = task.settings(inputs, 2, str(ASKED.llm), ASKED)
    assert settings == known
    assert inputs == given
    assert (len(inputs.train), len(inputs.held_out)) == (6, 34)


def test_the_games_are_those_of_the_paper_yokai_and_twenty_others() -> None:
    assert len(EVERY) == 31
    assert PAPER[-1] == "yokai-9c-2p"
    assert set(PAPER) < set(registry.ids())
    assert [task.hidden for task in EVERY.values()].count(True) >= 6


def test_five_seeds_of_every_registered_game_are_fixed() -> None:
    sources = [task.source for task in EVERY.values() if isinstance(task.source, RegisteredGame)]
    for source in sources:
        assert [one.seed for one in source.seeds] == list(range(tasks.SEEDS))
        assert len({one.learn_sha256 for one in source.seeds}) == tasks.SEEDS


def test_what_every_registered_game_is_told_is_what_is_fixed() -> None:
    sources = [task.source for task in EVERY.values() if isinstance(task.source, RegisteredGame)]
    told = {source.id: (book_hash(registry.rule_book(source.id)), names_hash(source.id)) for source in sources}
    assert told == {source.id: (source.rule_book_sha256, source.names_sha256) for source in sources}


@pytest.mark.parametrize("field", ["rule_book_sha256", "names_sha256"])
def test_a_registered_game_that_changed_is_refused(field: str) -> None:
    source = EVERY["tic_tac_toe"].source
    assert isinstance(source, RegisteredGame)
    changed = replace(source, **{field: "0" * 64})  # type: ignore[arg-type]
    with pytest.raises(YardstickError, match="of tic_tac_toe are not those that version 2 of the yardstick fixes"):
        changed.inputs(0, 2)


def test_other_games_to_learn_from_or_held_out_ones_are_refused(tmp_path: Path) -> None:
    task = EVERY["tic_tac_toe"]
    source = task.source
    assert isinstance(source, RegisteredGame)
    one = replace(source.seeds[0], learn_sha256="0" * 64)
    with pytest.raises(YardstickError, match="The games to learn from of tic_tac_toe"):
        replace(source, seeds=(one,)).inputs(0, 1)
    inputs = task.inputs(tmp_path, 0)
    settings = replace(task.settings(inputs, 0, "replay:x.jsonl", Answerer()), test_transitions=1)
    # Fewer transitions are other games; where none are fixed, their hash is told.
    with pytest.raises(YardstickError, match="The held-out games of tic_tac_toe"):
        source.check_held_out(inputs, settings, 1, 1, None)
    free = replace(source, seeds=(replace(source.seeds[0], held_out_sha256=None),))
    assert len(free.check_held_out(inputs, settings, 1, 1, None)) == 64


def test_games_are_chosen_by_name_in_the_order_of_tables() -> None:
    assert [task.name for task in tasks.chosen(" pig, mnk")] == ["mnk", "pig"]
    assert len(tasks.chosen(None)) == 31


def named(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    monkeypatch.setattr(recordings, "bundled_names", lambda: sorted(names))


def test_recordings_that_ship_are_found_by_game_row_and_seed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    named(monkeypatch, "mnk", "mnk-s1", "mnk+hurried", "nim")
    monkeypatch.setattr(tasks, "_row", lambda name: tmp_path / name)
    for file in ("careful/nim-s2", "hurried/pig"):
        (tmp_path / file).parent.mkdir()
        (tmp_path / f"{file}.jsonl.xz").touch()
    mnk, nim, pig = EVERY["mnk"], EVERY["nim"], EVERY["pig"]

    def found(llm: str | None) -> list[str | None]:
        asked = Answerer(llm)
        tasks.check_llm(asked)
        return [tasks.llm_of(mnk, 0, asked), tasks.llm_of(mnk, 1, asked), tasks.llm_of(nim, 2, asked)]

    usual = ["recorded", "recorded", f"replay:{tmp_path}/careful/nim-s2.jsonl.xz"]
    assert found(None) == found("recorded") == found("replay:careful") == usual
    assert found("replay:hurried") == ["replay:mnk+hurried", None, None]
    assert found("openai:m") == ["openai:m"] * 3
    assert tasks.llm_of(pig, 0, Answerer()) is None
    assert tasks.llm_of(pig, 0, Answerer("replay:hurried")) == f"replay:{tmp_path}/hurried/pig.jsonl.xz"
    with pytest.raises(UsageError, match=r"neither a folder of recordings .* nor a row .*\(careful, hurried\)"):
        tasks.check_llm(Answerer("replay:thorough"))


def test_recordings_of_a_folder_are_found_by_game_and_seed(tmp_path: Path) -> None:
    for name in ("mnk.jsonl", "nim-s1.jsonl"):
        (tmp_path / name).touch()
    asked = Answerer(f"replay:{tmp_path}")

    def found(task: YardstickTask) -> list[str | None]:
        return [tasks.llm_of(task, seed, asked) for seed in (0, 1)]

    assert found(EVERY["mnk"]) == [f"replay:{tmp_path / 'mnk.jsonl'}", None]
    assert found(EVERY["nim"]) == [None, f"replay:{tmp_path / 'nim-s1.jsonl'}"]


def test_every_game_that_nobody_prepared_has_the_same_test_for_every_seed() -> None:
    for task in EVERY.values():
        if isinstance(task.source, YardstickGame):
            assert task.fixed(0) == task.fixed(4)
            assert task.fixed(0)["held_out"] == task.source.games_sha256
