# Answers with a number of more digits than are ever written.
# expect: bad_value
# process: none
def attack(target):
    return 10**5000
