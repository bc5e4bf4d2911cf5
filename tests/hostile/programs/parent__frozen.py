# Writes to the file that freezes and moves the processes of a group.
# expect: model_error
# process: none
def attack(target):
    with open("/sys/fs/cgroup/cgroup.freeze", "r+") as file:
        return file.read()
