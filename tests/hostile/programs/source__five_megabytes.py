# Is five megabytes long.
# expect: ok memory_exceeded
# process: none
# limit: 20
# then: \n# * 2500000
def attack(target):
    return "long"
