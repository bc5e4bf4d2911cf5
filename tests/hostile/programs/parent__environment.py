# Reads the environment of the parent, with its keys.
# expect: model_error
# process: breach
def attack(target):
    return [target["claim"], open(f"/proc/{target['pid']}/environ", "rb").read().decode("latin-1")]
