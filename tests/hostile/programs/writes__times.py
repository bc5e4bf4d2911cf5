# Changes when a file was last written.
# expect: model_error
# process: breach
import os


def attack(target):
    os.utime(target["inside"] + "/kept", (1, 1))
