# Lists a folder of the user.
# expect: model_error
# process: breach
import os


def attack(target):
    return target["claim"] if os.listdir(target["outside"]) else None
