# Claims an encoding that turns it into something else. -*- coding: utf-7 -*-
# expect: ok
# process: none
def attack(target):
    return "read as it stands"
