# Replaces what the functions of json are made of: the worker cannot answer any more.
# expect: crashed
# process: none
import json


def broken(*arguments, **options):
    raise SystemExit(0)


json.encoder.encode_basestring_ascii = json.encoder.c_make_encoder = broken


def attack(target):
    return "never heard"
