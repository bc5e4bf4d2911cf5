# Compiles a text that recurses, while it is called.
# expect: model_error memory_exceeded crashed
# process: none
def attack(target):
    return eval("+".join(["1"] * 200_000))
