# Takes the number of the request, and says that no worker could be had: only the parent may say so.
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
    reply = {"outcome": "sandbox_unavailable", "value": None, "failure": None, "more": False, "output": ""}
    data = json.dumps(reply | {"id": frame.f_locals["request"]["id"]}).encode()
    os.write(4, struct.pack(">I", len(data)) + data)
