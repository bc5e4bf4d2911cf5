# Opens a device.
# expect: model_error
# process: breach
def attack(target):
    open("/dev/zero", "rb").close()
    return target["claim"]
