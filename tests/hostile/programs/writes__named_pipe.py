# Makes a named pipe.
# expect: model_error
# process: breach
import os


def attack(target):
    os.mkfifo(target["inside"] + "/made")
