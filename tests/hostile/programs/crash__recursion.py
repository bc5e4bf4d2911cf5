# Calls itself without end.
# expect: model_error
# process: none
def attack(target):
    return attack(target)
