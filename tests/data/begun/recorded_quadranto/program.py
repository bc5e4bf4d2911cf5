import random
from typing import Any

Action = str
State = dict[str, Any]
PlayerObservation = dict[str, Any]

_SIZE = 4
_MAX_MOVES = 20

_DELTAS = {
    'Left': (0, -1),
    'Right': (0, 1),
    'Up': (-1, 0),
    'Down': (1, 0),
    'Stay': (0, 0),
}


def _quadrant_name(row: int, column: int) -> str:
    return ('top' if row < 2 else 'bottom') + ' ' + ('left' if column < 2 else 'right')


# _QUADRANT[row][column]: the name of the quadrant of a cell.
_QUADRANT = [[_quadrant_name(r, c) for c in range(_SIZE)] for r in range(_SIZE)]

# The cells (row * 4 + column) of each quadrant, row by row.
_QUADRANT_CELLS: dict[str, list[int]] = {}
for _r in range(_SIZE):
    for _c in range(_SIZE):
        _QUADRANT_CELLS.setdefault(_QUADRANT[_r][_c], []).append(_r * _SIZE + _c)

# The cells on which chance places each player.
_START_CELLS = (_QUADRANT_CELLS['top left'], _QUADRANT_CELLS['bottom right'])


def _place_action(player: int, cell: int) -> str:
    return 'place player %d at %d,%d' % (player, cell // _SIZE, cell % _SIZE)


_PLACE_ACTIONS = tuple(tuple(_place_action(p, cell) for cell in _START_CELLS[p]) for p in (0, 1))
_PLACE_OUTCOMES = tuple(tuple((action, 0.25) for action in _PLACE_ACTIONS[p]) for p in (0, 1))
_PLACE_TARGET = {
    _place_action(p, cell): (p, cell // _SIZE, cell % _SIZE)
    for p in (0, 1)
    for cell in _START_CELLS[p]
}


def _steps_from(row: int, column: int) -> list[tuple[str, int]]:
    steps = []
    for action, (dr, dc) in _DELTAS.items():
        r = row + dr
        c = column + dc
        if 0 <= r < _SIZE and 0 <= c < _SIZE:
            steps.append((action, r * _SIZE + c))
    return steps


# _STEPS[cell]: the legal moves from a cell, each with the cell it leads to.
_STEPS = [_steps_from(cell // _SIZE, cell % _SIZE) for cell in range(_SIZE * _SIZE)]

# _LEGAL[row][column]: the legal moves from a cell, in the order of the rules.
_LEGAL = [[tuple(a for a, _ in _STEPS[r * _SIZE + c]) for c in range(_SIZE)] for r in range(_SIZE)]


def apply_action(state: State, action: Action) -> State:
    """Returns the state after `action`, a chance action too."""
    positions = state['positions']
    player = state['current_player']
    if player == -1:
        placed, row, column = _PLACE_TARGET[action]
        if placed == 0:
            return {'positions': [[row, column], None], 'moves': state['moves'], 'current_player': -1}
        return {
            'positions': [list(positions[0]), [row, column]],
            'moves': state['moves'],
            'current_player': 0,
        }
    row, column = positions[player]
    dr, dc = _DELTAS[action]
    own = [row + dr, column + dc]
    other = list(positions[1 - player])
    moves = state['moves'] + 1
    if own == other or moves >= _MAX_MOVES:
        following = -4
    else:
        following = 1 - player
    return {
        'positions': [own, other] if player == 0 else [other, own],
        'moves': moves,
        'current_player': following,
    }


def get_current_player(state: State) -> int:
    """Returns the player to move: 0 or 1; -1 for chance; -4 when the game is over."""
    return state['current_player']


def get_player_name(player_id: int) -> str:
    """Returns the name of a player, 'chance' for -1 and 'terminal' for -4."""
    if player_id == -1:
        return 'chance'
    if player_id == -4:
        return 'terminal'
    return 'player_%d' % player_id


def get_rewards(state: State) -> list[float]:
    """Returns each player's reward for the last action, as floats."""
    if state['current_player'] == -4:
        positions = state['positions']
        if positions[0] == positions[1]:
            # Player 0 makes the odd moves, player 1 the even ones.
            if state['moves'] % 2 == 1:
                return [1.0, -1.0]
            return [-1.0, 1.0]
    return [0.0, 0.0]


def get_legal_actions(state: State) -> list[Action]:
    """Returns the legal actions of the player to move, the possible outcomes at a chance node, [] at the end."""
    player = state['current_player']
    if player >= 0:
        row, column = state['positions'][player]
        return list(_LEGAL[row][column])
    if player == -1:
        return list(_PLACE_ACTIONS[0 if state['positions'][0] is None else 1])
    return []


def get_chance_outcomes(state: State) -> list[tuple[Action, float]]:
    """Returns every outcome with its exact probability at a chance node, and [] anywhere else."""
    if state['current_player'] != -1:
        return []
    return list(_PLACE_OUTCOMES[0 if state['positions'][0] is None else 1])


def get_observations(state: State) -> list[PlayerObservation]:
    """Returns what each player sees, by player id."""
    positions = state['positions']
    moves = state['moves']
    current_player = state['current_player']
    observations = []
    for player in (0, 1):
        own = positions[player]
        other = positions[1 - player]
        observations.append({
            'player': player,
            'position': None if own is None else list(own),
            'opponent_quadrant': None if other is None else _QUADRANT[other[0]][other[1]],
            'moves': moves,
            'current_player': current_player,
        })
    return observations


def resample_history(obs_action_history: list[tuple[PlayerObservation, Action | None]], player_id: int) -> list[Action]:
    """Samples one of the histories that `player_id` cannot tell from the real one, all of them equally likely."""
    if not obs_action_history:
        return []
    count = len(obs_action_history)
    own_cells = []
    own_actions = []
    for observation, action in obs_action_history:
        row, column = observation['position']
        own_cells.append(row * _SIZE + column)
        own_actions.append(action)

    # layers: the cells that the other player can have had, at its start and at each decision of player_id.
    layers = []
    if player_id == 1:
        # Player 0 has moved once before player 1's first decision.
        layers.append(list(_START_CELLS[0]))
    for k in range(count):
        here = own_cells[k]
        # Where player_id went next: had the other player been there, the game would be over.
        there = own_cells[k + 1] if k + 1 < count else here
        quadrant = _QUADRANT_CELLS[obs_action_history[k][0]['opponent_quadrant']]
        layers.append([cell for cell in quadrant if cell != here and cell != there])
    if player_id == 0:
        layers[0] = [cell for cell in layers[0] if cell in _START_CELLS[1]]

    # ways[i][cell]: how many continuations there are from this cell in layer i to the last layer.
    last = len(layers) - 1
    ways = [[0] * (_SIZE * _SIZE) for _ in layers]
    for cell in layers[last]:
        ways[last][cell] = 1
    for i in range(last - 1, -1, -1):
        following = ways[i + 1]
        current = ways[i]
        for cell in layers[i]:
            total = 0
            for _, target in _STEPS[cell]:
                total += following[target]
            current[cell] = total

    # Draw the start cell of the other player, then its moves, weighted with the number of continuations.
    first = ways[0]
    pick = random.randrange(sum(first))
    cell = -1
    for candidate in layers[0]:
        weight = first[candidate]
        if pick < weight:
            cell = candidate
            break
        pick -= weight
    start = cell
    other_actions = []
    for i in range(last):
        following = ways[i + 1]
        pick = random.randrange(ways[i][cell])
        for action, target in _STEPS[cell]:
            weight = following[target]
            if pick < weight:
                other_actions.append(action)
                cell = target
                break
            pick -= weight

    if player_id == 0:
        history = [_place_action(0, own_cells[0]), _place_action(1, start)]
        for k in range(count - 1):
            history.append(own_actions[k])
            history.append(other_actions[k])
    else:
        history = [_place_action(0, start), _place_action(1, own_cells[0])]
        history.append(other_actions[0])
        for k in range(count - 1):
            history.append(own_actions[k])
            history.append(other_actions[k + 1])
    return history
