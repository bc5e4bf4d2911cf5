# Writes an answer by itself, without the number of the request.
# expect: protocol_error
# process: none
import json
import os
import struct


def attack(target):
    frame = {"outcome": "ok", "value": "forged", "failure": None, "id": "0", "more": False, "output": ""}
    data = json.dumps(frame).encode()
    os.write(4, struct.pack(">I", len(data)) + data)
    return "the real answer"
