# Reads a file of the system that everybody may read.
# expect: model_error
# process: breach
def attack(target):
    return target["claim"] if open("/etc/passwd").read() else None
