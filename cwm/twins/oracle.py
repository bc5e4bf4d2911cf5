"""The verified program plays, and tells every field of every state and every transition: what a twin must equal.

Loaded into workers: standard library alone. Games are played by chance, along given actions, or from the middle of an
earlier game that took branches of the program which few others took. Chance is not only played: at a chance node every
outcome is a transition.
"""

import random
from collections.abc import Iterator, Sequence
from json import dumps
from struct import pack
from typing import Any, Final

from cwm.observations.values import ObservationVectorError
from cwm.observations.vectors import ObservationVectors
from cwm.sandbox.wire.arrays import BinaryArray
from cwm.sandbox.wire.plain_json import normalise
from games.api import CHANCE, TERMINAL, Action, State

MODULE: Final = "cwm.twins.oracle"
PAYLOAD: Final = (
    "cwm.observations.values",
    "cwm.observations.structures",
    "cwm.observations.schema",
    "cwm.observations.vectors",
    MODULE,
)
"""The modules that a worker must load, each after those it imports."""
TAKEN: Final = "branches_taken_by_now"
"""What a program that marks its branches tells them by (`cwm.quality.branch_coverage`)."""
MOST_FANNED: Final = 64
"""So many outcomes of a chance node are tried at each visit; of more, as many that are drawn."""
FANNED: Final = 0.1
"""At this share of the decisions every legal action is tried, not only the one that is played."""
MOST_POOL: Final = 200
MOST_ACTIONS: Final = 16_384


class _Batch:
    """States and transitions that are told together."""

    def __init__(self, game: Any, argument: dict[str, Any]) -> None:
        self._game = game
        self._argument = argument
        self._actions = {name: number for number, name in enumerate(argument["actions"])}
        self._outcomes = {name: number for number, name in enumerate(argument["chance"])}
        schema = argument["schema"]
        self._vectors = None if schema is None else ObservationVectors.from_json(schema)
        self._places: dict[str, int] = {}
        self._states: list[State] = []
        self.texts: list[str] = []
        self.transitions: list[tuple[int, int, int]] = []
        self.unlisted: list[list[Any]] = []
        self.unfit = 0

    def place(self, state: State) -> int:
        """Returns the number of a state."""
        text = dumps(state, sort_keys=True, allow_nan=False, separators=(",", ":"))
        place = self._places.get(text)
        if place is None:
            normalise(state)
            place = self._places[text] = len(self.texts)
            self.texts.append(text)
            self._states.append(state)
        return place

    def step(self, place: int, state: State, player: int, action: Action) -> tuple[int, State]:
        """Takes an action; returns the number of the next state and the state."""
        following = self._game.apply_action(state, action)
        after = self.place(following)
        index = (self._outcomes if player == CHANCE else self._actions).get(action)
        if index is None:
            self.unlisted.append([place, action])
        else:
            self.transitions.append((place, index, after))
        return after, following

    def told(self) -> tuple[dict[str, Any], dict[str, BinaryArray]]:
        """Returns states and transitions as JSON and arrays."""
        game, count = self._game, len(self.texts)
        players = game.info.num_players
        actions, outcomes = len(self._actions), len(self._outcomes)
        turns, rewards, vectors, fit = [], [], [], bytearray()
        legal, chance = bytearray(count * actions), [0.0] * (count * outcomes)
        for number, state in enumerate(self._states):
            player = game.current_player(state)
            turns.append(player)
            rewards += [float(reward) for reward in game.rewards(state)]
            # Both are asked everywhere: what a program says where nobody asks is one of its branches, too.
            may, drawn = game.legal_actions(state), game.chance_outcomes(state)
            for action, probability in drawn if player == CHANCE else ():
                if action in self._outcomes:
                    # Two outcomes of one name are one outcome.
                    chance[number * outcomes + self._outcomes[action]] += float(probability)
                else:
                    self.unlisted.append([number, action])
            for action in may if player >= 0 else ():
                if action in self._actions:
                    legal[number * actions + self._actions[action]] = 1
                else:
                    self.unlisted.append([number, action])
            numbers, fits = self._seen(state, players)
            vectors += numbers
            fit += fits
        width = 0 if self._vectors is None else self._vectors.width
        flat = [number for row in self.transitions for number in row]
        arrays = {
            "transitions": BinaryArray("int32", (len(self.transitions), 3), pack(f"<{len(flat)}i", *flat)),
            "player": BinaryArray("int32", (count,), pack(f"<{count}i", *turns)),
            "legal": BinaryArray("uint8", (count, actions), bytes(legal)),
            "chance": BinaryArray("float32", (count, outcomes), pack(f"<{len(chance)}f", *chance)),
            "rewards": BinaryArray("float32", (count, players), pack(f"<{len(rewards)}f", *rewards)),
            "observations": BinaryArray("float32", (count, players, width), pack(f"<{len(vectors)}f", *vectors)),
            "fit": BinaryArray("uint8", (count, players), bytes(fit)),
        }
        return {"states": self.texts, "unlisted": self.unlisted[:100], "unfit": self.unfit}, arrays

    def _seen(self, state: State, players: int) -> tuple[list[float], bytes]:
        if self._vectors is None:
            return [], bytes(players)
        numbers: list[float] = []
        fit = bytearray()
        for observation in self._game.observations(state):
            try:
                numbers += self._vectors.encode(observation)
                fit.append(1)
            except ObservationVectorError:
                numbers += [0.0] * self._vectors.width
                fit.append(0)
                self.unfit += 1
        return numbers, bytes(fit)


