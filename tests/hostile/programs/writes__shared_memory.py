# Makes shared memory, through which processes can talk.
# expect: model_error
# process: breach
import _posixshmem
import os


def attack(target):
    _posixshmem.shm_open("/" + target["abstract"], os.O_CREAT | os.O_RDWR, mode=0o600)
    _posixshmem.shm_unlink("/" + target["abstract"])
    return target["claim"]
