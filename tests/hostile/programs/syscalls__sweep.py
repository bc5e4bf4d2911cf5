# Tries every system call that is not on the list, with arguments that do nothing.
# expect: ok
# process: skip
# limit: 5
import ctypes


def attack(target):
    libc = ctypes.CDLL(None, use_errno=True)
    let_through = []
    for number in target["refused"]:
        ctypes.set_errno(0)
        if libc.syscall(number, -1, -1, -1, -1, -1, -1) != -1 or ctypes.get_errno() != 1:
            let_through.append(number)
    return [target["claim"], *let_through] if let_through else []
