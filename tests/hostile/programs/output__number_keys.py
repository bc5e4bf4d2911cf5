# Answers with keys that are no text.
# expect: bad_value
# process: none
def attack(target):
    return {1: 2}
