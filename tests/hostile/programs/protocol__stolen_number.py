# Takes the number of the request from the worker's frames, and answers with it.
# expect: ok
# process: none
import json
import os
import struct
import sys


def attack(target):
    frame = sys._getframe()
    while "request" not in frame.f_locals:
        frame = frame.f_back
    reply = {"outcome": "ok", "value": "its own", "failure": None, "more": False, "output": ""}
    data = json.dumps(reply | {"id": frame.f_locals["request"]["id"]}).encode()
    os.write(4, struct.pack(">I", len(data)) + data)
    os._exit(0)
