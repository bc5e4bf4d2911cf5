# Empties a file of the user.
# expect: model_error
# process: breach
def attack(target):
    open(target["inside"] + "/kept", "w").close()
