import random
from typing import Any

Action = str
State = dict[str, Any]
PlayerObservation = dict[str, Any]

_PREFIX = 'Chance outcome:'
_CARD_ACTIONS = [_PREFIX + str(card) for card in range(6)]
_ACTION_CARDS = {action: card for card, action in enumerate(_CARD_ACTIONS)}
_NAMES = {0: 'player_0', 1: 'player_1', -1: 'chance', -4: 'terminal'}


def _winner(card_0, card_1, public_card):
    """Returns 0 or 1, or -1 if the pot is split."""
    rank_0 = card_0 // 2
    rank_1 = card_1 // 2
    if rank_0 == rank_1:
        return -1
    public_rank = public_card // 2
    if rank_0 == public_rank:
        return 0
    if rank_1 == public_rank:
        return 1
    return 0 if rank_0 > rank_1 else 1


def _remaining_cards(state):
    cards = state['private_cards']
    first = cards[0]
    second = cards[1]
    public = state['public_card']
    return [card for card in range(6) if card != first and card != second and card != public]


def apply_action(state: State, action: Action) -> State:
    new = dict(state)
    player = state['current_player']
    if player == -1:
        card = _ACTION_CARDS[action]
        cards = state['private_cards']
        if cards[0] is None:
            new['private_cards'] = [card, None]
            # chance goes on with the card of player 1
        elif cards[1] is None:
            new['private_cards'] = [cards[0], card]
            new['current_player'] = 0
        else:
            new['public_card'] = card
            new['current_player'] = 0
        return new

    round_number = state['round']
    key = 'round_1_betting' if round_number == 1 else 'round_2_betting'
    betting = state[key] + [action]
    new[key] = betting
    money = list(state['money'])
    new['money'] = money
    other = 1 - player

    if action == 'Fold':
        money[other] += state['pot']
        new['pot'] = 0
        new['current_player'] = -4
        return new

    paid = money[player] - money[other]
    if action == 'Raise':
        paid += 2 if round_number == 1 else 4
        money[player] -= paid
        new['pot'] = state['pot'] + paid
        new['current_player'] = other
        return new

    # Call
    money[player] -= paid
    pot = state['pot'] + paid
    new['pot'] = pot
    if len(betting) == 1:
        new['current_player'] = other
    elif round_number == 1:
        new['round'] = 2
        new['current_player'] = -1
    else:
        cards = state['private_cards']
        winner = _winner(cards[0], cards[1], state['public_card'])
        if winner < 0:
            half = pot // 2
            money[0] += half
            money[1] += half
        else:
            money[winner] += pot
        new['pot'] = 0
        new['current_player'] = -4
    return new


def get_current_player(state: State) -> int:
    return state['current_player']


def get_player_name(player_id: int) -> str:
    name = _NAMES.get(player_id)
    return name if name is not None else 'player_' + str(player_id)


def get_rewards(state: State) -> list[float]:
    if state['current_player'] != -4:
        return [0.0, 0.0]
    money = state['money']
    return [float(money[0] - 100), float(money[1] - 100)]


def get_legal_actions(state: State) -> list[Action]:
    player = state['current_player']
    if player >= 0:
        betting = state['round_1_betting'] if state['round'] == 1 else state['round_2_betting']
        money = state['money']
        can_raise = betting.count('Raise') < 2
        if money[1 - player] < money[player]:
            return ['Fold', 'Call', 'Raise'] if can_raise else ['Fold', 'Call']
        return ['Call', 'Raise'] if can_raise else ['Call']
    if player == -1:
        return [_CARD_ACTIONS[card] for card in _remaining_cards(state)]
    return []


def get_chance_outcomes(state: State) -> list[tuple[Action, float]]:
    if state['current_player'] != -1:
        return []
    cards = _remaining_cards(state)
    probability = 1.0 / len(cards)
    return [(_CARD_ACTIONS[card], probability) for card in cards]


def get_observations(state: State) -> list[PlayerObservation]:
    return [
        {
            'player': player,
            'private_card': state['private_cards'][player],
            'public_card': state['public_card'],
            'round': state['round'],
            'pot': state['pot'],
            'money': list(state['money']),
            'round_1_betting': list(state['round_1_betting']),
            'round_2_betting': list(state['round_2_betting']),
            'current_player': state['current_player'],
        }
        for player in (0, 1)
    ]


def resample_history(obs_action_history: list[tuple[PlayerObservation, Action | None]], player_id: int,
                     last_is_terminal: bool) -> list[Action]:
    last = obs_action_history[-1][0]
    own = last['private_card']
    public = last['public_card']
    betting_1 = list(last['round_1_betting'])
    betting_2 = list(last['round_2_betting'])
    candidates = [card for card in range(6) if card != own and card != public]

    # A showdown tells by the money who has won.
    if (last['current_player'] == -4 and public is not None
            and betting_2 and betting_2[-1] == 'Call'):
        money = last['money']
        if money[0] > money[1]:
            result = 0
        elif money[1] > money[0]:
            result = 1
        else:
            result = -1
        fitting = []
        for card in candidates:
            if player_id == 0:
                winner = _winner(own, card, public)
            else:
                winner = _winner(card, own, public)
            if winner == result:
                fitting.append(card)
        if fitting:
            candidates = fitting

    other = random.choice(candidates)
    if player_id == 0:
        deal = [own, other]
    else:
        deal = [other, own]
    history = [_CARD_ACTIONS[deal[0]], _CARD_ACTIONS[deal[1]]]
    history.extend(betting_1)
    if public is not None:
        history.append(_CARD_ACTIONS[public])
        history.extend(betting_2)
    return history
