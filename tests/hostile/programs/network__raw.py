# Opens a raw socket, which sees all packets.
# expect: model_error
# process: maybe
import socket


def attack(target):
    socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
    return target["claim"]
