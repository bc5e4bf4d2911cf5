"""`cwm benchmark hanabi`, the part that is right or wrong: knowledge, beliefs, decks, sizes that are refused."""

import hashlib
import itertools
import random
from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from time import process_time
from typing import Any, Final

from arena.benchmarks.measurement import Measurement
from games import registry
from games.api import CHANCE, GameError
from games.hanabi import belief
from games.hanabi.config import VARIANTS
from games.hanabi.decks import FIXED, deck
from games.hanabi.game import Hanabi
from games.hanabi.knowledge import Course
from games.hanabi.partners import PARTNERS
from games.hanabi.reading import read

KNOWLEDGE_GAMES: Final = 200
BELIEF_CASES: Final = 200
RESAMPLES: Final = 10_000
DECKS: Final = 300
DECKS_HASH: Final = "6679644587246489970be67ef83fed9a5f9ebd0110c690ae513647a7cd8f03c4"
"""Of lines `seed card … card` for the first seeds, as the Hanabi Learning Environment deals them."""
BAD_SIZES: Final = (
    "players=6",
    "players=1",
    "colors=6",
    "ranks=6",
    "hand_size=0",
    "players=5,hand_size=11",
    "random_start_player=true",
)
PLAYER: Final = "value"
"""The bot that plays every second game: random ones end early."""

Progress = Callable[[str], None]


def run(games: int, say: Progress) -> Iterator[Measurement]:
    """Yields what was found right, as shares.

    Args:
        games: of each variant, where that is fewer than the usual number.
        say: told what is done.
    """
    for name in VARIANTS:
        say(f"knowledge of {name}")
        slots, right = knowledge(name, min(games, KNOWLEDGE_GAMES))
        note = f"{slots:,} slots in {min(games, KNOWLEDGE_GAMES)} games, against the engine's text"
        yield Measurement(f"hanabi/knowledge/{name}", right / slots, "share", note=note)
    say("beliefs")
    right = beliefs(BELIEF_CASES)
    yield Measurement("hanabi/belief/exact", right / BELIEF_CASES, "share", note=f"{BELIEF_CASES} cases, all listed")
    wanted = min(RESAMPLES, 50 * games)
    done, seen_alike = resamples(wanted, say)
    note = f"{done:,} histories, each played again; none is ever rejected"
    yield Measurement("hanabi/belief/resampled", seen_alike / done, "share", note=note)
    yield Measurement("hanabi/belief/time", five_unknown_cards(), "ms", note="five cards without a hint, worst of 20")
    lines = "".join(f"{seed} {' '.join(deck(f'{FIXED}{seed}', VARIANTS['hanabi-2p']))}\n" for seed in range(DECKS))
    same = hashlib.sha256(lines.encode()).hexdigest() == DECKS_HASH
    yield Measurement("hanabi/decks", float(same), "share", note=f"{DECKS} seeds as the engine's authors deal them")
    say("sizes that would end the process")
    refused = sum(is_refused(f"open_spiel:hanabi({sizes})") for sizes in BAD_SIZES)
    yield Measurement("hanabi/bad sizes refused", refused / len(BAD_SIZES), "share", note="; ".join(BAD_SIZES))


def moves(name: str, count: int) -> Iterator[tuple[Hanabi, Any, int, str, list[Any], Any, random.Random]]:
    """Yields game, state, mover, action, own decision points, the next state and a generator for each step of games,
    every second one played by a bot."""
    game = Hanabi(VARIANTS[name])
    for number in range(count):
        rng, state = random.Random(f"{name} {number}"), game.initial_state()
        own: list[list[Any]] = [[] for _ in range(game.config.players)]
        while legal := game.legal_actions(state):
            player = game.current_player(state)
            history: list[Any] = []
            action = rng.choice(legal)
            if player != CHANCE:
                shown = game.observe(state, player)
                history = [*own[player], (shown, None)]
                if number % 2:
                    action = PARTNERS[PLAYER](history, legal, rng)
                own[player].append((shown, action))
            after = game.apply_action(state, action)
            yield game, state, player, action, history, after, rng
            state = after


def knowledge(name: str, games: int) -> tuple[int, int]:
    """Returns how many slots were compared with the engine's text, and how many agree."""
    slots = right = 0
    course = Course(VARIANTS[name])
    for game, _, player, _, _, after, _ in moves(name, games):
        if player == CHANCE:
            continue
        if len(after.log) == 1:
            course = Course(VARIANTS[name])
        course.follow(after.log[-1].event())
        if game.current_player(after) == CHANCE:
            continue
        for known, hand in zip(course.hands, read(str(after)).hands, strict=True):
            slots += len(hand)
            right += sum(
                (one.told_colour, one.told_rank, *one.mask) == slot[1:] for one, slot in zip(known, hand, strict=True)
            )
    return slots, right


def beliefs(cases: int) -> int:
    """Returns how many of so many small cases have the chances that listing all arrangements gives."""
    rng, right, done = random.Random(7), 0, 0
    while done < cases:
        unseen = {card: rng.randint(0, 3) for card in rng.sample(["R1", "R2", "R3", "Y1", "Y2", "Y3"], 4)}
        masks = [
            ("".join(rng.sample("RY", rng.randint(1, 2))), "".join(rng.sample("123", rng.randint(1, 3))))
            for _ in range(rng.randint(1, 3))
        ]
        cards = [card for card, copies in unseen.items() for _ in range(copies)]
        hands = [
            hand
            for hand in itertools.permutations(cards, len(masks))
            if all(card[0] in colours and card[1] in ranks for card, (colours, ranks) in zip(hand, masks, strict=True))
        ]
        if not hands:
            continue
        counts = [Counter(hand[slot] for hand in hands) for slot in range(len(masks))]
        expected = [{card: Fraction(number, len(hands)) for card, number in slot.items()} for slot in counts]
        right += belief.chances(unseen, masks) == expected
        done += 1
    return right


def resamples(wanted: int, say: Progress) -> tuple[int, int]:
    """Returns how many histories were drawn, and how many show their player exactly what it saw."""
    done = alike = 0
    for part, name in enumerate(VARIANTS, start=1):
        say(f"resampled histories of {name}")
        for game, _, player, _, history, _, rng in moves(name, wanted):
            if done * len(VARIANTS) >= wanted * part:
                break
            if player != CHANCE:
                drawn = game.initial_state()
                for action in game.resample_history(history, player, rng):
                    drawn = game.apply_action(drawn, action)
                alike += game.observe(drawn, player) == history[-1][0]
                done += 1
    return done, alike


def five_unknown_cards() -> float:
    """Returns how many milliseconds the chances of five cards without a hint take at most."""
    unseen, times = VARIANTS["hanabi-2p"].deck(), []
    for card in itertools.islice(itertools.cycle(unseen), 20):
        changed = {**unseen, card: unseen[card] - 1}
        begun = process_time()
        belief.chances(changed, [("RYGWB", "12345")] * 5)
        times.append(process_time() - begun)
    return max(times) * 1000


def is_refused(game: str) -> bool:
    """Returns whether a game is refused with a sentence, and the process lives on."""
    try:
        registry.make(game)
    except GameError:
        return True
    return False
