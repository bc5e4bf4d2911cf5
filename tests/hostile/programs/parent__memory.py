# Reads the parent's memory through /proc.
# expect: model_error
# process: maybe
def attack(target):
    address, length = target["heap"]
    with open(f"/proc/{target['pid']}/mem", "rb", buffering=0) as memory:
        memory.seek(address)
        return memory.read(length).decode("latin-1")
