# Defines a function whose name looks like the one that is called.
# expect: model_error
# process: none
def аttack(target):
    return "called"
