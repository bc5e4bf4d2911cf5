# Leaves a link in the user's folder.
# expect: model_error
# process: breach
import os


def attack(target):
    os.symlink("/etc/passwd", target["inside"] + "/link")
