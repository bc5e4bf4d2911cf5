# Answers with the bytes of a pickle that makes a folder.
# expect: bad_value
# process: none
def attack(target):
    return b"cos\nmkdir\n(V" + target["inside"].encode() + b"/made\ntR."
