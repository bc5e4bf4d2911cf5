# Adds to a file of the user.
# expect: model_error
# process: none
def attack(target):
    with open(target["inside"] + "/kept", "a") as file:
        file.write("more")
