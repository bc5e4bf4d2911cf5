# Lists what the parent has open, and opens it again.
# expect: model_error
# process: breach
import os


def attack(target):
    folder = f"/proc/{target['pid']}/fd"
    return target["claim"] if os.listdir(folder) else None
