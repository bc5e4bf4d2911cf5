"""Chance outcomes that follow from no rule reach a program as data: in its INITIAL_STATE."""

from textwrap import dedent

from arena.runs import inputs as run_inputs
from cwm.suite.build import BuildOptions, build
from cwm.synthesis.testing import ProcessTester, TesterSettings

GAMES = 3
BY_THE_RULES = dedent(
    """
    import random
    from itertools import product

    KINDS = ("books", "hats", "basketballs")


    def row(text):
        return dict(zip(KINDS, map(int, text.split(","))))


    def text(counts):
        return ",".join(str(counts[kind]) for kind in KINDS)


    def keep(numbers):
        return "keep " + ", ".join(f"{number} {kind}" for number, kind in zip(numbers, KINDS))


    UNSEEN = {}
    for deal in INITIAL_STATE["deals"]:
        pool, *values = deal.split(" ")
        for player, own in enumerate(values):
            UNSEEN.setdefault((player, pool, own), []).append(deal)


    def apply_action(state, action):
        if state["current_player"] == -1:
            pool, *values = map(row, action.split(" "))
            return {**state, "pool": pool, "values": values, "deals": [], "current_player": 0}
        if action == "agree":
            return {**state, "agreed": True, "current_player": -4}
        player = state["current_player"]
        keeps = {part.split(" ")[1]: int(part.split(" ")[0]) for part in action[5:].split(", ")}
        offers = [*state["offers"], {"player": player, "keeps": keeps}]
        return {**state, "offers": offers, "current_player": -4 if len(offers) == 10 else 1 - player}


    def get_current_player(state):
        return state["current_player"]


    def get_player_name(player_id):
        return {-1: "chance", -4: "terminal"}.get(player_id, f"player_{player_id}")


    def get_rewards(state):
        if not state["agreed"]:
            return [0.0, 0.0]
        kept = state["offers"][-1]["keeps"]
        shares = [kept, {kind: state["pool"][kind] - kept[kind] for kind in KINDS}]
        if state["offers"][-1]["player"] == 1:
            shares.reverse()
        worth = [sum(share[kind] * own[kind] for kind in KINDS) for share, own in zip(shares, state["values"])]
        return [float(one) for one in worth]


    def get_legal_actions(state):
        if state["current_player"] < 0:
            return list(state["deals"])
        offers = [keep(numbers) for numbers in product(*(range(state["pool"][kind] + 1) for kind in KINDS))]
        return [*offers, "agree"] if state["offers"] else offers


    def get_chance_outcomes(state):
        return [(deal, 1 / len(state["deals"])) for deal in state["deals"]]


    def get_observations(state):
        public = {name: state[name] for name in ("pool", "offers", "agreed", "current_player")}
        own = state["values"] or [None, None]
        return [{"player": player, "own_values": own[player], **public} for player in (0, 1)]


    def resample_history(obs_action_history, player_id):
        seen = obs_action_history[-1][0]
        deals = UNSEEN[player_id, text(seen["pool"]), text(seen["own_values"])]
        return [random.choice(deals), *(keep(offer["keeps"].values()) for offer in seen["offers"])]
    """
)


def test_program_that_reads_the_deals_of_bargaining_from_its_initial_state_passes_every_test() -> None:
    inputs = run_inputs.registered("bargaining", GAMES, seed=1)
    options = BuildOptions(kinds=("transition", "inference", "random_play"), reference=inputs.game)  # type: ignore[arg-type]
    tests = build(inputs.train, options)
    pairs = run_inputs.hidden_pairs(inputs.game, inputs.train)
    tester = ProcessTester(tests, inputs.info, inputs.initial_state, TesterSettings(workers=1), pairs)
    (report,) = tester([BY_THE_RULES])
    assert [result for result in report.results if result.status != "pass"] == []
    assert report.counts["transition"].passed == sum(len(game.steps) for game in inputs.train)
    assert report.counts["inference"].passed > 0
