# Answers with a set.
# expect: bad_value
# process: none
def attack(target):
    return {1, 2, 3}