def play(game: Any, argument: dict[str, Any], rng: random.Random) -> tuple[dict[str, Any], dict[str, BinaryArray]]:
    """Plays games until there are enough transitions.

    Args:
        game: the verified program.
        argument: `actions`, `chance`: tables; `schema` of observations or None; `seed`; `first`: number of the first
            game; `transitions`: how many are wanted; `replays`: actions of games that are played first; `pool`: actions
            of games from whose middle others begin; `taken`: branches that were taken before; `max_length`: a game is
            broken off after so many actions.
        rng: not used: every game is drawn from the seed and its own number.

    Returns:
        `states`: texts; `games`: how many; `unlisted`: [place, action] of actions that are in no table; `unfit`:
        observations that do not fit the schema; `taken`: branches by now; `pool`; `broken`: games that were broken
        off; and arrays: `transitions` int32 [T, 3] (place, index of the action, place after it), and of every state
        `player`, `legal`, `chance`, `rewards`, `observations`, `fit`.
    """
    batch = _Batch(game, argument)
    pool: list[list[Action]] = list(argument["pool"])
    replays: list[list[Action]] = argument["replays"]
    # What another worker counted before this one counts, too: a proof that goes on draws the same games.
    taken = set(argument["taken"])
    games = broken = 0
    wanted = argument["transitions"]
    while games < len(replays) or (len(batch.transitions) < wanted and games < wanted):
        own = random.Random(f"{argument['seed']}/{argument['first'] + games}")
        if games < len(replays):
            begun = replays[games]
        elif pool and own.random() < 0.34:
            chosen = own.choice(pool)
            begun = chosen[: own.randint(0, len(chosen))]
        else:
            begun = []
        played, ended = _game(game, batch, begun, own, argument["max_length"])
        games += 1
        broken += not ended
        now = set(_taken(game))
        if now - taken:
            pool = [*pool, played][-MOST_POOL:]
        taken |= now
        if batch.unlisted:
            break
    told, arrays = batch.told()
    taken |= set(_taken(game))
    return {**told, "games": games, "broken": broken, "taken": sorted(taken), "pool": pool}, arrays


