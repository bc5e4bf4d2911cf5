"""A model of a million random numbers learns Hanabi from our rows: from a bot's moves, then from ratings."""

import json
import random
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from arena.agents.playouts import playouts_of
from arena.exports.turns.export import rlvr_row
from arena.exports.turns.rows import rows_of
from arena.figures.intervals import Estimate, mean_estimate
from cwm.rewards import rating_reward
from cwm.rewards.reading import chosen
from games import registry
from games.api import CHANCE, TERMINAL
from search.action_values import ratings
from tests.arena.decisions import told
from tests.train.tiny_model import byte_tokenizer, tiny_model

pytestmark = [pytest.mark.slow, pytest.mark.extra("train")]
GAME = "hanabi-tiny-2p"
ROWS, GAMES = 2000, 300


def short(shown: dict[str, Any], legal: Sequence[str]) -> str:
    """Returns the situation in some sixty letters: a model that reads bytes has to be told briefly."""
    hands = [
        "".join(f"{slot['card'] or '?'}{slot['told_colour'] or '-'}{slot['told_rank'] or '-'} " for slot in hand)
        for hand in (shown["hands"][shown["player"]], shown["hands"][1 - shown["player"]])
    ]
    last = shown["recent"][-1]["action"] if shown["recent"] else ""
    numbers = f"{shown['fireworks']['R']}{shown['info_tokens']}{shown['deck_size']}"
    moves = "".join(f"{number}{_letters(action)} " for number, action in enumerate(legal))
    return f"{numbers} {hands[0]}{hands[1]}{_letters(last)}|{moves}="


def _letters(action: str) -> str:
    found = re.findall(r"^\(([PDR])|([0-9RYGWB])\)$", action)
    return "".join(letter for pair in found for letter in pair)


def rows(folder: Path) -> list[dict[str, Any]]:
    """Returns decisions of `simple` with short questions, the number of the move as the answer, ratings by search."""
    place = told.play(folder, GAME, 330)
    found = list(rows_of(place))[:ROWS]
    playouts = playouts_of(registry.make(GAME))
    for row in found:
        shown = json.loads(row["prompt"][0]["content"].partition("\n\nLegal moves:")[0])
        before = place.games[row["game_id"]].actions
        taken = [number for number, (player, _) in enumerate(before) if player != CHANCE][row["row"]]
        world = playouts.world([action for _, action in before[:taken]])
        means = [fmean(world.play(move, seed, 100)[0] for seed in range(4)) for move in row["legal"]]
        row["prompt"] = [{"role": "user", "content": short(shown, row["legal"])}]
        row["response"], row["ratings"], row["q"] = str(row["action_index"]), ratings(means), means
    return found


def answer(model: Any, tokenizer: Any, question: str) -> str:
    """Returns what the model thinks likeliest."""
    import torch

    text = tokenizer.apply_chat_template([{"role": "user", "content": question}], tokenize=False)
    asked = tokenizer(text, return_tensors="pt", return_token_type_ids=False).to(model.device)
    with torch.no_grad():
        said = model.generate(**asked, max_new_tokens=3, do_sample=False, pad_token_id=0)
    return str(tokenizer.decode(said[0, asked["input_ids"].shape[1] :], skip_special_tokens=True))


def played(model: Any, tokenizer: Any) -> tuple[float, list[float]]:
    """Returns the share of legal answers, and the points of games of self-play in which a bad answer is a random move.

    Games of the same number deal the same cards, so that two calls are compared game by game.
    """
    game, legal_answers, points = registry.make(GAME), list[bool](), list[float]()
    for number in range(GAMES):
        rng, state = random.Random(f"proof {number}"), game.initial_state()
        while (player := game.current_player(state)) != TERMINAL:
            legal = game.legal_actions(state)
            if player == CHANCE:
                action = rng.choice(legal)
            else:
                said = answer(model, tokenizer, short(game.observations(state)[player], legal))
                move = chosen(said, legal)
                legal_answers.append(move is not None)
                action = move or rng.choice(legal)
            state = game.apply_action(state, action)
        points.append(float(game.outcome(state)["points"]))
    return fmean(legal_answers), points


def gain(before: Sequence[float], after: Sequence[float]) -> Estimate:
    """Returns the mean gain over the same games, with its 95 % interval."""
    return mean_estimate([late - early for early, late in zip(before, after, strict=True)])


def trained(make: Callable[..., Any], config: Any, folder: Path, steps: int, **settings: Any) -> list[dict[str, Any]]:
    """Trains and returns what the trainer logged."""
    reward_funcs = {name: settings.pop(name) for name in ("reward_funcs",) if name in settings}
    model, data = settings.pop("model"), settings.pop("data")
    arguments = config(
        output_dir=str(folder),
        max_steps=steps,
        logging_steps=10,
        report_to=[],
        save_strategy="no",
        use_cpu=True,
        seed=1,
        disable_tqdm=True,
        **settings,
    )
    trainer = make(model=model, processing_class=byte_tokenizer(), train_dataset=data, args=arguments, **reward_funcs)
    trainer.train()
    history: list[dict[str, Any]] = trainer.state.log_history
    return history


def test_a_tiny_model_learns_from_a_bot_and_then_from_ratings(tmp_path: Path) -> None:
    datasets, trl = pytest.importorskip("datasets"), pytest.importorskip("trl")
    found, tokenizer, model = rows(tmp_path / "run"), byte_tokenizer(), tiny_model()
    assert len(found) == ROWS
    before = played(model.eval(), tokenizer)
    lessons = [
        {"prompt": row["prompt"], "completion": [{"role": "assistant", "content": row["response"]}]} for row in found
    ]
    log = trained(
        trl.SFTTrainer,
        trl.SFTConfig,
        tmp_path / "sft",
        250,
        model=model,
        data=datasets.Dataset.from_list(lessons),
        per_device_train_batch_size=16,
        learning_rate=2e-3,
        max_length=256,
    )
    losses = [entry["loss"] for entry in log if "loss" in entry]
    assert losses[-1] < losses[0] / 2
    taught = played(model.eval(), tokenizer)
    questions = datasets.Dataset.from_list([rlvr_row(row, number) for number, row in enumerate(found)])
    log = trained(
        trl.GRPOTrainer,
        trl.GRPOConfig,
        tmp_path / "grpo",
        50,
        model=model.train(),
        data=questions,
        reward_funcs=[rating_reward],
        per_device_train_batch_size=32,
        num_generations=8,
        max_completion_length=3,
        learning_rate=1e-4,
    )
    assert len([entry for entry in log if "rewards/rating_reward/mean" in entry]) == 5
    after = played(model.eval(), tokenizer)
    for legal_answers, points in (taught, after):
        assert legal_answers > before[0] + 0.9
        low = gain(before[1], points).low
        assert low is not None
        assert low > 0
