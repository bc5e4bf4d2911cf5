# Begins with a byte order mark.
# expect: ok model_error
# process: none
def attack(target):
    return "read"
