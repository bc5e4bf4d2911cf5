"""A program that plays the first legal action, but for one planted fault, which its argument names."""

import json
import os
import sys
import time

FAULT = sys.argv[1] if len(sys.argv) > 1 else "none"


def say(message):
    sys.stdout.write((message if isinstance(message, str) else json.dumps(message)) + "\n")
    sys.stdout.flush()


if FAULT == "crash at start":
    sys.stderr.write("no brain found\n")
    sys.exit(3)
if FAULT == "silence at start":
    time.sleep(60)
if FAULT == "speaks first":
    say({"type": "ready"})
moves = 0
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        if FAULT == "wrong type at start":
            say({"type": "hello"})
        elif FAULT != "speaks first":
            say({"type": "ready", "name": "wrong"})
        continue
    if message["type"] == "end":
        if FAULT == "exit code":
            sys.exit(7)
        if FAULT == "goes on":
            time.sleep(60)
        continue
    moves += 1
    answer = {"type": "action", "action": message["legal_actions"][0]}
    if FAULT == "illegal move":
        answer["action"] = "x(9,9)"
    elif FAULT == "silence":
        time.sleep(60)
    elif FAULT == "half a line":
        sys.stdout.write('{"type": "act')
        sys.stdout.flush()
        time.sleep(60)
    elif FAULT == "late answer":
        time.sleep(0.7)
    elif FAULT == "crash in play" and moves == 2:
        raise ValueError("two is too many")
    elif FAULT == "killed":
        os.kill(os.getpid(), 9)
    elif FAULT == "exit":
        sys.exit(0)
    elif FAULT == "flood":
        while True:
            sys.stdout.write("x" * 65536)
    elif FAULT == "wrong JSON":
        answer = "{'action': 'x(0,0)'}"
    elif FAULT == "no object":
        answer = '["x(0,0)"]'
    elif FAULT == "no action":
        answer = {"type": "action", "move": answer["action"]}
    elif FAULT == "number":
        answer["action"] = 0
    elif FAULT == "wrong type":
        answer["type"] = "move"
    elif FAULT == "empty line":
        answer = ""
    elif FAULT == "extra lines":
        answer = json.dumps(answer) + "\n" + json.dumps(answer)
    elif FAULT == "info lines":
        say({"type": "info", "text": "thinking"})
    elif FAULT == "keys":
        answer["action"] = ",".join(sorted(name for name in os.environ if name.endswith("_KEY"))) or "none"
    say(answer)
