"""The button game and the cat-dog game: who sees what, and what is paid."""

import pytest

from games.posg.api import PosgError
from games.posg.button_game.model import ButtonGame
from games.posg.cat_dog.model import CatDog
from games.posg.chance import enumerating, replaying
from games.posg.exact import ExactModel

NO_CHANCE = replaying({})


@pytest.mark.parametrize(("pet", "number"), [("cat", 6), ("dog", 7)])
def test_the_parity_of_the_lamp_is_the_pet(pet: str, number: int) -> None:
    game = ButtonGame()
    state = game.initial_state(replaying({"pet": pet}))
    assert game.active(state) == (0,)
    assert game.observation_to_json(0, game.observe(state, None, NO_CHANCE)[0]) == {"lamp": None, "pet": pet}
    assert game.observation_to_json(1, game.observe(state, None, NO_CHANCE)[1]) == {"lamp": None}
    state, rewards, _ = game.move(state, ("press 3", "guess cat"), NO_CHANCE)
    assert (rewards, game.active(state)) == ((0.0, 0.0), (1,))
    assert game.observation_to_json(1, game.observe(state, None, NO_CHANCE)[1]) == {"lamp": number}
    assert game.move(state, ("press 0", f"guess {pet}"), NO_CHANCE)[1:] == ((10.0, 10.0), (True, True))
    wrong = "guess dog" if pet == "cat" else "guess cat"
    assert game.move(state, ("press 0", wrong), NO_CHANCE)[1] == (-10.0, -10.0)


def test_a_game_without_buttons_is_refused() -> None:
    with pytest.raises(PosgError, match="button-game has 1 button or more, not 0"):
        ButtonGame(0)


def best_of_bob(done: str) -> float:
    """Returns what the best answer to what Bob knows is worth, if Alice always does the same."""
    game = CatDog()
    worth: dict[object, dict[str, float]] = {}
    for start in ExactModel(game).starts():
        state, rewards, over = game.move(start.state, (done, "give up"), NO_CHANCE)
        if over[0]:
            return rewards[0]
        told = game.observe(state, None, NO_CHANCE)[1]
        for answer in game.legal_actions(state, 1):
            paid = game.move(state, (done, answer), NO_CHANCE)[1][0]
            answers = worth.setdefault(told, {})
            answers[answer] = answers.get(answer, 0.0) + start.probability * (rewards[0] + paid)
    return sum(max(answers.values()) for answers in worth.values())


@pytest.mark.parametrize(("done", "value"), [("lamp on", 0.5), ("lamp off", 0.5), ("open door", 5.0), ("give up", 1.0)])
def test_what_alice_always_does_is_worth_what_bob_can_make_of_it(done: str, value: float) -> None:
    assert best_of_bob(done) == pytest.approx(value)


def test_bob_sees_the_pet_through_the_open_door_alone() -> None:
    game = CatDog()
    for done in ("lamp on", "lamp off", "open door"):
        told = []
        for _, start in enumerating(game.initial_state):
            state = game.move(start, (done, "give up"), NO_CHANCE)[0]
            told.append(game.observation_to_json(1, game.observe(state, None, NO_CHANCE)[1]))
        pets = ["cat", "dog"] if done == "open door" else [None, None]
        assert told == [{"pet": pet, "done": done} for pet in pets]
