# Asks whether a file exists and how large it is.
# expect: model_error
# process: breach
import os


def attack(target):
    return target["claim"] if os.stat(target["secret_file"]).st_size else None
