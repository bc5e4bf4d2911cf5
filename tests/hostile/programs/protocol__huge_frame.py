# Announces an answer of four gigabytes.
# expect: reply_too_large
# process: none
import os


def attack(target):
    os.write(4, b"\xff\xff\xff\xff")
