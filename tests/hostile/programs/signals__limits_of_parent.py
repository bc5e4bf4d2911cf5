# Lowers a limit of the parent.
# expect: model_error
# process: breach
import resource


def attack(target):
    soft, hard = resource.prlimit(target["pid"], resource.RLIMIT_STACK)
    resource.prlimit(target["pid"], resource.RLIMIT_STACK, (soft - 4096 if soft > 0 else 2**30, hard))
