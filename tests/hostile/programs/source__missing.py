# Does not define what is called.
# expect: model_error
# process: none
def other(target):
    return None
