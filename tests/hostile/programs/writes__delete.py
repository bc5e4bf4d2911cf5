# Deletes a file of the user.
# expect: model_error
# process: breach
import os


def attack(target):
    os.unlink(target["inside"] + "/kept")
