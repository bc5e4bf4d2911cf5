# Raises what Ctrl-C would raise.
# expect: model_error
# process: none
def attack(target):
    raise KeyboardInterrupt
