# Doubles a text until there is no room.
# expect: memory_exceeded
# process: none
def attack(target):
    text = "x"
    while True:
        text += text
