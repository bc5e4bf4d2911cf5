# Reads where the parent's memory lies.
# expect: model_error
# process: breach
def attack(target):
    return target["claim"] if open(f"/proc/{target['pid']}/maps").read() else None
