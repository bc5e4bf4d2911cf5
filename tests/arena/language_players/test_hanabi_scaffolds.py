"""Hanabi's scaffolds: what they tell and never tell, to the letter; notes as models write them, read per hand."""

import random
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from arena.agents.api import Turn
from arena.language_players.scaffolds.prompts import Earlier, Proposal, Questions, Report, ScaffoldPrompts
from games import registry
from games.api import CHANCE, TERMINAL, Action, Game
from games.hanabi.scaffolds import RECENT, SCAFFOLDS
from games.hanabi.scaffolds.deductions import deduced
from tests.renew_scaffolds import FOLDER, GENERAL, histories, prompts_of, shown, texts, turn_of

EARLIER = (Earlier("(then)", "(answer)"),)


def view_of(name: str) -> str:
    return SCAFFOLDS[name].view or ""


def everything_asked(prompts: ScaffoldPrompts, turn: Turn) -> str:
    """Returns all that may be asked at a decision: of the player, of every role, of chooser and aggregator."""
    asked = Questions(prompts, turn, EARLIER[: prompts.scaffold.memory])
    proposals = [Proposal(turn.legal_actions[0], 2, ("so",)), Proposal(turn.legal_actions[-1], 1, ())]
    questions = [asked.asked(), *map(asked.of_role, prompts.roles), asked.of_chooser(proposals, 3)]
    return "\n".join(map(shown, [*questions, asked.of_aggregator([Report("analyst", "(report)")])]))


def played(game: Game, seed: int) -> list[Action]:
    """Returns the actions of a random game that loses few lives, so that it may reach its final round."""
    rng, state, actions = random.Random(seed), game.initial_state(), list[Action]()
    while game.current_player(state) != TERMINAL:
        legal = game.legal_actions(state)
        calm = [action for action in legal if "Play" not in action]
        actions.append(rng.choice(calm if calm and rng.random() < 0.9 else legal))
        state = game.apply_action(state, actions[-1])
    return actions


def decisions(game: Game, actions: list[Action]) -> Iterator[list[Action]]:
    """Yields the actions before every decision of a player."""
    state = game.initial_state()
    for number, action in enumerate(actions):
        if game.current_player(state) != CHANCE:
            yield actions[:number]
        state = game.apply_action(state, action)


@pytest.mark.parametrize("name", [*SCAFFOLDS, *GENERAL])
def test_what_a_scaffold_asks_is_pinned_to_the_letter(name: str) -> None:
    assert texts(name) == (FOLDER / f"{name}.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", SCAFFOLDS)
def test_states_that_a_player_cannot_tell_apart_give_the_same_prompts(name: str) -> None:
    game: Any = registry.make("hanabi-mini-2p" if name == "exact" else "hanabi-3p")  # chances take their time
    prompts, rng, view = prompts_of(name, game), random.Random(name), view_of(name)
    differing = 0
    for before in list(decisions(game, played(game, 3)))[4::9]:
        turn = turn_of(game, before, view)
        other = game.resample_history(turn.history, turn.player, rng)
        differing += other != before
        again = turn_of(game, other, view)
        assert everything_asked(prompts, again) == everything_asked(prompts, turn)
    assert differing > 1


@pytest.mark.parametrize("name", SCAFFOLDS)
def test_every_prompt_of_the_final_round_and_none_before_says_so(name: str) -> None:
    game = registry.make("hanabi-mini-2p")
    prompts, found = prompts_of(name, game), list[int]()
    for before in decisions(game, played(game, 5)):
        turn = turn_of(game, before, view_of(name))
        left = turn.observation["final_turns"]
        asked = Questions(prompts, turn, ())
        questions = [asked.asked(), *map(asked.of_role, prompts.roles), asked.of_aggregator([])]
        lines = [re.findall(r"FINAL ROUND.*", shown(question)) for question in questions]
        if left is None:
            assert lines == [[]] * len(lines)
            continue
        found.append(left)
        told = "this is the last turn" if left == 1 else f"{left} turns are left"
        assert all(len(said) == 1 and told in said[0] for said in lines)
    assert found == [2, 1]  # the first one of the round is told, too


def test_exact_tells_the_chances_and_bare_tells_nothing_of_the_others_knowledge() -> None:
    exact, mycroft, told = ((FOLDER / f"{name}.txt").read_text() for name in ("exact", "mycroft", "spin-told"))
    assert "chances:" in exact
    assert "was told" not in mycroft
    assert "by all hints" not in mycroft
    assert "was told" in told
    assert "by all hints" not in told


