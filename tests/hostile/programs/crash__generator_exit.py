# Raises what no code expects.
# expect: model_error
# process: none
def attack(target):
    raise GeneratorExit
