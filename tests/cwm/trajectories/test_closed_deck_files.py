"""Files of games without states, and of games that one player recorded, for the closed deck."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cwm.suite import closed_deck
from cwm.trajectories import files
from cwm.trajectories.packed import PackedGames
from cwm.trajectories.recorded import Trajectory, TrajectoryFormatError, collect, view, write
from cwm.trajectories.recorded import closed_deck as one_view
from games import registry

Rows = list[dict[str, Any]]


def recorded(games: int = 6) -> list[Trajectory]:
    return collect(registry.make("kuhn_poker"), games, 7)


def all_rows(path: Path, trajectories: list[Trajectory]) -> Rows:
    write(path, trajectories)
    return [json.loads(line) for line in path.read_text().splitlines()]


def without_states(trajectory: Trajectory) -> Trajectory:
    return replace(trajectory, steps=tuple(replace(step, state=None) for step in trajectory.steps))


def from_seat(trajectory: Trajectory, seat: int) -> Trajectory:
    """Returns what one player would have written down of a game."""
    steps, paid = [], 0.0
    for step in trajectory.steps:
        paid += step.rewards[seat]
        if step.player in (seat, -4):
            players = range(len(step.rewards))
            rewards = tuple(paid if player == seat else 0.0 for player in players)
            observations = tuple(step.observations[player] if player == seat else {} for player in players)
            steps.append(replace(step, state=None, rewards=rewards, observations=observations))
            paid = 0.0
    return replace(trajectory, steps=tuple(steps), seat=seat)


def one_seat_each() -> list[Trajectory]:
    return [from_seat(game, 1 - game.index % 2) for game in recorded()]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "games.jsonl"


def put(path: Path, rows: Rows) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.mark.parametrize("made", [[without_states(game) for game in recorded()], one_seat_each(), recorded()])
def test_what_was_written_is_read_back_equal(path: Path, made: list[Trajectory]) -> None:
    write(path, made)
    assert files.read(path, "closed") == made


def test_packed_games_keep_the_seat_that_they_were_recorded_from() -> None:
    assert list(PackedGames(one_seat_each())) == one_seat_each()


def test_state_may_be_left_out_and_without_it_every_player_is_seen_in_turn(path: Path) -> None:
    games = recorded()
    rows = [{key: value for key, value in row.items() if key != "state"} for row in all_rows(path, games)]
    found = files.read(put(path, rows), "closed")
    assert found == [without_states(game) for game in games]
    views = [view(game) for game in found]
    assert [view.player for view in views] == [0, 1, 0, 1, 0, 1]
    expected = [view(game) for game in games]
    assert [view.decisions for view in views] == [view.decisions for view in expected]
    assert [view.total_reward for view in views] == [view.total_reward for view in expected]


def test_a_game_from_one_seat_is_looked_at_from_there(path: Path) -> None:
    write(path, one_seat_each())
    found = [view(game) for game in files.read(path, "closed")]
    expected = [one_view(game, 1 - game.index % 2) for game in recorded()]
    assert [replace(view, initial_state=None) for view in found] == [
        replace(view, initial_state=None) for view in expected
    ]
    tests = list(closed_deck.inference_tests(one_seat_each(), 5, 10, 20))
    assert {test.data["player"] for test in tests if test.game == 0} == {1}


def test_the_open_deck_wants_states_and_everybodys_view(path: Path) -> None:
    rows = all_rows(path, recorded(1))
    del rows[2]["state"]
    with pytest.raises(TrajectoryFormatError, match=r"line 3: field 'state' is missing; .* for a closed deck"):
        files.read(put(path, rows))
    write(path, one_seat_each())
    hint = r"looks like games for the closed deck \(line 1: .*the option `deck` closed"
    with pytest.raises(TrajectoryFormatError, match=hint):
        files.read(path)


@pytest.mark.parametrize(
    ("line", "changes", "expected"),
    [
        (2, {"player": 1}, "line 2: field 'player' is 1; a game recorded from seat 0 has the turns of that player"),
        (1, {"seat": 2}, "line 1: field 'seat' is 2, but 'rewards' has 2 entries"),
        (1, {"seat": "1"}, "line 1: field 'seat' is \"1\"; expected the number of the one player whose view"),
        (1, {"seat": None}, "line 1: null stands for player 1; say at step 0 from whose 'seat' the game was recorded"),
        (2, {"seat": 0}, "line 2: field 'seat' belongs to the first step of a game"),
        (1, {"rewards": [0.0, 0.0]}, "line 1: 'observations' and 'rewards' must be known for seat 0 and null for all"),
        (2, {"observations": [None, {}]}, "line 2: 'observations' and 'rewards' must be known for seat 0"),
        (2, {"observations": [3, None]}, "line 2: field 'observations' is [3, null]; expected a list with one object"),
        (2, {"state": "hidden"}, "line 2: field 'state' is \"hidden\"; expected an object or null"),
        (2, {"action": "Fly"}, "line 2: field 'action' is \"Fly\", which is not among 'legal_actions'"),
        (2, {"step": 3}, "line 2: field 'step' is 3; expected 1"),
        (4, {"state": {"deck": 3}}, "line 4: field 'state' of a game's first step differs from line 1"),
    ],
)
def test_a_fault_in_a_game_from_one_seat_is_named_with_its_line(
    path: Path, line: int, changes: dict[str, Any], expected: str
) -> None:
    game = next(game for game in (from_seat(game, 0) for game in recorded(30)) if len(game.steps) == 3)
    rows = all_rows(path, [replace(game, index=number) for number in range(2)])
    files.read(put(path, rows), "closed")
    rows[line - 1] |= changes
    with pytest.raises(TrajectoryFormatError) as caught:
        files.read(put(path, rows), "closed")
    assert expected in str(caught.value)


def test_what_is_read_off_says_no_more_than_was_recorded() -> None:
    games = recorded()
    seen = files.infer_info([without_states(game) for game in games], deck="closed")
    known = files.infer_info(games)
    assert (seen.utility, seen.perfect_information, seen.has_chance) == (known.utility, False, True)
    assert (seen.min_utility, seen.max_utility) == (known.min_utility, known.max_utility)
    chanceless = collect(registry.make("tic_tac_toe"), 3, 0)
    told = files.infer_info([without_states(game) for game in chanceless], deck="closed")
    assert (told.perfect_information, told.has_chance) == (False, True)
    assert files.infer_info(chanceless, deck="closed").perfect_information
    one = [from_seat(game, 0) for game in games]
    info = files.infer_info(one, deck="closed")
    paid = [game.returns[0] for game in games]
    assert (info.utility, info.has_chance, info.num_players) == ("general_sum", True, 2)
    assert (info.min_utility, info.max_utility) == (min(paid), max(paid))
    assert [files.known_returns(game) for game in one] == [[value] for value in paid]


def test_the_example_of_the_documentation_is_read(path: Path) -> None:
    text = Path(files.__file__).parents[1].joinpath("TRAJECTORIES.md").read_text(encoding="utf-8")
    path.write_text(text.split("```\n")[-2])
    (game,) = files.read(path, "closed")
    seen = view(game)
    assert (seen.player, [action for _, action in seen.decisions], seen.total_reward) == (1, ["bet", "pass"], 2.0)
    assert seen.final_observation == {"card": "K", "said": ["bet", "bet", "pass"]}
