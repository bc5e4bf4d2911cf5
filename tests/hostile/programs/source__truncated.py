# Ends in the middle of a line.
# expect: model_error
# process: none
def attack(target):
    return {"cut": [1, 2
