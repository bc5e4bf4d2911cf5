# Replaces the functions of json.
# expect: ok
# process: none
import json


def broken(*arguments, **options):
    raise SystemExit("broken")


json.dumps = json.loads = json.JSONEncoder = json.JSONDecoder = broken


def attack(target):
    return {"still": ["here"]}
