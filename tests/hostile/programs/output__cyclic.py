# Answers with a value that contains itself.
# expect: bad_value
# process: none
def attack(target):
    value = {}
    value["self"] = value
    return value
