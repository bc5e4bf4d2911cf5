import random
from typing import Any

Action = str
State = dict[str, Any]
PlayerObservation = dict[str, Any]

_START_MONEY = 100

_DEALS = ['Chance outcome:%d' % _c for _c in range(6)]
_CARD_OF = {_name: _c for _c, _name in enumerate(_DEALS)}

_NAMES = {0: 'player_0', 1: 'player_1', -1: 'chance', -4: 'terminal'}


def _build_chance_tables():
    actions = {}
    outcomes = {}
    cards = [None, 0, 1, 2, 3, 4, 5]
    for a in cards:
        for b in cards:
            if a is not None and a == b:
                continue
            left = [_DEALS[c] for c in range(6) if c != a and c != b]
            probability = 1.0 / len(left)
            actions[(a, b)] = left
            outcomes[(a, b)] = [(name, probability) for name in left]
    return actions, outcomes


# Keyed by the two private cards: what chance can deal next.
_CHANCE_ACTIONS, _CHANCE_OUTCOMES = _build_chance_tables()


def _build_winner_table():
    table = {}
    for a in range(6):
        for b in range(6):
            if a == b:
                continue
            for p in range(6):
                if p == a or p == b:
                    continue
                ra, rb, rp = a // 2, b // 2, p // 2
                if ra == rb:
                    winner = -1
                elif ra == rp:
                    winner = 0
                elif rb == rp:
                    winner = 1
                elif ra > rb:
                    winner = 0
                else:
                    winner = 1
                table[(a, b, p)] = winner
    return table


# Keyed by private card 0, private card 1, public card: 0, 1 or -1 for a split pot.
_WINNER = _build_winner_table()


def apply_action(state: State, action: Action) -> State:
    """Returns the state after `action`, a chance action too."""
    new = dict(state)
    player = state['current_player']

    if player == -1:
        card = _CARD_OF[action]
        private = state['private_cards']
        if private[0] is None:
            new['private_cards'] = [card, None]
        elif private[1] is None:
            new['private_cards'] = [private[0], card]
            new['current_player'] = 0
        else:
            new['public_card'] = card
            new['current_player'] = 0
        return new

    first_round = state['round'] == 1
    key = 'round_1_betting' if first_round else 'round_2_betting'
    betting = state[key]
    new[key] = betting + [action]

    other = 1 - player
    old_money = state['money']

    if action == 'Fold':
        money = [old_money[0], old_money[1]]
        money[other] += state['pot']
        new['money'] = money
        new['pot'] = 0
        new['current_player'] = -4
        return new

    owed = old_money[player] - old_money[other]

    if action == 'Raise':
        pay = owed + (2 if first_round else 4)
        money = [old_money[0], old_money[1]]
        money[player] -= pay
        new['money'] = money
        new['pot'] = state['pot'] + pay
        new['current_player'] = other
        return new

    # Call
    pot = state['pot']
    if owed:
        money = [old_money[0], old_money[1]]
        money[player] -= owed
        pot += owed
        new['money'] = money
        new['pot'] = pot

    if not betting:
        # The first action of a round never ends it.
        new['current_player'] = other
        return new

    if first_round:
        new['round'] = 2
        new['current_player'] = -1
        return new

    # Showdown
    private = state['private_cards']
    winner = _WINNER[(private[0], private[1], state['public_card'])]
    money = list(new['money'])
    if winner < 0:
        half = pot // 2
        money[0] += half
        money[1] += half
    else:
        money[winner] += pot
    new['money'] = money
    new['pot'] = 0
    new['current_player'] = -4
    return new


def get_current_player(state: State) -> int:
    """Returns the player to move: 0 or 1; -1 for chance; -4 when the game is over."""
    return state['current_player']


def get_player_name(player_id: int) -> str:
    """Returns the name of a player, 'chance' for -1 and 'terminal' for -4."""
    name = _NAMES.get(player_id)
    if name is None:
        name = 'player_%d' % player_id
    return name


def get_rewards(state: State) -> list[float]:
    """Returns each player's reward for the last action."""
    if state['current_player'] != -4:
        return [0.0, 0.0]
    money = state['money']
    return [float(money[0] - _START_MONEY), float(money[1] - _START_MONEY)]


def get_legal_actions(state: State) -> list[Action]:
    """Returns the legal actions of the player to move, the outcomes at a chance node, [] at the end."""
    player = state['current_player']
    if player >= 0:
        betting = state['round_1_betting'] if state['round'] == 1 else state['round_2_betting']
        money = state['money']
        if money[1 - player] < money[player]:
            if betting.count('Raise') < 2:
                return ['Fold', 'Call', 'Raise']
            return ['Fold', 'Call']
        if betting.count('Raise') < 2:
            return ['Call', 'Raise']
        return ['Call']
    if player == -1:
        private = state['private_cards']
        return _CHANCE_ACTIONS[(private[0], private[1])][:]
    return []


def get_chance_outcomes(state: State) -> list[tuple[Action, float]]:
    """Returns every outcome with its exact probability at a chance node, and [] anywhere else."""
    if state['current_player'] != -1:
        return []
    private = state['private_cards']
    return _CHANCE_OUTCOMES[(private[0], private[1])][:]


def get_observations(state: State) -> list[PlayerObservation]:
    """Returns what each player sees, by player id."""
    private = state['private_cards']
    public = state['public_card']
    round_number = state['round']
    pot = state['pot']
    money = state['money']
    betting_1 = state['round_1_betting']
    betting_2 = state['round_2_betting']
    current = state['current_player']
    return [
        {
            'player': player,
            'private_card': private[player],
            'public_card': public,
            'round': round_number,
            'pot': pot,
            'money': money[:],
            'round_1_betting': betting_1[:],
            'round_2_betting': betting_2[:],
            'current_player': current,
        }
        for player in (0, 1)
    ]


def resample_history(obs_action_history: list[tuple[PlayerObservation, Action | None]], player_id: int) -> list[Action]:
    """Samples at random one of the histories that `player_id` cannot tell from the real one."""
    if not obs_action_history:
        return []
    # The last observation holds everything but the other player's card.
    observation = obs_action_history[-1][0]
    own = observation['private_card']
    public = observation['public_card']
    hidden = random.choice([c for c in range(6) if c != own and c != public])

    if player_id == 0:
        history = [_DEALS[own], _DEALS[hidden]]
    else:
        history = [_DEALS[hidden], _DEALS[own]]
    history.extend(observation['round_1_betting'])
    if public is not None:
        history.append(_DEALS[public])
        history.extend(observation['round_2_betting'])
    return history
