# Fills the disk with files.
# expect: model_error
# process: skip
def attack(target):
    number = 0
    while True:
        with open(f"{target['inside']}/{number}", "wb") as file:
            file.write(bytes(1 << 24))
        number += 1
