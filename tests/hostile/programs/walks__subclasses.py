# Finds a class that knows the module os among all classes, and reads a file with it.
# expect: model_error
# process: breach
def attack(target):
    for found in ().__class__.__base__.__subclasses__():
        if found.__name__ == "_wrap_close":
            space = found.__init__.__globals__
            return space["read"](space["open"](target["secret_file"], 0), 1000).decode()
    raise LookupError("no such class")
