# Takes other arguments than it is given.
# expect: model_error
# process: none
def attack():
    return None
