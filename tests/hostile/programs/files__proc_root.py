# Goes to the file through the root folder that /proc shows.
# expect: model_error
# process: breach
def attack(target):
    return open("/proc/self/root" + target["secret_file"]).read()
