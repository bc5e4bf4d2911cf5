# Reads a file with the class underneath open.
# expect: model_error
# process: breach
import io


def attack(target):
    return io.FileIO(target["secret_file"]).readall().decode()
