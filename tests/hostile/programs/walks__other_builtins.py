# Takes the builtins of a module that is trusted, in case its own are poorer.
# expect: model_error
# process: breach
import json


def attack(target):
    return json.__builtins__["open"](target["secret_file"]).read()
