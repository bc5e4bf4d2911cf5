# Cuts a file of the user.
# expect: model_error
# process: breach
import os


def attack(target):
    os.truncate(target["inside"] + "/kept", 1)
