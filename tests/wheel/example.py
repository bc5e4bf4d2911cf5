"""The README's example, as a user has it in a file."""

import cwm

run = cwm.open_recording("tic_tac_toe")  # or cwm.synthesize("mnk", folder="runs/mnk", llm="openai:MODEL")
agents = [cwm.make_agent(run, sims=100), "mcts:sims=100", "random"]
cup = cwm.play_tournament("tic_tac_toe", agents, deals=2)
for row in cup.records():
    print(row["lineup"], row["agent"], row["payoff"])  # noqa: T201
