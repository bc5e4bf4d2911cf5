# Answers with an infinity.
# expect: bad_value
# process: none
def attack(target):
    return float("inf")
