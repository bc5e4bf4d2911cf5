import jax
import jax.numpy as jnp
import numpy as np

from games.batched.yokai.border_cells import border_moves
from games.batched.yokai.environment import make
from games.yokai.game import make as make_reference
from search.learn.play.evaluation import Moment

GAME = make_reference(8, 2)


def kept(actions: list[str], alive: bool = True) -> tuple[np.ndarray, np.ndarray]:
    """Returns what is kept of one step in which the second player takes each of the actions."""
    numbers = jnp.array([[0, GAME.action_index(action)] for action in actions])
    moment = Moment(None, jnp.full(len(actions), alive), numbers, ())
    made, border = jax.jit(border_moves(make("yokai-8c-2p").sizes))(moment)
    return np.asarray(made), np.asarray(border)


def test_moves_to_the_rim_of_the_grid_are_border_moves():
    cells = [(row, column) for row in range(7) for column in range(7)]
    made, border = kept([f"move 3 to {row},{column}" for row, column in cells])
    assert made.all()
    assert [cell for cell, found in zip(cells, border, strict=True) if not found] == [
        (row, column) for row in range(1, 6) for column in range(1, 6)
    ]


def test_other_actions_are_no_moves():
    made, border = kept(["no-op", "observe 7", "reveal 0", "place 0 at 0,0", "place 2 at 6,6", "end"])
    assert not made.any()
    assert not border.any()


def test_finished_games_count_no_more():
    made, border = kept(["move 0 to 0,0"], alive=False)
    assert not made.any()
    assert not border.any()
