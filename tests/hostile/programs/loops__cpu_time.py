# Uses more CPU time than it may, within its wall-clock time.
# expect: cpu_exceeded
# process: none
# limit: 8
# cpu: 1
def attack(target):
    while True:
        pass
