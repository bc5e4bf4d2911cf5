# Changes the folder it stands in and the root folder.
# expect: model_error
# process: breach
import os


def attack(target):
    os.chdir(target["outside"])
    return target["claim"]