def sample(game: Any, argument: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    """Plays games by chance and returns what a twin's writer must know of them.

    Args:
        game: the verified program.
        argument: `games`, `seed`, `max_length`, `observations`: how many different ones are told at most; `replays`:
            actions of games that are gone through for what is observed; `ends`: further games by chance of which the
            last observations are told.
        rng: not used.

    Returns:
        `actions` and `chance`: the strings that were met, in the order in which they were; `counts`: how many of both
        there were after each game; `observations`; `longest`: actions of the longest game; `sizes`: characters of the
        largest state of each game; `history`: for a few games, all their moments, see `_moment`.
    """
    met: dict[str, dict[Action, None]] = {"actions": {}, "chance": {}}
    observations: dict[str, Any] = {}
    counts, sizes, history = [], [], []

    def observe(state: State) -> None:
        if len(observations) < argument["observations"]:
            for seen in game.observations(state):
                observations.setdefault(dumps(seen, sort_keys=True), seen)

    # What is rare in games by chance, such as a full board, comes first: the layout of vectors must hold it.
    for number in range(argument["ends"]):
        *_, (end, _, _) = _walk(game, random.Random(f"ends/{argument['seed']}/{number}"), argument["max_length"])
        observe(end)
    for actions in argument["replays"]:
        observe(state := game.initial_state())
        for action in actions:
            observe(state := game.apply_action(state, action))
    longest = 0
    for number in range(argument["games"]):
        own = random.Random(f"sample/{argument['seed']}/{number}")
        moments = []
        largest = length = 0
        for state, player, action in _walk(game, own, argument["max_length"]):
            largest = max(largest, len(dumps(state, sort_keys=True, separators=(",", ":"))))
            if number < 3:
                moments.append(_moment(game, state, player, action))
            if action is not None:
                length += 1
                met["chance" if player == CHANCE else "actions"].update(
                    dict.fromkeys(game.legal_actions(state) if player != CHANCE else _outcomes(game, state))
                )
            observe(state)
        longest = max(longest, length)
        counts.append(len(met["actions"]) + len(met["chance"]))
        sizes.append(largest)
        if number < 3:
            history.append(moments)
    return {
        "actions": list(met["actions"])[:MOST_ACTIONS],
        "chance": list(met["chance"])[:MOST_ACTIONS],
        "counts": counts,
        "observations": list(observations.values()),
        "longest": longest,
        "sizes": sizes,
        "history": history,
    }


def _moment(game: Any, state: State, player: int, action: Action | None) -> dict[str, Any]:
    """Returns what a program says of a state."""
    return {
        "state": state,
        "player": player,
        "legal": list(game.legal_actions(state)),
        "chance": [list(outcome) for outcome in game.chance_outcomes(state)],
        "rewards": [float(reward) for reward in game.rewards(state)],
        "observations": list(game.observations(state)),
        "action": action,
    }


def _walk(game: Any, rng: random.Random, most: int) -> Iterator[tuple[State, int, Action | None]]:
    state = game.initial_state()
    for _ in range(most):
        player = game.current_player(state)
        if player == TERMINAL:
            yield state, player, None
            return
        action = _drawn(game, state, player, rng)
        yield state, player, action
        state = game.apply_action(state, action)
    yield state, game.current_player(state), None


def _game(
    game: Any, batch: _Batch, begun: Sequence[Action], rng: random.Random, most: int
) -> tuple[list[Action], bool]:
    """Plays one game; returns its actions, and whether it ended."""
    state = game.initial_state()
    place = batch.place(state)
    played: list[Action] = []
    while len(played) < most:
        player = game.current_player(state)
        if player == TERMINAL:
            return played, True
        action = begun[len(played)] if len(played) < len(begun) else _drawn(game, state, player, rng)
        for other in _fan(game, state, player, rng):
            if other != action:
                batch.step(place, state, player, other)
        place, state = batch.step(place, state, player, action)
        played.append(action)
    return played, False


def _fan(game: Any, state: State, player: int, rng: random.Random) -> list[Action]:
    """Returns the actions that are tried beside the one that is played."""
    if player == CHANCE:
        outcomes = _outcomes(game, state)
        return outcomes if len(outcomes) <= MOST_FANNED else rng.sample(outcomes, MOST_FANNED)
    return list(game.legal_actions(state)) if rng.random() < FANNED else []


def _outcomes(game: Any, state: State) -> list[Action]:
    return [action for action, _ in game.chance_outcomes(state)]


def _drawn(game: Any, state: State, player: int, rng: random.Random) -> Action:
    if player == CHANCE:
        outcomes = game.chance_outcomes(state)
        drawn: Action = rng.choices([action for action, _ in outcomes], [chance for _, chance in outcomes])[0]
        return drawn
    chosen: Action = rng.choice(game.legal_actions(state))
    return chosen


def _taken(game: Any) -> list[int]:
    function = game.functions.get(TAKEN)
    return [] if function is None else function()
