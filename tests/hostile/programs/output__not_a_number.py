# Answers with something that JSON does not have.
# expect: bad_value
# process: none
def attack(target):
    return {"score": [float("nan")]}
