# Takes the number of the request, and answers with a number that no JSON has (infinity, as 1e999).
# expect: protocol_error
# process: none
import json
import os
import struct
import sys


def attack(target):
    frame = sys._getframe()
    while "request" not in frame.f_locals:
        frame = frame.f_back
    reply = {"outcome": "ok", "value": None, "failure": None, "more": False, "output": ""}
    data = json.dumps(reply | {"id": frame.f_locals["request"]["id"]}).replace("null", "1e999", 1).encode()
    os.write(4, struct.pack(">I", len(data)) + data)
