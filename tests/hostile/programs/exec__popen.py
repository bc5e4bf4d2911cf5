# Runs a command and reads what it prints.
# expect: model_error
# process: breach
import os


def attack(target):
    return os.popen(f"cat {target['secret_file']}").read()
