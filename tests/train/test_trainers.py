"""Data sets load with `datasets`, and trainers take two steps with them; run by `make trainers`."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from arena.exports.turns.export import RowWishes, export
from cwm.rewards import format_reward, rating_reward
from cwm.rewards.environment import load_environment
from tests.arena.decisions import told
from tests.arena.exports.turns.test_turns import spoken
from tests.train.tiny_model import byte_tokenizer, tiny_model

pytestmark = [pytest.mark.slow, pytest.mark.extra("train")]


def exported(folder: Path, form: str) -> Path:
    """Returns the folder of a small data set of two splits."""
    place = spoken(told.play(folder / "run", deals=3))
    deck = f"seed:{min(record.deal_seed for record in place.games.values())}"
    export([place], RowWishes(form, test_decks=(deck,)), folder / form)
    return folder / form


@pytest.mark.parametrize("form", ["logs", "rewards", "sft", "rlvr"])
def test_both_formats_load_with_equal_features_and_rows(form: str, tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    folder = exported(tmp_path, form)
    lines, table = (
        datasets.load_dataset(str(place), cache_dir=str(tmp_path / "cache")) for place in (folder, folder / "parquet")
    )
    assert set(lines) == {"train", "test"}
    assert {split: found.features for split, found in lines.items()} == {
        split: found.features for split, found in table.items()
    }
    for split in lines:
        assert lines[split].to_list() == table[split].to_list()


def arguments(kind: Any, folder: Path, **settings: Any) -> Any:
    return kind(
        output_dir=str(folder),
        max_steps=2,
        logging_steps=1,
        report_to=[],
        save_strategy="no",
        use_cpu=True,
        learning_rate=1e-3,
        seed=1,
        disable_tqdm=True,
        **settings,
    )


def rows_of(folder: Path) -> Any:
    return pytest.importorskip("datasets").load_dataset(
        "json", data_files=str(folder / "train.jsonl"), cache_dir=str(folder / "cache")
    )["train"]


def test_supervised_training_takes_two_steps_with_our_rows(tmp_path: Path) -> None:
    trl = pytest.importorskip("trl")
    rows = rows_of(exported(tmp_path, "sft")).remove_columns("messages")
    trainer = trl.SFTTrainer(
        model=tiny_model(),
        processing_class=byte_tokenizer(),
        train_dataset=rows,
        args=arguments(trl.SFTConfig, tmp_path / "out", per_device_train_batch_size=2, max_length=2048),
    )
    trainer.train()
    assert trainer.state.global_step == 2
    assert all(entry["loss"] > 0 for entry in trainer.state.log_history if "loss" in entry)


def test_reinforcement_learning_takes_two_steps_with_our_rows_and_rewards(tmp_path: Path) -> None:
    trl = pytest.importorskip("trl")
    trainer = trl.GRPOTrainer(
        model=tiny_model(),
        processing_class=byte_tokenizer(),
        train_dataset=rows_of(exported(tmp_path, "rlvr")),
        reward_funcs=[rating_reward, format_reward],
        args=arguments(
            trl.GRPOConfig, tmp_path / "out", per_device_train_batch_size=4, num_generations=4, max_completion_length=8
        ),
    )
    trainer.train()
    assert trainer.state.global_step == 2
    rewards = [entry for entry in trainer.state.log_history if "rewards/rating_reward/mean" in entry]
    assert len(rewards) == 2


def test_an_environment_of_verifiers_gives_our_rewards(tmp_path: Path) -> None:
    pytest.importorskip("verifiers")
    path = exported(tmp_path, "rlvr") / "train.jsonl"
    environment = load_environment(str(path), ("rating", "format"), (1.0, 0.5))
    row = json.loads(path.read_text(encoding="utf-8").splitlines()[0])
    (best, *_) = (n for n, rating in enumerate(json.loads(row["info"])["ratings"]) if rating == 1.0)
    dataset = environment.get_dataset()
    assert dataset[0]["prompt"] == row["prompt"]
    rubric = environment.rubric.rubrics[0]  # the library sets figures of its own beside ours
    for answer, expected in ((f'{{"action": {best}}}', 1.0), ("nothing", 0.0)):
        said = [{"role": "assistant", "content": answer}]
        state = {"prompt": row["prompt"], "completion": said, "answer": "", "info": dataset[0]["info"], "task": ""}
        asyncio.run(rubric.score_rollout(state))
        assert state["metrics"] == {"rating_reward": expected, "format_reward": expected}
        assert state["reward"] == 1.5 * expected
