"""Unit tests as Python text for the prompt (the CWM paper, appendix G), failed ones with what went wrong."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from cwm.suite.joint import lines_of
from cwm.suite.types import UnitTest, UnitTestResult
from games.api import Json

MAX_CHARACTERS = 120_000
LONG = 4_000
"""Values of more characters than this are not spelled out where they stand elsewhere in the prompt."""


def render(
    tests: Sequence[UnitTest],
    results: Sequence[UnitTestResult] = (),
    initial_state: Json = None,
    max_characters: int = MAX_CHARACTERS,
) -> str:
    """Returns tests as `unittest` text.

    A test is shown whole or not at all: the first always, the others while they fit; how many were left out is said.

    Args:
        tests: in the order wanted.
        results: of any tests; those of failed ones appear as comments before the test.
        initial_state: the prompt shows it; where it is long and met again, its name stands for it.
        max_characters: cap on the whole text.
    """
    failed = {result.id: result for result in results if result.status != "pass"}
    initial = repr(initial_state)
    found = list(_shown(tests, failed, initial, max_characters))
    shown = [text for _, text in found if text]
    left_out = [test for test, text in found if not text]
    if left_out:
        kinds = sorted({test.kind for test in left_out})
        counts = ", ".join(f"{sum(test.kind == kind for test in left_out)} {kind}" for kind in kinds)
        shown.append(f"# {len(left_out)} more tests ({counts}) are not shown, to keep this text short.")
    return "\n\n".join(shown)


def fitting(tests: Sequence[UnitTest], initial_state: Json = None) -> list[UnitTest]:
    """Returns the tests that `render` shows of those that have not failed; the others do not fit."""
    return [test for test, text in _shown(tests, {}, repr(initial_state), MAX_CHARACTERS) if text]


def length(test: UnitTest, initial_state: Json = None) -> int:
    """Returns how many characters a test takes in a prompt, the empty line before the next one included."""
    return len(_text(test, None, repr(initial_state))) + 2


def _shown(
    tests: Sequence[UnitTest], failed: Mapping[str, UnitTestResult], initial: str, max_characters: int
) -> Iterator[tuple[UnitTest, str]]:
    """Yields every test with its text, "" where it does not fit."""
    length = 0
    for test in tests:
        text = _text(test, failed.get(test.id), initial)
        fits = not length or length + len(text) <= max_characters
        length += len(text) + 2 if fits else 0
        yield test, text if fits else ""


def _text(test: UnitTest, result: UnitTestResult | None, initial: str) -> str:
    text = "\n".join([*_complaint(result), *_BODIES[test.kind](test)])
    return text.replace(initial, "INITIAL_STATE") if len(initial) > LONG else text


def _complaint(result: UnitTestResult | None) -> list[str]:
    if result is None:
        return []
    lines = [f"# TODO: fix this {'error' if result.status == 'error' else 'wrong answer'}: {result.message}"]
    if result.status == "fail":
        lines += [f"#   {result.field}: expected {result.expected!r}", f"#   {result.field}: got {result.got!r}"]
    lines += [f"#   {line}" for line in result.traceback.splitlines()]
    if result.output_tail:
        lines += ["#   last lines of output:", *(f"#     {line}" for line in result.output_tail.splitlines())]
    return [line.replace("\r", "\\r").replace("\n", "\n#   ") for line in lines]


def _method(test: UnitTest, lines: Sequence[str]) -> list[str]:
    name = test.id.replace("-", "_")
    return [
        f"class Test_{name}(unittest.TestCase):",
        f"    def test_{name}(self):",
        *(f"        {line}" for line in lines),
    ]


def _transition(test: UnitTest) -> list[str]:
    data = test.data
    lines = [
        f"state = {data['state']!r}",
        f"self.assertEqual({data['player']!r}, get_current_player(state))",
        f"self.assertEqual({data['player_name']!r}, get_player_name({data['player']!r}))",
        f"self.assertEqual({data['rewards']!r}, get_rewards(state))",
        f"self.assertEqual({data['observations']!r}, get_observations(state))",
        *_choices(data),
    ]
    if data["action"] is not None:
        lines.append(f"self.assertEqual({data['next_state']!r}, apply_action(state, {data['action']!r}))")
    return _method(test, lines)


def _choices(data: Json) -> list[str]:
    """Returns the lines on legal actions and on chance."""
    if data["chance"] is None:
        return [
            "# What else may be dealt is not known.",
            f"self.assertIn({data['action']!r}, get_legal_actions(state))",
            f"self.assertGreater(dict(get_chance_outcomes(state))[{data['action']!r}], 0.0)",
            "self.assertAlmostEqual(1.0, sum(dict(get_chance_outcomes(state)).values()))",
        ]
    legal = f"{sorted(data['legal_actions'])!r}, sorted(get_legal_actions(state))"
    chance = f"{_pairs(data['chance'])}, dict(get_chance_outcomes(state))"
    listed = _listed_in_state(data)
    if listed is not None:
        legal = f"sorted({listed}), sorted(get_legal_actions(state))"
        chance = f"dict.fromkeys({listed}, {data['chance'][0][1]!r}), dict(get_chance_outcomes(state))"
    return [f"self.assertEqual({legal})", f"self.assertEqual({chance})"]


def _listed_in_state(data: Json) -> str | None:
    """Returns what names very many equally likely outcomes that the state itself lists, None where it does not."""
    outcomes = [outcome for outcome, _ in data["chance"]]
    if len(repr(outcomes)) <= LONG or len({weight for _, weight in data["chance"]}) != 1:
        return None
    if not isinstance(data["state"], dict) or sorted(outcomes) != sorted(data["legal_actions"]):
        return None
    return next((f"state[{key!r}]" for key, value in data["state"].items() if value == outcomes), None)


def _pairs(chance: Json) -> str:
    return repr(dict(chance))


def _inference(test: UnitTest) -> list[str]:
    data = test.data
    if "last_is_terminal" in data:
        return _closed_deck(test)
    if "legal_actions" in data:
        return _state_inference(test)
    history = [tuple(pair) for pair in data["history"]]
    lines = [
        f"player_id = {data['player']!r}",
        f"obs_action_history = {history!r}",
        f"for _ in range({data['samples']!r}):",
        "    state = INITIAL_STATE",
        "    remaining = list(obs_action_history)",
        "    for action in resample_history(obs_action_history, player_id):",
        "        if get_current_player(state) == player_id:",
        "            observation, own_action = remaining.pop(0)",
        "            self.assertEqual(observation, get_observations(state)[player_id])",
        "            self.assertEqual(own_action, action)",
        "        self.assertIn(action, get_legal_actions(state))",
        "        state = apply_action(state, action)",
        "    self.assertEqual(player_id, get_current_player(state))",
        "    self.assertEqual([(get_observations(state)[player_id], None)], remaining)",
    ]
    if data["several"]:
        lines += [
            "# Several histories fit these observations: different calls must return different ones.",
            f"draws = [tuple(resample_history(obs_action_history, player_id)) for _ in range({data['draws']!r})]",
            "self.assertGreater(len(set(draws)), 1)",
        ]
    return _method(test, lines)


def _closed_deck(test: UnitTest) -> list[str]:
    data = test.data
    over, paid = data["last_is_terminal"], data["return"]
    lines = [
        f"player_id = {data['player']!r}",
        f"obs_action_history = {[tuple(pair) for pair in data['history']]!r}",
        f"last_is_terminal = {over!r}",
        *(["totals = []"] if over else []),
        f"for number in range({data['return_draws'] if over else data['samples']!r}):",
        "    state = INITIAL_STATE",
        *(["    total = get_rewards(state)[player_id]"] if over else []),
        "    remaining = list(obs_action_history)",
        "    for action in resample_history(obs_action_history, player_id, last_is_terminal):",
        "        if get_current_player(state) == player_id:",
        "            observation, own_action = remaining.pop(0)",
        "            self.assertEqual(observation, get_observations(state)[player_id])",
        "            self.assertEqual(own_action, action)",
        "        self.assertIn(action, get_legal_actions(state))",
        "        state = apply_action(state, action)",
        *(["        total += get_rewards(state)[player_id]"] if over else []),
        f"    self.assertEqual({'-4' if over else 'player_id'}, get_current_player(state))",
        "    self.assertEqual([(get_observations(state)[player_id], None)], remaining)",
    ]
    if over:
        lines += [
            "    totals.append(total)",
            f"    if number >= {data['samples'] - 1} and {paid!r} in totals:",
            "        break",
            f"# The player was paid {paid!r} in all. What it saw may leave other results open, but this one too.",
            f"self.assertIn({paid!r}, totals)",
        ]
    return _method(test, lines)


def _state_inference(test: UnitTest) -> list[str]:
    data = test.data
    lines = [
        f"player_id = {data['player']!r}",
        f"obs_action_history = {[tuple(pair) for pair in data['history']]!r}",
        f"for _ in range({data['samples']!r}):",
        "    state = resample_state(obs_action_history, player_id)",
        "    self.assertEqual(player_id, get_current_player(state))",
        "    self.assertEqual(obs_action_history[-1][0], get_observations(state)[player_id])",
        f"    self.assertEqual({sorted(data['legal_actions'])!r}, sorted(get_legal_actions(state)))",
    ]
    if data["several"]:
        lines += [
            "# Several states fit these observations: different calls must return different ones.",
            f"draws = [repr(resample_state(obs_action_history, player_id)) for _ in range({data['draws']!r})]",
            "self.assertGreater(len(set(draws)), 1)",
        ]
    return _method(test, lines)


def _random_play(test: UnitTest) -> list[str]:
    players = test.data["num_players"]
    lines = [
        f"rng = random.Random({test.step!r})",
        "state = INITIAL_STATE",
        f"for _ in range({test.data['max_length']!r}):",
        f"    self.assertEqual({players!r}, len(get_rewards(state)))",
        f"    self.assertEqual({players!r}, len(get_observations(state)))",
        "    actions = get_legal_actions(state)",
        "    self.assertEqual(len(actions), len(set(actions)))",
        "    if get_current_player(state) == -4:",
        "        self.assertEqual([], actions)",
        "        return",
        "    if get_current_player(state) == -1:",
        "        outcomes = get_chance_outcomes(state)",
        "        self.assertEqual(set(actions), {action for action, _ in outcomes})",
        "        self.assertAlmostEqual(1.0, sum(probability for _, probability in outcomes), 9)",
        "    else:",
        "        self.assertEqual([], get_chance_outcomes(state))",
        "    state = apply_action(state, rng.choice(actions))",
        "self.fail('the game did not end')",
    ]
    return _method(test, lines)


def _value(test: UnitTest) -> list[str]:
    lines = [f"state = {test.data['state']!r}"]
    for player in range(test.data["num_players"]):
        if test.data["rewards"] is None:
            lines.append(f"self.assertIsInstance(value_function(state, {player!r}), float)")
        else:
            lines.append(f"self.assertEqual({test.data['rewards'][player]!r}, value_function(state, {player!r}))")
    return _method(test, lines)


def _contract(test: UnitTest) -> list[str]:
    lines = ["state = INITIAL_STATE", f"for action in {test.data['actions']!r}:"]
    lines += [
        "    state = apply_action(state, action)",
        f"# Here the program breaks a rule of every game: {test.data['rule']}",
    ]
    return _method(test, lines)


def _joint(test: UnitTest) -> list[str]:
    return _method(test, lines_of(test))


_BODIES: dict[str, Callable[[UnitTest], list[str]]] = {
    "transition": _transition,
    "inference": _inference,
    "random_play": _random_play,
    "value": _value,
    "contract": _contract,
    "step": _joint,
    "distribution": _joint,
    "joint_play": _joint,
    "joint_contract": _joint,
}