def test_the_historian_is_asked_from_three_players_on() -> None:
    roles = {
        count: [role.name for role in prompts_of("watson", registry.make(f"hanabi-{count}p")).roles] for count in (2, 3)
    }
    assert roles[2] == ["baseline", "rank-first", "analyst", "discards"]
    assert roles[3] == [*roles[2], "history"]


@pytest.mark.parametrize(("name", "moves"), [("watson", RECENT), ("sherlock", 14)])
def test_the_historian_of_watson_is_shown_the_last_moves_and_others_all(name: str, moves: int) -> None:
    game = registry.make("hanabi-3p")
    prompts = prompts_of(name, game)
    before = list(decisions(game, played(game, 3)))[14]
    asked = Questions(prompts, turn_of(game, before, view_of(name)), ())
    text = shown(asked.of_role(prompts.roles[-1])).split("## Your task")[1]
    assert len(re.findall(r"^- (?:You|Player)", text, re.MULTILINE)) == moves


def test_templates_of_a_wording_stand_in_the_place_of_ours() -> None:
    game = registry.make("hanabi-mini-2p")
    wording = {"name": "mine", "templates": {"watson": "Seat {{ player }}, go.", "_before": "/no_think"}}
    prompts = prompts_of("watson", game, wording=wording)
    usual = prompts_of("watson", game)
    before = next(decisions(game, played(game, 5)))
    text = Questions(prompts, turn_of(game, before, view_of("watson")), ()).asked()[-1].text
    assert text.startswith("/no_think\n\nSeat 0, go.\n\n## The situation")
    assert prompts.hash != usual.hash == prompts_of("watson", game).hash


# Notes.

GAME = registry.make("hanabi-mini-2p")
HISTORY = turn_of(GAME, next(decisions(GAME, played(GAME, 5))), "bare").history
ANY = {"colours": "RYG", "ranks": "123"}


def test_notes_are_read_in_every_form() -> None:
    notes = {
        "you": [
            {"colours": "RY", "ranks": "12"},
            {"colors": ["red", "G"], "rank": 3},
            "colour is yellow; rank could be 1, 2",
        ],
        "player+1": [
            "color could be red, yellow or green; rank is 3",
            "Color is R; Rank could be 1 or 2",
            {"colours": "any", "ranks": [1, "3"]},
        ],
    }
    assert deduced(notes, HISTORY) == (
        [
            (0, 0, "RY", "12"),
            (0, 1, "RG", "3"),
            (0, 2, "Y", "12"),
            (1, 0, "RYG", "3"),
            (1, 1, "R", "12"),
            (1, 2, "RYG", "13"),
        ],
        [],
    )


@pytest.mark.parametrize(
    ("hand", "reason"),
    [
        ([ANY, ANY], "deduction: wrong number of cards"),
        ("all unknown", "deduction: no list of cards"),
        ([ANY, ANY, {"colours": "RW", "ranks": "1"}], "deduction: unreadable card"),
        ([ANY, ANY, {"colours": "R", "ranks": "4"}], "deduction: unreadable card"),
        ([ANY, ANY, {"colours": "R"}], "deduction: unreadable card"),
        ([ANY, ANY, {"colours": "", "ranks": "1"}], "deduction: unreadable card"),
        ([ANY, ANY, "colour is not red; rank is 1"], "deduction: unreadable card"),
        ([ANY, ANY, "a red 3"], "deduction: unreadable card"),
        ([ANY, ANY, None], "deduction: unreadable card"),
    ],
)
def test_a_hand_that_cannot_be_read_whole_is_left_out_alone(hand: Any, reason: str) -> None:
    slots, problems = deduced({"you": hand, "player +1": [ANY] * 3}, HISTORY)
    assert problems == [reason]
    assert [slot[:2] for slot in slots] == [(1, 0), (1, 1), (1, 2)]


def test_players_who_are_not_there_or_lack_are_counted() -> None:
    assert deduced({"player+2": [ANY] * 3, "you": [ANY] * 3}, HISTORY)[1] == [
        "deduction: unknown player",
        "deduction: player left out",
    ]
    assert deduced(["R1"], HISTORY) == ([], ["deduction: no object"])


def test_a_position_is_told_to_each_player_from_its_own_seat() -> None:
    game = registry.make("hanabi-3p")
    before = list(decisions(game, played(game, 3)))[1]
    turn = turn_of(game, before, "default")
    assert turn.player == 1
    text = Questions(prompts_of("spin-told", game), turn, ()).situation
    assert "Player 2, 1 seat after you (+1):" in text
    assert "Player 0, 2 seats after you (+2):" in text
    assert len(histories(game, before, "default")[1][0]) == 1
    assert Questions(prompts_of("spin-told", game), replace(turn, seed=9), ()).situation == text
