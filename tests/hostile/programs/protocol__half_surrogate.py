# Takes the number of the request, and answers with half of a surrogate pair.
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
    reply = {"outcome": "ok", "value": "\ud800", "failure": None, "more": False, "output": ""}
    data = json.dumps(reply | {"id": frame.f_locals["request"]["id"]}).encode()
    os.write(4, struct.pack(">I", len(data)) + data)
