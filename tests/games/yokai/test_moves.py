import random

from hypothesis import given
from hypothesis import strategies as st

from games.yokai.grid import grid


def brute_force(state, side):
    """The rule as it is written: try every cell, search breadth-first."""
    legal = []
    for card, locked in enumerate(state["locked"]):
        others = [tuple(p) for i, p in enumerate(state["positions"]) if i != card]
        for row in range(side):
            for column in range(side):
                cell = (row, column)
                if not locked and cell not in others and [row, column] != state["positions"][card]:
                    legal += [f"move {card} to {row},{column}"] * is_one_group({*others, cell})
    return legal


def is_one_group(cells):
    frontier = [next(iter(cells))]
    reached = set(frontier)
    while frontier:
        row, column = frontier.pop()
        for near in [(row + 1, column), (row - 1, column), (row, column + 1), (row, column - 1)]:
            if near in cells and near not in reached:
                reached.add(near)
                frontier.append(near)
    return reached == cells


def test_the_start_has_96_legal_moves_with_nine_cards_240_with_sixteen_and_92_with_eight(game, deal):
    assert len(game.rules.legal_moves(deal(game))) == {9: 96, 16: 240, 8: 4 * 11 + 4 * 12}[game.config.cards]


def test_the_fast_rule_lists_the_same_moves_as_brute_force(game, random_states):
    states = [state for state in random_states(game, 6, seed=21) if state["sub_step"] == 3]
    for state in random.Random(0).sample(states, 12):
        assert game.rules.legal_moves(state) == brute_force(state, game.config.grid)


@given(seed=st.integers(0, 10**9), side=st.sampled_from([7, 9, 10]), size=st.integers(2, 16))
def test_targets_of_a_card_are_the_cells_that_join_the_others_into_one_group(seed, side, size):
    rng = random.Random(seed)
    board = grid(side)
    cells = {(rng.randrange(side), rng.randrange(side)) for _ in range(size)}
    word = sum(board.bits[row][column] for row, column in cells)
    targets = board.targets(word)
    for row in range(side):
        for column in range(side):
            expected = (row, column) not in cells and is_one_group({*cells, (row, column)})
            assert bool(targets & board.bits[row][column]) == expected


@given(cells=st.sets(st.tuples(st.integers(0, 8), st.integers(0, 8)), min_size=1, max_size=12))
def test_a_set_is_connected_exactly_when_it_has_one_group(cells):
    board = grid(9)
    word = sum(board.bits[row][column] for row, column in cells)
    assert board.is_connected(word) == is_one_group(cells) == (board.groups(word) == 1)


def test_cells_at_both_ends_of_neighbouring_rows_do_not_touch():
    board = grid(9)
    assert board.groups(board.bits[3][8] | board.bits[4][0]) == 2


def test_at_least_three_of_eight_cards_can_always_be_moved():
    """So `no-op` is never legal with eight cards: the third hint that locks a card ends the game."""
    board = grid(7)
    groups = {bit for row in board.bits for bit in row}
    for _ in range(7):
        groups = {word | cell for word in groups for cell in cells_of(board.spread(word) & board.board & ~word)}
    shapes = {shape_of(word, board.stride) for word in groups}
    assert len(shapes) == 2725 - 2  # all fixed octominoes but the two straight ones, which do not fit
    for word in groups:
        assert sum(bool(board.targets(word ^ card) & ~card) for card in cells_of(word)) >= 3


def cells_of(word):
    return [1 << place for place in range(word.bit_length()) if word >> place & 1]


def shape_of(word, stride):
    places = [divmod(cell.bit_length() - 1, stride) for cell in cells_of(word)]
    top, left = min(row for row, _ in places), min(column for _, column in places)
    return frozenset((row - top, column - left) for row, column in places)


def test_move_that_splits_the_cards_is_illegal(small, deal, play):
    state = play(small, deal(small), "observe 0", "observe 1", "move 0 to 5,6", "reveal 0", "observe 0", "observe 1")
    assert "move 0 to 5,7" not in small.legal_actions(state)
    assert "move 0 to 4,6" in small.legal_actions(state)
    assert "move 8 to 3,3" not in small.legal_actions(state), "card 8 holds card 0"
    assert "move 8 to 4,6" in small.legal_actions(state)


def test_cards_stay_one_group_throughout(game, random_states):
    board = game.rules.grid
    for state in random_states(game, 5, seed=22):
        cells = [tuple(position) for position in state["positions"]]
        assert len(set(cells)) == game.config.cards
        assert board.is_connected(sum(board.bits[row][column] for row, column in cells))
