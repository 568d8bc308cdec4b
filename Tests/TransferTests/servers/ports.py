"""Ports for servers of tests."""

import random
import socket

# Below the range from which the kernel takes the ports of clients (ip_local_port_range), so that no connection of another
# test gets one before its server listens.
RANGE = range(10_000, 32_000)
locks = []


def free_port(address="127.0.0.1"):
    """A free port of this address, which no other process of the tests gets while this one runs."""
    while True:
        port = random.choice(RANGE)
        lock = socket.socket(socket.AF_UNIX)
        try:
            # A name without a file, which ends with the process.
            lock.bind(f"\0refreshd-test-port-{port}")
            with socket.socket() as probe:
                probe.bind((address, port))
        except OSError:
            lock.close()
            continue
        locks.append(lock)
        return port
