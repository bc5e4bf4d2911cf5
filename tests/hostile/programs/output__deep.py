# Answers with a value that is nested too deep.
# expect: bad_value
# process: none
def attack(target):
    value = []
    for _ in range(1000):
        value = [value]
    return value
