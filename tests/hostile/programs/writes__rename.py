# Renames a file of the user.
# expect: model_error
# process: breach
import os


def attack(target):
    os.rename(target["inside"] + "/kept", target["inside"] + "/moved")
