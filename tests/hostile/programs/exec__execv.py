# Becomes another program.
# expect: model_error
# process: breach
import os


def attack(target):
    os.execv("/bin/sh", ["sh", "-c", f"mkdir {target['inside']}/made"])
