# Gives a file of the user a second name.
# expect: model_error
# process: breach
import os


def attack(target):
    os.link(target["inside"] + "/kept", target["inside"] + "/link")
