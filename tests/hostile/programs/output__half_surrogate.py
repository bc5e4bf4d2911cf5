# Answers with text that is no text.
# expect: bad_value
# process: none
def attack(target):
    return "\udc80"
