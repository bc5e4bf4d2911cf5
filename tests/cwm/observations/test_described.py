"""The layout of vectors in words: each line is true of the vectors themselves."""

import re

from cwm.observations.described import described
from cwm.observations.vectors import infer

SAMPLES = [
    {"board": ["x", "."], "said": ["a"], "last": "move 3 to 4", "mine": None, "over": True, "pot": 4},
    {"board": [".", "x"], "said": ["b", "a"], "last": "move 2 to 9", "mine": 2, "over": False, "pot": 9},
]


def test_the_lines_name_every_number_once_and_in_order():
    vectors = infer(SAMPLES)
    told = described(vectors.part)
    places = [re.match(r"- \[(\d+)(?::(\d+))?\]", line).groups() for line in told if not line.startswith(" ")]
    ends = 0
    for first, last in places:
        assert int(first) == ends
        ends = int(last or int(first) + 1)
    assert ends == vectors.width


def test_a_line_says_how_a_number_is_made():
    vectors = infer(SAMPLES)
    told = {line.split(maxsplit=2)[2]: line for line in map(str.strip, described(vectors.part))}
    pot = next(line for what, line in told.items() if what.startswith("(observation['pot'] - 4) / 8"))
    place = int(re.search(r"\[(\d+)\]", pot)[1])
    assert vectors.encode(SAMPLES[1])[place] == (9 - 4) / 8
    length = next(line for line in told.values() if "the length of the list observation['said']" in line)
    place, divisor = int(re.search(r"\[(\d+)\]", length)[1]), int(length.split()[-1])
    assert vectors.encode(SAMPLES[1])[place] == 2 / divisor
