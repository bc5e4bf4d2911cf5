# Answers with more items than fit.
# expect: reply_too_large memory_exceeded
# process: none
# limit: 10
def attack(target):
    return [0] * 1_000_000
