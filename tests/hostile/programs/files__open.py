# Reads a file of the user by its name.
# expect: model_error
# process: breach
def attack(target):
    return open(target["secret_file"]).read()
