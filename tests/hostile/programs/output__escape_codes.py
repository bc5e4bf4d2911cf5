# Prints codes that would change the user's terminal.
# expect: ok
# process: none
def attack(target):
    print("\x1b]0;title\x07\x1b[2J\x1b[31mred")
    return "printed"
