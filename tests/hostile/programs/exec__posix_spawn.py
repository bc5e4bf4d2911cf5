# Starts a program without a fork of Python's.
# expect: model_error
# process: breach
import os


def attack(target):
    pid = os.posix_spawn("/bin/mkdir", ["mkdir", target["inside"] + "/made"], {})
    os.waitpid(pid, 0)
