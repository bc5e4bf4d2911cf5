# Reads a file through a module that was loaded before the lock.
# expect: model_error
# process: breach
from pathlib import Path


def attack(target):
    return Path(target["secret_file"]).read_text()
