# Reads the command line of the parent.
# expect: model_error
# process: breach
def attack(target):
    return target["claim"] if open(f"/proc/{target['pid']}/cmdline").read() else None
