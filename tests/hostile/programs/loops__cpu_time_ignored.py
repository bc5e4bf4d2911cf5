# Uses more CPU time than it may and ignores the warning.
# expect: cpu_exceeded
# process: none
# limit: 12
# cpu: 1
# slow: yes
import signal


def attack(target):
    signal.signal(signal.SIGXCPU, signal.SIG_IGN)
    while True:
        pass
