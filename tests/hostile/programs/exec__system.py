# Runs a command of the shell.
# expect: ok model_error
# process: breach
import os


def attack(target):
    return os.system(f"mkdir {target['inside']}/made")
