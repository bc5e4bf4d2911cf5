# Starts a pool of processes.
# expect: model_error
# process: breach
from concurrent.futures import ThreadPoolExecutor


def attack(target):
    with ThreadPoolExecutor(2) as pool:
        return pool.submit(lambda: target["claim"]).result()
