# Answers with a coroutine.
# expect: bad_value
# process: none
async def attack(target):
    return 1
