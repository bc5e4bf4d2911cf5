"""A seat of a game under way: told what it would be told at a table, beside opponents that play by the rules."""

import random

import pytest

from games import registry
from games.adapters.observed import SeatVectors, legal_choice, mask_of, sample_games, table_of
from games.adapters.seats import Asked, PosgTable, Seat, plays_at_random, seat_of
from games.api import CHANCE, TERMINAL, GameError
from games.posg import registry as posgs
from games.posg.chance import drawing
from games.posg.serialised import SerialisedPosg
from games.posg.turn_based import TurnBased


@pytest.mark.parametrize("game_id", ["tiger-2a", "driving", "predator-prey", "kuhn in turns"])
def test_agents_are_told_what_the_serialised_game_tells_them(game_id: str) -> None:
    model = TurnBased(registry.make("kuhn_poker")) if game_id == "kuhn in turns" else posgs.make(game_id)
    game, table = SerialisedPosg(model), PosgTable(model)
    steps = 0
    for seed in range(4):
        choose, players = drawing(random.Random(seed)), random.Random(seed)
        table.begin(random.Random(seed))
        state = game.initial_state()
        while True:
            while game.current_player(state) == CHANCE:
                state = game.apply_action(state, choose("", game.chance_outcomes(state)))
            assert [table.seen(agent) for agent in range(model.info.num_agents)] == game.observations(state)
            if game.current_player(state) == TERMINAL:
                break
            chosen = {agent: players.choice(table.legal(agent)) for agent in table.active}
            paid = table.play(chosen)
            for action in chosen.values():
                state = game.apply_action(state, action)
            while game.current_player(state) == CHANCE:
                state = game.apply_action(state, choose("", game.chance_outcomes(state)))
            assert game.rewards(state) == paid
            steps += 1
        assert table.is_cut or not table.active
    assert steps > 5


def test_an_opponent_is_told_its_own_decisions_and_no_hidden_state() -> None:
    asked: list[Asked] = []

    def calls(told: Asked) -> str:
        asked.append(told)
        return "Call"

    seat = seat_of(registry.make("leduc_poker"), 1, calls)
    seat.begin(random.Random(3))
    assert seat.play("Call") == 0.0
    assert seat.play("Call") == 1.0
    assert seat.is_over
    assert not seat.is_cut
    assert [len(told.history) for told in asked] == [1, 2]
    assert asked[1].history[0] == (asked[0].history[0][0], "Call")
    assert asked[1].history[1][1] is None
    assert {(told.player, told.state) for told in asked} == {(0, None)}


def test_rewards_of_a_seat_sum_to_its_return_and_a_long_game_is_cut() -> None:
    seat = seat_of(registry.make("tic_tac_toe"), 0, lambda asked: asked.legal[0])
    seat.begin(random.Random(0))
    assert [seat.play(action) for action in ("x(1,1)", "x(2,2)", "x(2,0)")] == [0.0, 0.0, -1.0]
    assert seat.is_over

    cut = seat_of(registry.make("tic_tac_toe"), 0, plays_at_random, most=3)
    cut.begin(random.Random(0))
    cut.play(cut.legal()[0])
    assert not cut.is_cut
    cut.play(cut.legal()[0])
    assert cut.is_cut
    assert not cut.is_over


@pytest.mark.parametrize(
    ("game_id", "seat", "opponents", "said"),
    [
        ("tic_tac_toe", 2, plays_at_random, "tic_tac_toe has the seats 0 to 1, not 2"),
        ("tiger-2a", -1, plays_at_random, "tiger-2a has the seats 0 to 1, not -1"),
        ("tiger-2a", "first", plays_at_random, "has the seats 0 to 1, not 'first'"),
        (
            "tiger-2a",
            0,
            [plays_at_random] * 2,
            "has 1 seats beside seat 0, but 2 opponents were given: give one for all",
        ),
    ],
)
def test_a_seat_that_is_not_there_is_refused(game_id: str, seat: int, opponents: object, said: str) -> None:
    with pytest.raises(GameError, match=said):
        seat_of(registry.make(game_id), seat, opponents)  # type: ignore[arg-type]


@pytest.mark.parametrize(("game_id", "legal"), [("tic_tac_toe", r"x\(0,0\), "), ("tiger-2a", "listen")])
def test_an_illegal_action_of_an_opponent_is_named(game_id: str, legal: str) -> None:
    seat = seat_of(registry.make(game_id), 1, lambda asked: "pass")
    with pytest.raises(GameError, match=f"the opponent at seat 0 played 'pass'; legal are .*{legal}"):
        begun_and_played(seat)


def begun_and_played(seat: Seat) -> None:
    seat.begin(random.Random(0))
    seat.play(seat.legal()[0])


def test_actions_are_numbered_by_the_rules_and_an_illegal_one_becomes_the_lowest_legal() -> None:
    table = table_of(posgs.make("tiger-2a"), 0, None)
    assert table.names == posgs.make("tiger-2a").info.actions[0]
    mask = mask_of(table, table.names[1:])
    assert mask.tolist() == [0, 1, 1]
    assert legal_choice(table, 2, mask) == (table.names[2], True)
    assert legal_choice(table, 0, mask) == (table.names[1], False)
    assert mask_of(table, ()).tolist() == [1, 0, 0]
    for number in (3, -1, 1.0, "listen"):
        with pytest.raises(GameError, match="tiger-2a has the actions 0 to 2, not"):
            legal_choice(table, number, mask)
    with pytest.raises(GameError, match="none of the legal actions fold is among the 3 known; give the list"):
        mask_of(table, ["fold"])
    with pytest.raises(GameError, match="must name at least one, and none twice"):
        table_of(registry.make("kuhn_poker"), 0, ["Bet", "Bet"])


def test_what_an_encoder_cannot_write_is_zeros_with_one_warning() -> None:
    class Refuses:
        width = 2

        def encode(self, observation: object) -> list[float]:
            if observation == {}:
                raise ValueError("it is empty")
            return [1.0, 1e40]

    vectors = SeatVectors(registry.make("tic_tac_toe"), 0, Refuses())
    assert vectors.write(None, {"a": 1}).tolist() == [1.0, float(vectors.high[1])]
    with pytest.warns(UserWarning, match=r"told as zeros \(it is empty\); let it be inferred from more sample games"):
        assert vectors.write(None, {}).tolist() == [0.0, 0.0]
    assert vectors.write(None, {}).tolist() == [0.0, 0.0]
    assert vectors.unfit == 2
    with pytest.raises(GameError, match="tic_tac_toe has no vectors of its own: give an encoder"):
        SeatVectors(registry.make("tic_tac_toe"), 0, None)


def test_sample_games_show_all_players_the_end_too() -> None:
    samples = sample_games(registry.make("tic_tac_toe"), 3)
    assert len(samples.observations[0]) == len(samples.observations[1])
    assert [{name[0] for name in own} for own in samples.actions] == [{"x"}, {"o"}]
    assert sample_games(registry.make("tic_tac_toe"), 3) == samples
    with pytest.raises(GameError, match="at least 1 sample game, not 0"):
        sample_games(registry.make("tic_tac_toe"), 0)
