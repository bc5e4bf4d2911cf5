# Makes a folder.
# expect: model_error
# process: breach
import os


def attack(target):
    os.mkdir(target["inside"] + "/made")
