# Runs a command with subprocess, loaded before the lock.
# expect: model_error
# process: breach
import subprocess


def attack(target):
    return subprocess.run(["mkdir", target["inside"] + "/made"], check=False).returncode
