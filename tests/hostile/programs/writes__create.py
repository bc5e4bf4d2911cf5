# Makes a file.
# expect: model_error
# process: breach
def attack(target):
    open(target["inside"] + "/made", "w").close()
