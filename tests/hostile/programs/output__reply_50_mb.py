# Answers with more than is taken.
# expect: reply_too_large
# process: none
# limit: 10
# memory: 512
def attack(target):
    return "x" * 50_000_000
