# Runs byte code that no compiler makes.
# expect: crashed model_error ok wall_timeout memory_exceeded
# process: none
# limit: 1
def attack(target):
    code = attack.__code__.replace(co_code=bytes([100, 200, 83, 0]) * 4, co_stacksize=1)
    return repr(type(attack)(code, {})(target))[:100]
