"""What a run starts from: held-out games with every kind of end, a user's own games with the bounds that they state."""

import json
import math
from pathlib import Path

import pytest

from arena.evaluation import held_out_games
from arena.evaluation.held_out_games import ends
from arena.runs import inputs as run_inputs
from arena.runs.inputs import Stated, own, registered
from arena.runs.settings import RunSettings
from arena.usage import UsageError
from cwm.trajectories.recorded import collect, write
from games import registry


@pytest.fixture
def own_files(tmp_path: Path) -> tuple[Path, Path]:
    (tmp_path / "rules.md").write_text("Bet or pass.")
    games = collect(registry.make("kuhn_poker"), 10, 3)
    write(tmp_path / "games.jsonl", games)
    return tmp_path / "rules.md", tmp_path / "games.jsonl"


@pytest.mark.slow
def test_held_out_yokai_games_hold_two_hundred_wins_and_losses_early_and_full_and_forced_no_ops() -> None:
    inputs = registered("yokai-9c-2p", 1, 0)
    games = held_out_games.held_out_games(inputs, RunSettings("yokai-9c-2p", True))
    counts = ends(games, inputs.game)
    won = [counts["won early"], counts["won at full length"]]
    lost = [counts["lost early"], counts["lost at full length"]]
    assert sum(won) >= 200
    assert sum(lost) >= 200
    assert min(*won, *lost) >= 50
    assert sum(step.action == "no-op" for game in games for step in game.steps) >= 50
    assert sum(len(game.steps) - 1 for game in games) >= 10_000


def test_held_out_games_are_none_of_the_training_games() -> None:
    inputs = registered("leduc_poker", 5, 0)
    held_out = held_out_games.held_out_games(inputs, RunSettings("leduc_poker", True, test_transitions=300))
    assert sum(len(game.steps) - 1 for game in held_out) >= 300
    assert not {game.seed for game in inputs.train} & {game.seed for game in held_out}


def test_the_last_fifth_of_a_users_own_games_is_held_out(own_files: tuple[Path, Path]) -> None:
    inputs = own(*own_files, None, Stated())
    assert (len(inputs.train), len(inputs.held_out)) == (8, 2)
    assert inputs.game is None


def test_stated_bounds_are_kept_over_a_resume(own_files: tuple[Path, Path], tmp_path: Path) -> None:
    inputs = own(*own_files, None, Stated(min_utility=-9.0, max_utility=9.0))
    run_inputs.store(tmp_path / "inputs", inputs)
    again = run_inputs.load(tmp_path / "inputs", RunSettings(inputs.info.id, False))
    assert again == inputs
    assert (again.info.min_utility, again.info.max_utility) == (-9.0, 9.0)


@pytest.mark.parametrize("stated", [Stated(max_utility=math.inf), Stated(min_utility=-math.inf)])
def test_bounds_are_finite(own_files: tuple[Path, Path], stated: Stated) -> None:
    with pytest.raises(UsageError, match="give finite numbers around them"):
        own(*own_files, None, stated)


def test_bounds_that_a_recorded_game_passes_are_refused(own_files: tuple[Path, Path]) -> None:
    with pytest.raises(UsageError, match="`min_utility`"):
        own(*own_files, None, Stated(min_utility=0.0))


def test_inputs_that_were_damaged_are_named(own_files: tuple[Path, Path], tmp_path: Path) -> None:
    inputs = own(*own_files, None, Stated())
    run_inputs.store(tmp_path / "inputs", inputs)
    (tmp_path / "inputs" / "info.json").write_text(json.dumps([1]))
    with pytest.raises(UsageError, match="restore them"):
        run_inputs.load(tmp_path / "inputs", RunSettings(inputs.info.id, False))


def test_ends_are_told_of_a_game_whose_words_are_scrambled() -> None:
    game = registry.make("scrambled:yokai-8c-2p")
    assert ends(collect(game, 6, 3), game) == {"forced moves": 4, "lost at full length": 4, "lost early": 2}
