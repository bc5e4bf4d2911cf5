# Asks whether a file exists, by the call that only answers yes or no.
# expect: ok
# process: breach
import os


def attack(target):
    return target["claim"] if os.access(target["secret_file"], os.R_OK) else None
