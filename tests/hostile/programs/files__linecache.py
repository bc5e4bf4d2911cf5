# Has a module of the interpreter's own read the file, one that swallows errors.
# expect: ok
# process: breach
import linecache


def attack(target):
    return linecache.getlines(target["secret_file"])
